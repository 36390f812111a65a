//! What goes wrong with a request on command: what the client sees, what happened, and what the log says of it.

use std::collections::BTreeMap;
use std::time::Duration;

use jackfield_testkit::discord::{Double, Ending, Event, LimitScope, Limits, Mishap, RestFault, RouteLimit, Script};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::client::{Exchange, PATIENCE, call, now, receive, send, silent, start};

/// Long enough for an answer that comes at once, on any machine; what has to stay away is only waited for so long.
const QUIET: Duration = Duration::from_millis(300);

fn path(double: &Double) -> String {
    format!("/channels/{}/messages", double.channels()[0])
}

async fn say(double: &Double, nonce: &str) -> Exchange {
    call(double, "POST", &path(double), &json!({ "content": "hi", "nonce": nonce, "enforce_nonce": true })).await
}

fn on_messages(mishap: Mishap) -> RestFault {
    RestFault::new(mishap).on("POST", "/channels/*/messages")
}

/// The newest request: nonce, status, whether it was carried out, how it ended, and its fault.
fn last(double: &Double) -> (Option<String>, Option<u16>, bool, Ending, Option<String>) {
    let entries = double.log().snapshot();
    let last = entries.into_iter().rev().find_map(|entry| match entry.event {
        Event::Request { nonce, status, carried_out, ending, fault, .. } => {
            Some((nonce, status, carried_out, ending, fault))
        }
        _ => None,
    });
    last.unwrap()
}

fn made(double: &Double, nonce: &str) -> usize {
    double.log().read(|record| record.said_with_nonce(nonce))
}

#[tokio::test]
async fn closed_before_reading_nothing_happened() {
    let double = silent().await;
    double.rest_fault(on_messages(Mishap::CloseBefore {}));
    let answer = say(&double, "n").await;
    assert_eq!((answer.status, answer.body.len()), (None, 0));
    assert_eq!(last(&double), (None, None, false, Ending::ClosedBefore, Some("close-before".to_owned())));
    assert_eq!(made(&double, "n"), 0);
    assert_eq!(say(&double, "n").await.status, Some(200));
    assert_eq!(made(&double, "n"), 1);
}

#[tokio::test]
async fn closed_before_reading_does_not_wait_for_the_body() {
    let double = silent().await;
    double.rest_fault(on_messages(Mishap::CloseBefore {}));
    let address = double.origin_http().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let path = path(&double);
    let head = format!("POST /api/v10{path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1000\r\n\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(receive(stream).await.status, None, "though most of the body never came");
}

#[tokio::test]
async fn closed_after_it_happened_a_repetition_finds_it() {
    let double = silent().await;
    double.rest_fault(on_messages(Mishap::CloseAfter {}));
    let answer = say(&double, "n").await;
    assert_eq!((answer.status, answer.body.len()), (None, 0));
    let expected = (Some("n".to_owned()), Some(200), true, Ending::ClosedAfter, Some("close-after".to_owned()));
    assert_eq!(last(&double), expected);
    assert_eq!(made(&double, "n"), 1);
    let again = say(&double, "n").await;
    assert_eq!(again.json()["id"], json!(double.log().said()[0].message));
    assert_eq!(made(&double, "n"), 1);
}

#[tokio::test]
async fn a_body_is_broken_off_in_the_middle() {
    let double = silent().await;
    double.rest_fault(on_messages(Mishap::Cut {}));
    let answer = say(&double, "n").await;
    assert_eq!(answer.status, Some(200));
    let promised: usize = answer.header("content-length").parse().unwrap();
    assert_eq!(answer.body.len(), promised / 2, "half of what the head promises");
    assert_eq!(last(&double).3, Ending::Cut);
    assert_eq!(made(&double, "n"), 1);
}

#[tokio::test]
async fn a_server_error_says_nothing_about_what_happened() {
    let double = silent().await;
    for (status, carried_out) in [(500, false), (502, true), (503, false), (504, true)] {
        double.rest_fault(on_messages(Mishap::status(status, carried_out)));
        let nonce = status.to_string();
        let answer = say(&double, &nonce).await;
        assert_eq!((answer.status, &answer.json()["code"]), (Some(status), &json!(0)));
        let expected = (Some(nonce.clone()), Some(status), carried_out, Ending::Answered, Some("answer".to_owned()));
        assert_eq!(last(&double), expected);
        assert_eq!(made(&double, &nonce), usize::from(carried_out), "{status}");
    }
}

#[tokio::test]
async fn an_answer_drips() {
    let double = silent().await;
    double.rest_fault(on_messages(Mishap::Drip { bytes: 100, every_ms: 20 }));
    let began = now();
    let answer = say(&double, "n").await;
    assert!(answer.is_whole() && answer.json()["content"] == "hi");
    let pauses = (answer.body.len() as u64).div_ceil(100) - 1;
    assert!(began.elapsed() >= Duration::from_millis(pauses * 20), "{pauses} pauses in {:?}", began.elapsed());
    assert_eq!(last(&double).3, Ending::Dripped);
}

#[tokio::test]
async fn an_answer_begins_and_never_ends() {
    let double = silent().await;
    double.rest_fault(on_messages(Mishap::Drip { bytes: 10, every_ms: u64::from(u32::MAX) }));
    let credential = format!("Bot {}", double.token());
    let headers = [("Authorization", credential.as_str()), ("Content-Type", "application/json")];
    let mut stream =
        send(&double, "POST", &format!("/api/v10{}", path(&double)), &headers, r#"{"content":"hi"}"#).await;
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains("\r\n\r\n{") {
        let mut piece = [0; 1024];
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut piece)).await.unwrap().unwrap();
        assert_ne!(read, 0, "the head comes");
        bytes.extend_from_slice(&piece[..read]);
    }
    let mut rest = [0; 1024];
    assert!(tokio::time::timeout(QUIET, stream.read(&mut rest)).await.is_err(), "nothing more comes, and no end");
}

#[tokio::test]
async fn an_answer_is_held_back() {
    let double = silent().await;
    let wait = Duration::from_millis(200);
    for (carried_out, status) in [(true, Some(200)), (false, None)] {
        let ms = u64::try_from(wait.as_millis()).ok();
        double.rest_fault(on_messages(Mishap::Stall { ms, carried_out }));
        let began = now();
        let nonce = carried_out.to_string();
        assert_eq!(say(&double, &nonce).await.status, status);
        assert!(began.elapsed() >= wait);
        let (.., happened, ending, _) = last(&double);
        assert_eq!((happened, ending, made(&double, &nonce)), (carried_out, Ending::Stalled, usize::from(carried_out)));
    }
}

#[tokio::test]
async fn an_answer_that_never_comes_is_known_to_the_log() {
    for carried_out in [true, false] {
        let double = silent().await;
        double.rest_fault(on_messages(Mishap::Stall { ms: None, carried_out }));
        let credential = format!("Bot {}", double.token());
        let headers = [("Authorization", credential.as_str()), ("Content-Type", "application/json")];
        let body = r#"{"content":"hi","nonce":"n"}"#;
        let mut stream = send(&double, "POST", &format!("/api/v10{}", path(&double)), &headers, body).await;
        let log = double.log();
        log.wait_for(|record| record.counts().rest_faults == 1, PATIENCE).await.unwrap();
        assert_eq!(log.counts().said, u64::from(carried_out));
        let mut byte = [0; 1];
        assert!(tokio::time::timeout(QUIET, stream.read(&mut byte)).await.is_err(), "nothing comes, and no end");
        double.stop().await;
        assert_eq!(receive(stream).await.status, None);
    }
}

#[tokio::test]
async fn anything_can_be_answered_with_any_head() {
    let double = silent().await;
    double.rest_fault(on_messages(Mishap::redirect("http://127.0.0.1:1/elsewhere")));
    let answer = say(&double, "n").await;
    assert_eq!((answer.status, answer.header("location")), (Some(302), "http://127.0.0.1:1/elsewhere"));
    let page = Mishap::Answer {
        status: 403,
        headers: BTreeMap::from([("Content-Type".to_owned(), "text/html".to_owned())]),
        body: Value::from("<html>error code: 1015</html>"),
        carried_out: false,
    };
    double.rest_fault(on_messages(page));
    let answer = say(&double, "n").await;
    assert_eq!((answer.status, answer.header("content-type")), (Some(403), "text/html"));
    assert_eq!(answer.body, b"<html>error code: 1015</html>");
    assert_eq!(made(&double, "n"), 0);
}

#[tokio::test]
async fn a_fault_is_for_its_requests_so_often_and_not_before() {
    let double = silent().await;
    double.rest_fault(on_messages(Mishap::status(503, false)).after(1).times(2));
    assert_eq!(call(&double, "GET", &path(&double), &Value::Null).await.status, Some(200));
    let mut statuses = Vec::new();
    for number in 0..4 {
        statuses.push(say(&double, &number.to_string()).await.status.unwrap());
    }
    assert_eq!(statuses, [200, 503, 503, 200]);
    double.rest_fault(RestFault::new(Mishap::CloseAfter {}).always());
    for _ in 0..3 {
        assert_eq!(call(&double, "GET", "/users/@me", &Value::Null).await.status, None);
    }
    double.rest_recover();
    assert_eq!(call(&double, "GET", "/users/@me", &Value::Null).await.status, Some(200));
}

#[tokio::test]
async fn a_fault_that_carries_out_waits_for_a_request_that_is() {
    let double = silent().await;
    double.limit_rest(Limits {
        global: None,
        routes: vec![RouteLimit {
            method: Some("POST".to_owned()),
            path: None,
            requests: 1,
            per_ms: 600_000,
            scope: LimitScope::User,
            code: None,
        }],
    });
    say(&double, "a").await;
    double.rest_fault(RestFault::new(Mishap::CloseAfter {}));
    assert_eq!(say(&double, "b").await.status, Some(429));
    double.limit_rest(Limits::default());
    assert_eq!(say(&double, "b").await.status, None);
    assert_eq!(made(&double, "b"), 1);
}

#[tokio::test]
async fn faults_come_from_the_script_from_the_start_and_on_the_way() {
    let fault = json!({ "fault": "close-after", "method": "POST", "path": "/channels/*/messages" });
    let mut step = json!({ "after_messages": 2, "do": "rest-fault" });
    for (name, value) in json!({ "fault": "answer", "status": 500, "count": 2 }).as_object().unwrap() {
        step[name] = value.clone();
    }
    let script = json!({ "messages": 0, "rest": { "faults": [fault] }, "steps": [step] });
    let double = start(Script::from_json(&script.to_string()).unwrap()).await;
    let mut statuses = Vec::new();
    for number in 0..5 {
        statuses.push(say(&double, &number.to_string()).await.status);
    }
    assert_eq!(statuses, [None, Some(200), Some(500), Some(500), Some(200)]);
    assert_eq!(double.log().counts().said, 3);
}
