//! `send-message`: what is sent, in which order, and who is notified.

use jackfield_sdk::action::ActionFault;
use serde_json::{Value, json};

use super::desk::{Asked, BUCKET, CHANNEL, Desk, call, ids, output, partial, retry};

/// Three parts.
fn long() -> String {
    "word ".repeat(1_100)
}

#[test]
fn one_message_is_one_request_in_its_bucket() {
    let mut desk = Desk::new();
    let mut made = desk.message();
    made.headers.push(("x-ratelimit-remaining".to_owned(), "4".to_owned()));
    made.headers.push(("x-ratelimit-reset-after".to_owned(), "0.9991".to_owned()));
    desk.answers.push_back(Ok(made));
    let outcome = desk.run("send-message", &json!({ "channel_id": CHANNEL, "text": "hello" })).unwrap();
    assert_eq!(output(&outcome), json!({ "channel_id": CHANNEL, "message_ids": ids(1) }));
    assert_eq!(outcome.provider_ids, ids(1));
    assert_eq!(outcome.effects, []);

    let sent = desk.only();
    assert_eq!(sent.line, BUCKET);
    assert_eq!(sent.body["content"], "hello");
    assert_eq!(sent.body["enforce_nonce"], true);
    assert_eq!(sent.body["allowed_mentions"], json!({ "parse": [], "replied_user": false }));
    let keys: Vec<&String> = sent.body.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["allowed_mentions", "content", "enforce_nonce", "nonce"]);
    assert!(matches!(&desk.asked[0], Asked::Reserve(bucket) if bucket == BUCKET));
    assert_eq!(desk.asked[2], Asked::Left(BUCKET.to_owned(), 4, 1_000));
    assert_eq!(desk.asked.len(), 3);
}

#[test]
fn report_d15_long_text_is_several_messages_and_all_ids_come_back() {
    let mut desk = Desk::new();
    let args = json!({ "channel_id": CHANNEL, "text": long(), "reply_to": "1468248479167064563", "silent": true });
    let outcome = desk.run("send-message", &args).unwrap();
    assert_eq!(outcome.provider_ids, ids(3));
    assert_eq!(output(&outcome)["message_ids"], json!(ids(3)));

    let sent = desk.sent();
    let whole: String = sent.iter().map(|sent| sent.body["content"].as_str().unwrap()).collect();
    assert_eq!(whole, long());
    let replies: Vec<&Value> = sent.iter().map(|sent| &sent.body["message_reference"]).collect();
    assert_eq!(replies, [&json!({ "message_id": "1468248479167064563" }), &Value::Null, &Value::Null]);
    assert!(sent.iter().all(|sent| sent.body["flags"] == 4096));
    let places = desk.asked.iter().filter(|asked| matches!(asked, Asked::Reserve(bucket) if bucket == BUCKET));
    assert_eq!(places.count(), 3, "one place for each request");
}

#[test]
fn another_text_under_the_same_key_is_another_message() {
    let mut desk = Desk::new();
    for text in ["shipped", "delivered"] {
        let args = json!({ "channel_id": CHANNEL, "text": text });
        desk.run_with("send-message", &args, |call| call.idempotency_key = Some("order-7".to_owned())).unwrap();
    }
    let sent = desk.sent();
    assert_ne!(sent[0].body["nonce"], sent[1].body["nonce"]);
}

/// Every part's nonce.
fn nonces(key: Option<&str>, execution: &str) -> Vec<String> {
    let mut desk = Desk::new();
    let args = json!({ "channel_id": CHANNEL, "text": long() });
    let done = desk.run_with("send-message", &args, |call| {
        call.idempotency_key = key.map(str::to_owned);
        call.execution_id = execution.to_owned();
    });
    done.unwrap();
    desk.sent().iter().map(|sent| sent.body["nonce"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_repetition_under_the_same_key_has_the_same_nonces() {
    let first = nonces(Some("order-7/shipped"), "1");
    assert_eq!(first, nonces(Some("order-7/shipped"), "2"));
    assert_eq!(nonces(None, "1"), nonces(None, "1"));
    let others = [nonces(Some("order-8/shipped"), "1"), nonces(None, "1"), nonces(None, "2")];
    let mut all: Vec<&String> = others.iter().flatten().chain(&first).collect();
    assert!(all.iter().all(|nonce| nonce.len() <= 25), "{all:?}");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4 * 3, "every part of every call has its own");
}

#[test]
fn nobody_is_notified_who_was_not_named() {
    let text = "@everyone @here <@80351110224678912> <@&165511591545143296>";
    let mentions = |extra: Value| {
        let mut args = json!({ "channel_id": CHANNEL, "text": text });
        args.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let mut desk = Desk::new();
        desk.run("send-message", &args).unwrap();
        assert_eq!(desk.only().body["content"], text);
        desk.only().body["allowed_mentions"].clone()
    };
    assert_eq!(mentions(json!({})), json!({ "parse": [], "replied_user": false }));
    assert_eq!(mentions(json!({ "allowed_mentions": {} })), json!({ "parse": [], "replied_user": false }));
    let everyone = json!({ "allowed_mentions": { "everyone": true } });
    assert_eq!(mentions(everyone), json!({ "parse": ["everyone"], "replied_user": false }));
    let some = json!({ "users": ["80351110224678912"], "roles": ["165511591545143296"], "replied_user": true });
    let want =
        json!({ "parse": [], "users": ["80351110224678912"], "roles": ["165511591545143296"], "replied_user": true });
    assert_eq!(mentions(json!({ "allowed_mentions": some })), want);
}

/// The desk asserts that the token is listed for the header alone; the text is only text.
#[test]
fn case_61_a_placeholder_in_an_argument_stays_text() {
    let mut desk = Desk::new();
    let text = "{{secret:bot-token}} and {{config:/intents}}";
    desk.run("send-message", &json!({ "channel_id": CHANNEL, "text": text })).unwrap();
    assert_eq!(desk.only().body["content"], text);
}

#[test]
fn nothing_to_see_is_refused_before_anything_is_sent() {
    for text in [" ", "\n\n\t", &" ".repeat(5_000)] {
        let mut desk = Desk::new();
        let ended = desk.run("send-message", &json!({ "channel_id": CHANNEL, "text": text }));
        assert!(matches!(ended, Err(ActionFault::Rejected(_))), "{ended:?}");
        assert_eq!(desk.asked, []);
    }
    // A blank stretch between two others is left out: Discord would refuse it.
    let mut desk = Desk::new();
    let text = format!("a{}b", "\n".repeat(4_500));
    desk.run("send-message", &json!({ "channel_id": CHANNEL, "text": text })).unwrap();
    assert!(desk.sent().iter().all(|sent| !sent.body["content"].as_str().unwrap().trim().is_empty()));
    assert_eq!(desk.sent().len(), 2);
}

#[test]
fn no_request_is_begun_that_the_deadline_would_cut_off() {
    let args = json!({ "channel_id": CHANNEL, "text": long() });
    let mut desk = Desk::new();
    let ended = desk.run_with("send-message", &args, |call| call.deadline -= 59_000);
    assert_eq!(ended, Err(retry(None, None)));
    assert_eq!(desk.asked, []);

    let mut desk = Desk::new();
    desk.slow_ms = 30_000;
    let outcome = partial(desk.run("send-message", &args));
    assert_eq!(outcome.provider_ids, ids(2));
    let stopped = json!({ "part": 3, "of": 3, "happened": "no", "why": "no time is left" });
    assert_eq!(output(&outcome)["stopped"], stopped);

    let mut desk = Desk::new();
    desk.slow_ms = 25_000;
    desk.run("send-message", &args).unwrap();
    let timeouts: Vec<u32> = desk.sent().iter().map(|sent| sent.timeout).collect();
    assert_eq!(timeouts, [15_000, 15_000, 9_500], "the last one ends half a second before the call has to");
}

#[test]
fn arguments_that_the_host_should_have_refused_are_refused() {
    for args in ["", "[]", "{}", r#"{"channel_id":"1","text":"\ud800"}"#, r#"{"channel_id":"x","text":"a"}"#] {
        let mut desk = Desk::new();
        let ended = jackfield_discord::action::run(&call("send-message", args, 0), &mut desk);
        assert!(matches!(ended, Err(ActionFault::Rejected(_))), "{args}: {ended:?}");
        assert_eq!(desk.asked, []);
    }
    let mut desk = Desk::new();
    let ended = jackfield_discord::action::run(&call("sing", "{}", 0), &mut desk);
    assert_eq!(ended, Err(ActionFault::Rejected("there is no action `sing`".to_owned())));
}

#[test]
fn roles_are_mentioned_by_id_and_nobody_else_is() {
    let mut desk = Desk::new();
    let args = json!({ "channel_id": CHANNEL, "role_id": "165511591545143296", "text": "@everyone meet" });
    let outcome = desk.run("mention-role", &args).unwrap();
    assert_eq!(outcome.provider_ids, ids(1));
    assert_eq!(desk.only().body["content"], "<@&165511591545143296> @everyone meet");
    let want = json!({ "parse": [], "roles": ["165511591545143296"], "replied_user": false });
    assert_eq!(desk.only().body["allowed_mentions"], want);
}
