//! What the actions say of themselves.

use std::collections::BTreeSet;

use jackfield_discord::action;
use jackfield_sdk::action::{ActionFault, IdempotencyKind, RetrySafety};
use serde_json::{Value, json};

use super::desk::{CHANNEL, Desk, call, fits, spec};

const EXACT: u64 = 1_432_011_223_344_556_677;

#[test]
fn every_action_says_what_it_is() {
    let specs = action::describe();
    let names: BTreeSet<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let want = ["broadcast", "edit-message", "mention-members", "mention-role", "send-direct", "send-message"];
    assert_eq!(names, BTreeSet::from(want));
    assert_eq!(specs.len(), want.len());
    for spec in &specs {
        for schema in [&spec.input_schema, &spec.output_schema] {
            let parsed: Value = serde_json::from_str(schema).unwrap_or_else(|error| panic!("{error}: {schema}"));
            assert!(jsonschema::meta::is_valid(&parsed), "{schema}");
            assert_eq!(parsed["additionalProperties"], false, "{schema}");
        }
        assert!(serde_json::from_str::<Value>(&spec.annotations).unwrap().is_object());
        assert!(spec.summary.ends_with('.') && spec.timeout >= 30_000);
        assert!(spec.required_scopes.contains(&"bot".to_owned()));
        let repeats = (spec.semantics.idempotency, spec.semantics.retry);
        let keyed = (IdempotencyKind::ProviderIdempotencyKey, RetrySafety::RetryWithIdempotencyKey);
        let free = (IdempotencyKind::NaturallyIdempotent, RetrySafety::SafeRetry);
        assert_eq!(repeats, if spec.name == "edit-message" { free } else { keyed }, "{}", spec.name);
    }
}

/// Arguments of each action, with `id` where its ids stand.
fn with_ids(id: &Value) -> Vec<(&'static str, Value)> {
    let member = json!({ "username": "a", "guild_id": id });
    vec![
        ("send-message", json!({ "channel_id": id, "text": "a" })),
        ("send-message", json!({ "channel_id": CHANNEL, "text": "a", "reply_to": id })),
        ("send-message", json!({ "channel_id": CHANNEL, "text": "a", "allowed_mentions": { "users": [id] } })),
        ("send-message", json!({ "channel_id": CHANNEL, "text": "a", "allowed_mentions": { "roles": [id] } })),
        ("broadcast", json!({ "channel_ids": [id], "text": "a" })),
        ("mention-members", json!({ "channel_id": id, "members": [CHANNEL], "text": "a" })),
        ("mention-members", json!({ "channel_id": CHANNEL, "members": [id], "text": "a" })),
        ("mention-members", json!({ "channel_id": CHANNEL, "members": [member], "text": "a" })),
        ("mention-role", json!({ "channel_id": CHANNEL, "role_id": id, "text": "a" })),
        ("send-direct", json!({ "to": id, "text": "a" })),
        ("send-direct", json!({ "to": member, "text": "a" })),
        ("edit-message", json!({ "channel_id": CHANNEL, "message_id": id, "text": "a" })),
        ("edit-message", json!({ "channel_id": id, "message_id": CHANNEL, "text": "a" })),
    ]
}

#[test]
fn report_d7_an_id_as_a_number_is_refused_by_every_schema() {
    for (name, args) in with_ids(&json!(EXACT.to_string())) {
        assert_eq!(fits(&spec(name).input_schema, &args), Ok(()), "{name}");
    }
    let odd = [json!(EXACT), json!(1.432_011_223_344_556_7e18), json!("1432011223344556.677"), json!("")];
    for id in odd.into_iter().chain([json!("12345"), json!("1".repeat(21)), json!("#general"), json!(null)]) {
        for (name, args) in with_ids(&id) {
            assert!(fits(&spec(name).input_schema, &args).is_err(), "{name} takes {args}");
        }
    }
}

/// A host that did not check: still refused, with a reason, and no digits that were lost on the way.
#[test]
fn report_d7_an_id_as_a_number_sends_nothing() {
    for (name, args) in with_ids(&json!(EXACT)) {
        let mut desk = Desk::new();
        let ended = action::run(&call(name, &args.to_string(), u64::from(u32::MAX)), &mut desk);
        let Err(ActionFault::Rejected(why)) = ended else { panic!("{name}: {ended:?}") };
        assert!(why.starts_with("arguments: "), "{why}");
        for rounded in ["1432011223344556700", "1432011223344556672", "1432011223344556678", "e18"] {
            assert!(!why.contains(rounded), "{why}");
        }
        assert_eq!(desk.asked, []);
    }
}

#[test]
fn report_d7_the_exact_digits_arrive() {
    let mut desk = Desk::new();
    let args = json!({ "channel_id": EXACT.to_string(), "text": "a", "reply_to": (EXACT + 1).to_string() });
    desk.run("send-message", &args).unwrap();
    assert_eq!(desk.only().line, "POST /channels/1432011223344556677/messages");
    assert_eq!(desk.only().body["message_reference"]["message_id"], "1432011223344556678");
}

/// An action that performs a standard one takes every input of it and says what it promises.
#[test]
fn the_standard_actions_are_performed_as_they_are_written_down() {
    let send = spec("send-message");
    assert_eq!(send.implements, ["message.send"]);
    let args = json!({ "channel_id": CHANNEL, "text": "a", "reply_to": "1468248479167064563" });
    assert_eq!(fits(&send.input_schema, &args), Ok(()));
    let outcome = Desk::new().run("send-message", &args).unwrap();
    let output: Value = serde_json::from_str(&outcome.output).unwrap();
    assert_eq!(output["message_ids"], json!(outcome.provider_ids));

    let edit = spec("edit-message");
    assert_eq!(edit.implements, ["message.edit"]);
    let args = json!({ "channel_id": CHANNEL, "message_id": "1468248479167064563", "text": "a" });
    assert_eq!(fits(&edit.input_schema, &args), Ok(()));
}

#[test]
fn what_makes_no_sense_is_refused_by_the_schema() {
    let refused = [
        ("send-message", json!({ "channel_id": CHANNEL, "text": "" })),
        ("send-message", json!({ "channel_id": CHANNEL, "text": "a".repeat(20_001) })),
        ("send-message", json!({ "channel_id": CHANNEL, "text": "a", "mentions": {} })),
        ("broadcast", json!({ "channel_ids": [], "text": "a" })),
        ("broadcast", json!({ "channel_ids": [CHANNEL, CHANNEL], "text": "a" })),
        ("mention-members", json!({ "channel_id": CHANNEL, "members": [{ "username": "a" }], "text": "a" })),
        ("mention-members", json!({ "channel_id": CHANNEL, "members": ["juno_example"], "text": "a" })),
        ("send-direct", json!({ "to": { "email": "a@b", "contact": "a" }, "text": "a" })),
        ("edit-message", json!({ "channel_id": CHANNEL, "message_id": CHANNEL, "text": "a".repeat(2_001) })),
    ];
    for (name, args) in refused {
        assert!(fits(&spec(name).input_schema, &args).is_err(), "{name} takes it");
    }
}
