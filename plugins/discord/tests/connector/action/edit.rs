//! `edit-message`: one message, one request.

use jackfield_sdk::Fault;
use jackfield_sdk::action::{ActionFault, IdempotencyKind, RetrySafety};
use serde_json::{Value, json};

use super::desk::{Asked, CHANNEL, Desk, answer, output, refusal, retry, spec, too_many};

const MESSAGE: &str = "1468248479167064563";
const BUCKET: &str = "PATCH /channels/1432011223344556677/messages";

fn args(text: &str) -> Value {
    json!({ "channel_id": CHANNEL, "message_id": MESSAGE, "text": text })
}

#[test]
fn an_edit_is_one_request_and_notifies_nobody() {
    let mut desk = Desk::answering([answer(200, &json!({ "id": MESSAGE }))]);
    let outcome = desk.run("edit-message", &args("@everyone")).unwrap();
    assert_eq!(output(&outcome), json!({ "channel_id": CHANNEL, "message_id": MESSAGE }));
    assert_eq!(outcome.provider_ids, [MESSAGE]);
    assert_eq!(desk.only().line, format!("{BUCKET}/{MESSAGE}"));
    let mentions = json!({ "parse": [], "replied_user": false });
    assert_eq!(desk.only().body, json!({ "content": "@everyone", "allowed_mentions": mentions }));
    assert_eq!(desk.asked[0], Asked::Reserve(BUCKET.to_owned()));
}

/// Repeating it is harmless, and the action says so: that is what a caller goes by after a lost answer.
#[test]
fn an_edit_may_be_repeated() {
    let semantics = spec("edit-message").semantics;
    assert_eq!(semantics.idempotency, IdempotencyKind::NaturallyIdempotent);
    assert_eq!(semantics.retry, RetrySafety::SafeRetry);
}

#[test]
fn what_one_message_can_not_hold_is_refused_before_it_is_sent() {
    let mut desk = Desk::new();
    let ended = desk.run("edit-message", &args(&"🦀".repeat(1_001)));
    let why = "text: 2002 UTF-16 code units, and one message holds 2000";
    assert_eq!(ended, Err(ActionFault::Rejected(why.to_owned())));
    assert_eq!(desk.asked, []);
    assert!(desk.run("edit-message", &args(&"🦀".repeat(1_000))).is_ok());
}

#[test]
fn a_message_that_is_not_there_is_rejected() {
    let gone = ActionFault::Rejected("Discord refused (10008): Unknown Message".to_owned());
    let cases = [
        (refusal(404, 10_008, "Unknown Message"), gone),
        (too_many(1.0, false), retry(Some(1_000), Some(BUCKET))),
        (Err(Fault::Unknown("lost".into())), ActionFault::Unknown("lost".to_owned())),
    ];
    for (of, want) in cases {
        let mut desk = Desk::answering([of]);
        assert_eq!(desk.run("edit-message", &args("a")), Err(want));
    }
}
