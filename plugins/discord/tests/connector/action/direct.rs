//! `send-direct`: to one person, who may not want it.

use jackfield_sdk::action::ActionFault;
use jackfield_sdk::{Fault, HttpResponse};
use serde_json::{Value, json};

use super::desk::{Desk, answer, ids, output, partial, refusal, retry, too_many};

const USER: &str = "80351110224678912";
const DIRECT: &str = "319674150115610528";
const OPEN: &str = "POST /users/@me/channels";

type Answer = Result<HttpResponse, Fault>;

fn args() -> Value {
    json!({ "to": USER, "text": "hello" })
}

fn opened() -> Answer {
    answer(200, &json!({ "id": DIRECT, "type": 1, "recipients": [] }))
}

#[test]
fn the_conversation_is_opened_and_written_to() {
    let mut desk = Desk::answering([opened()]);
    let outcome = desk.run("send-direct", &args()).unwrap();
    let want = json!({ "delivered": true, "user_id": USER, "channel_id": DIRECT, "message_ids": ids(1) });
    assert_eq!(output(&outcome), want);
    assert_eq!(outcome.provider_ids, ids(1));
    assert_eq!(desk.lines(), [OPEN, &format!("POST /channels/{DIRECT}/messages")]);
    assert_eq!(desk.sent()[0].body, json!({ "recipient_id": USER }));
    assert_eq!(desk.sent()[1].body["allowed_mentions"], json!({ "parse": [], "replied_user": false }));
}

#[test]
fn somebody_who_takes_no_messages_is_an_outcome() {
    for (code, reason) in [(50_007, "closed"), (50_278, "no-mutual-guild")] {
        let refused = || refusal(403, code, "Cannot send messages to this user");
        for mut desk in [Desk::answering([opened(), refused()]), Desk::answering([refused()])] {
            let outcome = desk.run("send-direct", &args()).unwrap();
            let want = json!({ "delivered": false, "user_id": USER, "message_ids": [], "reason": reason });
            assert_eq!(output(&outcome), want);
            assert_eq!(outcome.provider_ids, Vec::<String>::new());
        }
    }
}

#[test]
fn somebody_who_shuts_the_door_meanwhile_has_read_a_part() {
    let mut desk = Desk::answering([opened()]);
    let first = desk.message();
    desk.answers.extend([Ok(first), refusal(403, 50_007, "Cannot send messages to this user")]);
    let outcome = partial(desk.run("send-direct", &json!({ "to": USER, "text": "word ".repeat(500) })));
    assert_eq!(outcome.provider_ids, ids(1));
    assert_eq!(output(&outcome)["delivered"], true);
    assert_eq!(output(&outcome)["stopped"]["part"], 2);
}

/// Opening changes nothing that anybody can see, so whatever becomes of it, nothing was done.
#[test]
fn a_conversation_that_does_not_open_is_no() {
    let unknown = ActionFault::Rejected("Discord refused (10013): Unknown User".to_owned());
    let token = ActionFault::Unauthorized("Discord does not accept the bot token (401)".to_owned());
    let cases = [
        (refusal(404, 10_013, "Unknown User"), unknown),
        (refusal(401, 0, "401: Unauthorized"), token),
        (too_many(2.0, false), retry(Some(2_000), Some(OPEN))),
        (Ok(HttpResponse::text(502, "")), retry(None, None)),
        (Err(Fault::Unknown("lost".into())), retry(None, None)),
        (Err(Fault::Cancelled), retry(None, None)),
        (answer(200, &json!({})), retry(None, None)),
    ];
    for (of, want) in cases {
        let mut desk = Desk::answering([of.clone()]);
        assert_eq!(desk.run("send-direct", &args()), Err(want), "{of:?}");
        assert_eq!(desk.lines(), [OPEN]);
    }
}

/// Opening does not count as done: without a place for the message the call waits, and is run again from the start.
#[test]
fn a_message_without_a_place_lets_the_call_wait() {
    let bucket = format!("POST /channels/{DIRECT}/messages");
    let mut desk = Desk::answering([opened()]);
    desk.places.extend([Ok(()), Err(Fault::Unavailable(Some(300)))]);
    assert_eq!(desk.run("send-direct", &args()), Err(retry(Some(300), Some(&bucket))));
    let mut desk = Desk::answering([opened(), too_many(0.25, false)]);
    assert_eq!(desk.run("send-direct", &args()), Err(retry(Some(250), Some(&bucket))));
}
