//! Recorded answers of the REST API, given to an action. What is right about each stands beside it.

use jackfield_sdk::HttpResponse;
use jackfield_sdk::action::{ActionFault, Pause};
use serde_json::{Value, json};

use super::desk::{BUCKET, CHANNEL, Desk, ids};

/// `{"status": …, "headers": …, "body": …}` as the host hands it over.
pub(crate) fn response(payload: &Value) -> HttpResponse {
    let headers = payload["headers"].as_object().unwrap().iter();
    HttpResponse {
        status: u16::try_from(payload["status"].as_u64().unwrap()).unwrap(),
        headers: headers.map(|(name, value)| (name.to_lowercase(), value.as_str().unwrap().to_owned())).collect(),
        body: payload["body"].to_string().into(),
    }
}

/// A 429: nothing is done, and what has to wait waits long enough.
pub(crate) fn check_wait(payload: &Value, expect: &Value) {
    let mut desk = Desk::answering([Ok(response(payload))]);
    let ended = desk.run("send-message", &json!({ "channel_id": CHANNEL, "text": "hello" }));
    let Err(ActionFault::Retry(Pause { after: Some(after), bucket: Some(bucket) })) = ended else {
        panic!("{ended:?}")
    };
    for (word, want) in expect.as_object().unwrap() {
        match (word.as_str(), want) {
            ("wait_ms_min", ms) => assert!(u64::from(after) >= ms.as_u64().unwrap(), "{after}"),
            ("wait_ms_max", ms) => assert!(u64::from(after) <= ms.as_u64().unwrap(), "{after}"),
            ("scope", scope) if *scope == "this bucket only" => assert_eq!(bucket, BUCKET),
            ("scope", _) => assert_eq!(bucket, "*"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(desk.sent().len(), 1, "no 429 is answered by trying again at once");
}

/// A text that is too long is final when Discord says so, and does not come to that.
pub(crate) fn check_too_long(payload: &Value, expect: &Value) {
    let mut desk = Desk::answering([Ok(response(payload))]);
    let ended = desk.run("send-message", &json!({ "channel_id": CHANNEL, "text": "hello" }));
    let why = "Discord refused (50035): Invalid Form Body: content: Must be 2000 or fewer in length.";
    for (word, _) in expect.as_object().unwrap() {
        match word.as_str() {
            "ledger" => {
                assert_eq!(ended, Err(ActionFault::Rejected(why.to_owned())), "final, and the caller hears why")
            }
            "prevent" => prevented(),
            other => panic!("{other}"),
        }
    }
    assert_eq!(desk.sent().len(), 1, "the same body is not sent again");
}

fn prevented() {
    let mut desk = Desk::new();
    let outcome = desk.run("send-message", &json!({ "channel_id": CHANNEL, "text": "ö".repeat(4_001) })).unwrap();
    assert_eq!(outcome.provider_ids, ids(3));
    let mut nonces: Vec<String> = desk.sent().iter().map(|sent| sent.body["nonce"].to_string()).collect();
    assert!(desk.sent().iter().all(|sent| sent.body["content"].as_str().unwrap().encode_utf16().count() <= 2_000));
    nonces.dedup();
    assert_eq!(nonces.len(), 3, "each with a nonce of its own");
}
