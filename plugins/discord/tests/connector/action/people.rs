//! Who is meant: ids, contacts, and usernames that are looked up when the call is made.

use jackfield_discord::action;
use jackfield_sdk::action::{ActionFault, Outcome};
use jackfield_sdk::contacts::{Contact, Reference, Resolution};
use jackfield_sdk::{Fault, HttpResponse, PlatformId};
use serde_json::{Value, json};

use super::desk::{Asked, CHANNEL, Desk, answer, call, ids, output, retry, too_many};

const GUILD: &str = "839760432494458817";
const JUNO: &str = "80351110224678912";
const SEARCH: &str = "GET /guilds/839760432494458817/members/search";

fn mention(desk: &mut Desk, members: Value) -> Result<Outcome, ActionFault> {
    desk.run("mention-members", &json!({ "channel_id": CHANNEL, "members": members, "text": "hello @everyone" }))
}

fn by_name(username: &str) -> Value {
    json!([{ "username": username, "guild_id": GUILD }])
}

fn member(id: &str, username: &str, nick: Option<&str>) -> Value {
    json!({ "nick": nick, "roles": [], "user": { "id": id, "username": username, "global_name": "Juno" } })
}

fn contact(ids: &[(&str, &str)]) -> Result<Resolution, Fault> {
    let ids = ids.iter().map(|(namespace, id)| PlatformId { namespace: (*namespace).into(), id: (*id).into() });
    Ok(Resolution::Found(Contact {
        id: "c1".into(),
        email: None,
        external_id: None,
        ids: ids.collect(),
        properties: "{}".into(),
    }))
}

#[track_caller]
fn assert_rejected(ended: &Result<Outcome, ActionFault>, naming: &[&str]) {
    let Err(ActionFault::Rejected(why)) = ended else { panic!("not rejected: {ended:?}") };
    assert!(naming.iter().all(|name| why.contains(name)), "{why}");
}

#[test]
fn exactly_these_are_mentioned_and_each_once() {
    let mut desk = Desk::new();
    let outcome = mention(&mut desk, json!([JUNO, "80351110224678913"])).unwrap();
    assert_eq!(desk.only().body["content"], format!("<@{JUNO}> <@80351110224678913> hello @everyone"));
    let want = json!({ "parse": [], "users": [JUNO, "80351110224678913"], "replied_user": false });
    assert_eq!(desk.only().body["allowed_mentions"], want);
    assert_eq!(output(&outcome)["user_ids"], json!([JUNO, "80351110224678913"]));
    assert_eq!(outcome.provider_ids, ids(1));

    // The same person by id and by address.
    let mut desk = Desk::new();
    desk.contacts.insert("juno@example.com".to_owned(), contact(&[("discord", JUNO), ("slack", "U1")]));
    let outcome = mention(&mut desk, json!([{ "email": "juno@example.com" }, JUNO])).unwrap();
    assert_eq!(output(&outcome)["user_ids"], json!([JUNO]));
}

#[test]
fn a_contact_is_found_as_it_was_named() {
    for (person, reference) in [
        (json!({ "contact": "crm-7" }), Reference::Text("crm-7".into())),
        (json!({ "email": "crm-7" }), Reference::Email("crm-7".into())),
        (json!({ "external_id": "crm-7" }), Reference::ExternalId("crm-7".into())),
    ] {
        let mut desk = Desk::new();
        desk.contacts.insert("crm-7".to_owned(), contact(&[("discord", JUNO)]));
        mention(&mut desk, json!([person])).unwrap();
        assert_eq!(desk.asked[0], Asked::Resolve(reference));
    }
}

#[test]
fn a_contact_that_is_not_one_user_is_rejected_by_name() {
    let ambiguous = Ok(Resolution::Ambiguous(vec!["c1".into(), "c2".into()]));
    for (resolution, naming) in [
        (Ok(Resolution::None), ["crm-7"].as_slice()),
        (ambiguous, &["crm-7", "c1", "c2"]),
        (contact(&[("slack", "U1")]), &["crm-7"]),
        (contact(&[("discord", "juno_example")]), &["crm-7"]),
        (contact(&[("discord", JUNO), ("discord", "80351110224678913")]), &["crm-7", JUNO]),
    ] {
        let mut desk = Desk::new();
        desk.contacts.insert("crm-7".to_owned(), resolution);
        let ended = mention(&mut desk, json!([JUNO, { "contact": "crm-7" }]));
        assert_rejected(&ended, naming);
        assert_eq!(desk.lines(), Vec::<&str>::new(), "nobody is told anything while one of them is not known");
    }
}

#[test]
fn contacts_that_can_not_be_asked_are_no() {
    let cases = [
        (Fault::Denied("contacts".into()), ActionFault::Rejected("contacts".into())),
        (Fault::Unavailable(Some(50)), retry(Some(50), None)),
        (Fault::Unknown("?".into()), retry(None, None)),
        (Fault::Cancelled, retry(None, None)),
    ];
    for (fault, want) in cases {
        let mut desk = Desk::new();
        desk.contacts.insert("crm-7".to_owned(), Err(fault));
        assert_eq!(mention(&mut desk, json!([{ "contact": "crm-7" }])), Err(want));
    }
}

/// A handle that changed hands: whoever carries it when the call is made is meant, and what is written goes to that id.
#[test]
fn report_c11_a_handle_is_looked_up_at_send_time_and_bound_by_id() {
    for (holder, others) in [(JUNO, "80351110224678913"), ("80351110224678913", JUNO)] {
        let found = json!([
            member(others, "juno_example2", Some("juno_example")),
            member(holder, "juno_example", None),
            member("80351110224678914", "Juno_Example", None),
        ]);
        let mut desk = Desk::answering([answer(200, &found)]);
        let outcome = mention(&mut desk, by_name("juno_example")).unwrap();
        assert_eq!(desk.lines()[0], format!("{SEARCH}?limit=1000&query=juno_example"));
        let body = &desk.sent()[1].body;
        assert_eq!(body["content"], format!("<@{holder}> hello @everyone"));
        assert_eq!(body["allowed_mentions"]["users"], json!([holder]));
        assert_eq!(output(&outcome)["user_ids"], json!([holder]));
    }
}

#[test]
fn report_c11_a_handle_that_nobody_carries_reaches_nobody() {
    for found in [
        json!([]),
        json!([member(JUNO, "juno_example2", Some("juno_example"))]),
        json!([member(JUNO, "JUNO_EXAMPLE", None)]),
    ] {
        let mut desk = Desk::answering([answer(200, &found)]);
        assert_rejected(&mention(&mut desk, by_name("juno_example")), &["juno_example", GUILD]);
        assert_eq!(desk.lines().len(), 1);
    }
    // A contact is never found by a handle: the host knows none, and is asked for nothing else.
    let mut desk = Desk::new();
    assert_rejected(&mention(&mut desk, json!([{ "contact": "juno_example" }])), &["juno_example"]);
    assert_eq!(desk.asked, [Asked::Resolve(Reference::Text("juno_example".into()))]);
}

#[test]
fn report_c11_a_handle_of_several_is_rejected_with_their_ids() {
    let found = json!([member(JUNO, "helper", None), member("80351110224678913", "helper", None)]);
    let mut desk = Desk::answering([answer(200, &found)]);
    assert_rejected(&mention(&mut desk, by_name("helper")), &["helper", JUNO, "80351110224678913"]);

    // As many as Discord gives at once: there may be more, so that one is not known to be the only one.
    let many: Vec<Value> =
        (0..1_000).map(|n| member(&(80_351_110_224_678_912_u64 + n).to_string(), &format!("a{n}"), None)).collect();
    let mut desk = Desk::answering([answer(200, &json!(many))]);
    assert_rejected(&mention(&mut desk, by_name("a7")), &["a7", GUILD]);
    assert_eq!(desk.lines().len(), 1);
}

/// Looking somebody up changes nothing, so whatever becomes of it, nothing was done.
#[test]
fn a_look_up_that_fails_is_no() {
    let cases = [
        (too_many(2.0, false), retry(Some(2_000), Some(SEARCH))),
        (Ok(HttpResponse::text(503, "")), retry(None, None)),
        (Err(Fault::Unknown("lost".into())), retry(None, None)),
        (Ok(HttpResponse::text(200, "<html>")), retry(None, None)),
        (answer(200, &json!([{ "user": { "id": 80_351_110_224_678_912_u64, "username": "a" } }])), retry(None, None)),
        (
            answer(404, &json!({ "code": 10_004, "message": "Unknown Guild" })),
            ActionFault::Rejected("Discord refused (10004): Unknown Guild".into()),
        ),
    ];
    for (of, want) in cases {
        let mut desk = Desk::answering([of.clone()]);
        assert_eq!(mention(&mut desk, by_name("a")), Err(want), "{of:?}");
        assert_eq!(desk.lines().len(), 1);
    }
}

/// Names of others in the same answer can be anything.
#[test]
fn what_others_call_themselves_does_no_harm() {
    let found = format!(
        r#"[{{"nick":"\ud83d","user":{{"id":"80351110224678913","username":"a\u0000\udc00"}}}},{}]"#,
        member(JUNO, "a", None)
    );
    let mut desk = Desk::answering([Ok(HttpResponse::text(200, found))]);
    let outcome = mention(&mut desk, by_name("a")).unwrap();
    assert_eq!(output(&outcome)["user_ids"], json!([JUNO]));
}

#[test]
fn one_person_is_written_to_by_any_name() {
    let found = json!([member(JUNO, "juno_example", None)]);
    let opened = json!({ "id": "319674150115610528" });
    let mut desk = Desk::answering([answer(200, &found), answer(200, &opened)]);
    let to = json!({ "username": "juno_example", "guild_id": GUILD });
    let outcome = desk.run("send-direct", &json!({ "to": to, "text": "hello" })).unwrap();
    assert_eq!(output(&outcome)["user_id"], JUNO);
    assert_eq!(desk.sent()[1].body, json!({ "recipient_id": JUNO }));
}

/// A host that did not check the arguments: still exactly one way to name somebody, and nobody is asked.
#[test]
fn a_person_is_named_in_exactly_one_way() {
    for to in [
        r#""juno_example""#,
        "80351110224678912",
        "null",
        "[]",
        "{}",
        r#"{"username":"a"}"#,
        r#"{"guild_id":"839760432494458817"}"#,
        r#"{"email":"a@example.com","contact":"c1"}"#,
        r#"{"username":"a","guild_id":"839760432494458817","contact":"c1"}"#,
        r#"{"contact":"c1","guild_id":"839760432494458817"}"#,
        r#"{"nick":"a"}"#,
    ] {
        let mut desk = Desk::new();
        let args = format!(r#"{{"to":{to},"text":"a"}}"#);
        let ended = action::run(&call("send-direct", &args, u64::from(u32::MAX)), &mut desk);
        assert_rejected(&ended, &["arguments: "]);
        assert_eq!(desk.asked, []);
    }
}
