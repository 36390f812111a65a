//! What an action asks of the host itself: its map, dispatches, people, signatures; and that a fault takes it back.

use jackfield_model::action::EndingKind;
use jackfield_store::contact::Draft;
use jackfield_store::event::Filter;
use jackfield_tests::desk::{Desk, said};
use jackfield_tests::guest::ACTION_STEPS;
use jackfield_tests::web::Web;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn the_map_is_written_with_the_outcome_and_not_with_a_fault() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let set = json!([{ "set": ["colour", "blue"] }, { "get": "colour" }]);
    for end in [json!({ "rejected": "no" }), json!({ "partial": true })] {
        desk.run("steps", &json!({ "steps": set, "end": end })).await.unwrap();
        let report = desk.run("steps", &json!({ "steps": [{ "get": "colour" }] })).await.unwrap();
        assert_eq!(said(&report), ["none"], "{end}");
    }
    let trapped = json!({ "steps": [{ "set": ["colour", "red"] }, { "trap": true }] });
    assert_eq!(desk.run("steps", &trapped).await.unwrap().ending.kind(), EndingKind::Retry);
    let report = desk.run("steps", &json!({ "steps": set })).await.unwrap();
    assert_eq!(said(&report), ["ok", "blue"], "a call sees its own writes");
    let report = desk.run("steps", &json!({ "steps": [{ "get": "colour" }, { "delete": "colour" }] })).await.unwrap();
    assert_eq!(said(&report), ["blue", "ok"]);
    let report = desk.run("steps", &json!({ "steps": [{ "get": "colour" }] })).await.unwrap();
    assert_eq!(said(&report), ["none"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatch_becomes_an_event() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let submit = json!([{ "submit": ["line", "say lane-1 7 hello", "lane-1"] }]);
    desk.run("steps", &json!({ "steps": submit, "end": { "rejected": "no" } })).await.unwrap();
    desk.run("steps", &json!({ "steps": submit })).await.unwrap();
    let mut head = desk.host.stores().events.head();
    head.wait_for(|position| *position > 0).await.unwrap();
    let events = desk.host.stores().events.page(&Filter::default(), 0, 10).await.unwrap();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((events[0].event.key.as_str(), events[0].via), ("7", jackfield_model::Transport::Action));
    assert!(!events[0].late);
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_those_of_the_connections_space() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    for (space, id) in [("people", "crm-1"), ("others", "crm-2")] {
        let draft =
            Draft { external_id: Some(id.to_owned()), email: Some(format!("{id}@example.org")), ..Draft::default() };
        desk.host.stores().contacts.create(&space.parse().unwrap(), draft).await.unwrap();
    }
    let steps = json!([{ "resolve": "CRM-1@example.org" }, { "resolve": "crm-1" }, { "resolve": "crm-2" }]);
    let report = desk.run("steps", &json!({ "steps": steps })).await.unwrap();
    assert_eq!(said(&report), ["crm-1", "crm-1", "nobody"]);
}
