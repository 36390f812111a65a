//! "Did it happen?": every way in which a call can end, and what is said of it, against what the platform saw.

use std::time::Duration;

use jackfield::outbound::Refused;
use jackfield_model::action::{Ending, EndingKind};
use jackfield_store::execution::Filter;
use jackfield_tests::desk::{CANARY, Desk, request, said};
use jackfield_tests::guest::ACTION_STEPS;
use jackfield_tests::web::Web;
use serde_json::{Value, json};

async fn desk(more: &str) -> (Web, Desk) {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, more).await;
    (web, desk)
}

fn steps(steps: Value) -> Value {
    json!({ "steps": steps })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_is_said_and_written_down() {
    let (web, desk) = desk("").await;
    let args = json!({
        "steps": [{ "send": { "url": "https://echo.test/ok", "method": "post", "body": "hello", "secret": "header" } }],
        "ids": ["m-1", "m-2"], "token": "hush"
    });
    let report = desk.run("steps", &args).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Done, "{report:?}");
    assert!(web.asked()[0].whole.contains(&format!("authorization: Bearer {CANARY}")), "{:?}", web.asked());
    assert!(said(&report)[0].starts_with("sent 200 POST /ok"), "{report:?}");
    assert!(said(&report)[0].contains("Bearer [secret:canary]"), "what came back is masked: {report:?}");

    let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
    assert_eq!(row.outcome, Some(EndingKind::Done));
    assert_eq!((row.action.as_str(), row.caller.as_str(), row.attempt), ("steps", "the suite", 1));
    assert_eq!(row.provider_ids, ["m-1", "m-2"]);
    assert!(row.args.contains("hello") && !row.args.contains("hush"), "{row:?}");
    let sent = &row.requests[0];
    assert_eq!((sent.method.as_str(), sent.target.as_str()), ("POST", "https://echo.test/ok"));
    assert_eq!((sent.status, sent.left), (Some(200), true));
    let whole = format!("{row:?} {report:?}");
    assert!(!whole.contains(CANARY), "{whole}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_connector_says_is_told() {
    let (_web, desk) = desk("").await;
    for (end, kind) in [
        (json!({ "rejected": "never" }), EndingKind::Rejected),
        (json!({ "unauthorized": "who?" }), EndingKind::Unauthorized),
        (json!({ "unknown": "maybe" }), EndingKind::Unknown),
        (json!({ "partial": true }), EndingKind::Partial),
        (json!({ "retry": { "after": 1500 } }), EndingKind::Retry),
    ] {
        let report = desk.run("steps", &json!({ "end": end })).await.unwrap();
        assert_eq!(report.ending.kind(), kind, "{report:?}");
        let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
        assert_eq!(row.outcome, Some(kind));
        if kind == EndingKind::Retry {
            assert!(matches!(report.ending, Ending::Retry { after_ms: Some(1500), .. }), "{report:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_unknown_once_a_request_had_left_and_else_retry() {
    let (web, desk) = desk("limits = { action = \"3s\", call = \"500ms\" }").await;
    let sent = json!({ "send": "https://echo.test/ok" });
    for (before, kind) in [(json!(null), EndingKind::Retry), (sent, EndingKind::Unknown)] {
        for end in [json!({ "trap": true }), json!({ "spin": true }), json!({ "sleep": 60_000 })] {
            let seen = web.asked().len();
            let both = [before.clone(), end.clone()].into_iter().filter(|step| !step.is_null()).collect();
            let report = desk.run("steps", &steps(Value::Array(both))).await.unwrap();
            assert_eq!(report.ending.kind(), kind, "{before} {end}: {report:?}");
            assert_eq!(web.asked().len() - seen, usize::from(kind == EndingKind::Unknown));
            assert!(!report.notes.is_empty(), "the reason is kept: {report:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn case_18_and_case_32_a_lost_answer_is_unknown_and_a_closed_door_is_not() {
    let (web, desk) = desk("limits = { action = \"2s\" }").await;
    for path in ["cut", "half", "stall", "drip", "endless-head", "continue", "gzip", "large"] {
        let report = desk.run("steps", &steps(json!([{ "send": format!("https://echo.test/{path}") }]))).await.unwrap();
        assert!(said(&report)[0].starts_with("outcome unknown"), "{path}: {report:?}");
        let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
        assert!(row.requests[0].left && row.requests[0].status.is_none(), "{path}: {row:?}");
    }
    assert_eq!(web.asked().len(), 8);
    // Nobody listens there.
    let report = desk.run("steps", &steps(json!([{ "send": "https://plain.test/ok" }]))).await.unwrap();
    assert_eq!(said(&report), ["unavailable"]);
    let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
    assert!(!row.requests[0].left, "{row:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_cancels() {
    let (web, desk) = desk("").await;
    let args = steps(json!([
        { "send": "https://echo.test/ok" }, { "sleep": 500 }, { "send": "https://echo.test/ok" }
    ]));
    let call = desk.run("steps", &args);
    // Long enough for the first request; then nobody waits any more.
    let _ = tokio::time::timeout(Duration::from_millis(250), call).await;
    let row = loop {
        let rows = desk.host.stores().executions.executions(&Filter::default(), None, 10).await.unwrap();
        if let Some(row) = rows.into_iter().find(|row| row.finished_at.is_some()) {
            break row;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    // The guest came back by itself, and says that the second one was cancelled.
    assert_eq!(row.outcome, Some(EndingKind::Done), "{row:?}");
    assert!(row.result.contains("cancelled"), "{row:?}");
    assert!(web.asked().len() <= 1, "{:?}", web.asked());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_sends_nothing_and_leaves_no_row() {
    let (web, desk) = desk("").await;
    let send = steps(json!([{ "send": "https://echo.test/ok" }]));
    let refused = desk.run("wipe", &send).await.unwrap_err();
    assert!(matches!(&refused, Refused::NeedsApproval { class: "hard-delete", .. }), "{refused}");
    let refused = desk.run("stesp", &send).await.unwrap_err();
    assert!(matches!(&refused, Refused::NoAction { near: Some(near), .. } if near == "steps"), "{refused}");
    let refused = desk.run("steps", &json!({ "steps": "all" })).await.unwrap_err();
    assert!(matches!(&refused, Refused::Arguments { problems, .. } if problems[0].pointer == "/steps"), "{refused}");
    let mut second = request("steps", &send);
    second.attempt = 2;
    let refused = desk.host.run(second.clone()).await.unwrap_err();
    assert!(matches!(refused, Refused::Repeat { attempt: 2, .. }), "{refused}");
    second.connection = "eco".parse().unwrap();
    let refused = desk.host.run(second).await.unwrap_err();
    assert!(matches!(&refused, Refused::NoConnection { near: Some(near), .. } if near == "echo"), "{refused}");
    let rows = desk.host.stores().executions.executions(&Filter::default(), None, 10).await.unwrap();
    assert_eq!((web.asked().len(), rows.len()), (0, 0));

    // With what was missing they run.
    let mut approved = request("wipe", &send);
    approved.approve = true;
    let report = desk.host.run(approved).await.unwrap();
    let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
    assert_eq!(row.approved.as_deref(), Some("the suite"));
    let mut read = request("look", &send);
    read.attempt = 2;
    assert_eq!(desk.host.run(read).await.unwrap().attempt, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_ended_half_way_says_unknown() {
    let (_web, desk) = desk("").await;
    let mut slow = request("steps", &steps(json!([{ "sleep": 10_000 }])));
    slow.key = Some("half-way".to_owned());
    let host = desk.host.clone();
    let call = tokio::spawn(async move { host.run(slow).await });
    let id = loop {
        let rows = desk.host.stores().executions.executions(&Filter::default(), None, 10).await.unwrap();
        if let Some(row) = rows.first() {
            break row.id;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    // The next process finds the row open. (This store's own process goes on: it is the rule that is looked at.)
    let ended = desk.host.stores().executions.interrupted("the host ended while it ran").await.unwrap();
    assert_eq!(ended, 1);
    let row = desk.host.stores().executions.execution(id).await.unwrap().unwrap();
    assert_eq!((row.outcome, row.reason.as_deref()), (Some(EndingKind::Unknown), Some("the host ended while it ran")));
    call.abort();
}
