//! Locks of a connector: one holder, freed however the call ends, and nothing sent under one that is over.

use jackfield_model::action::EndingKind;
use jackfield_tests::desk::{Desk, request, said};
use jackfield_tests::guest::ACTION_STEPS;
use jackfield_tests::web::Web;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn freed_at_the_end_and_after_a_trap() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "limits = { call = \"500ms\" }").await;
    let acquire = json!({ "acquire": ["cart", 900_000] });
    let mut fences = Vec::new();
    let mut acquired = async |then: serde_json::Value| {
        desk.run("steps", &json!({ "steps": [acquire, then] })).await.unwrap();
        // Whatever the first one did: it is free for the second.
        let report = desk.run("steps", &json!({ "steps": [acquire, acquire] })).await.unwrap();
        let said = said(&report);
        assert_eq!(said[1], "held", "its own holder does not get it twice");
        fences.push(said[0].strip_prefix("fence ").expect("it was free").parse::<u64>().unwrap());
    };
    for then in [json!({ "log": "x" }), json!({ "drop": true }), json!({ "trap": true }), json!({ "spin": true })] {
        acquired(then).await;
    }
    assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
    let odd = json!([{ "acquire": ["k", 999] }, { "acquire": ["k", 900_001] }, { "acquire": ["", 1000] }]);
    let report = desk.run("steps", &json!({ "steps": odd })).await.unwrap();
    for said in said(&report) {
        assert!(said.starts_with("invalid"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn report_l7_who_lost_its_lock_sends_nothing_and_is_no_second_success() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    // Blocked for three times what it asked for; then it would send.
    let blocked = json!({ "steps": [
        { "only": ["job", 1000] }, { "set": ["done-by", "blocked"] }, { "sleep": 3000 }, { "send": "https://echo.test/ok" }
    ] });
    let other = json!({ "steps": [
        { "only": ["job", 60_000] }, { "set": ["done-by", "other"] }, { "send": "https://echo.test/ok" }
    ] });
    let probe = json!({ "steps": [{ "only": ["job", 60_000] }] });
    let first = 'held: loop {
        let (host, request) = (desk.host.clone(), request("steps", &blocked));
        let first = tokio::spawn(async move { host.run(request).await.unwrap() });
        // A probe that gets the lock has it for a moment only; when that was the wrong one, once more.
        while !first.is_finished() {
            if desk.run("steps", &probe).await.unwrap().ending.kind() == EndingKind::Rejected {
                break 'held first;
            }
        }
    };
    let second = loop {
        let report = desk.run("steps", &other).await.unwrap();
        // Until it lapses, somebody has it.
        if report.ending.kind() == EndingKind::Done {
            break report;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    let first = first.await.unwrap();
    assert_eq!(first.ending.kind(), EndingKind::Retry, "nothing had left: {first:?}");
    assert!(first.notes.iter().any(|note| note.starts_with("lost lease: `job`")), "{first:?}");
    assert_eq!(web.asked().len(), 1, "one call of the platform");
    assert_eq!(second.ending.kind(), EndingKind::Done);
    let by = desk.run("steps", &json!({ "steps": [{ "get": "done-by" }] })).await.unwrap();
    assert_eq!(said(&by), ["other"], "what the loser asked for was not done");
}
