//! One key, one time: what a caller submits under a key is done once, however often and however fast it asks.

use std::time::{Duration, Instant};

use jackfield::outbound::Refused;
use jackfield_model::action::EndingKind;
use jackfield_tests::desk::{Desk, request, said};
use jackfield_tests::guest::ACTION_STEPS;
use jackfield_tests::web::Web;
use serde_json::{Value, json};

fn keyed(action: &str, key: &str, args: &Value) -> jackfield::outbound::Request {
    let mut request = request(action, args);
    request.key = Some(key.to_owned());
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_at_once_are_done_once() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let args = json!({ "steps": [{ "send": "https://echo.test/ok" }, { "sleep": 200 }], "ids": ["made"] });
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let (host, request) = (desk.host.clone(), keyed("steps", "order-17", &args));
            tokio::spawn(async move { host.run(request).await })
        })
        .collect();
    let mut first = 0;
    for call in calls {
        let report = call.await.unwrap().unwrap();
        assert_eq!(report.ending.kind(), EndingKind::Done);
        assert_eq!(report.ending.outcome().unwrap().provider_ids, ["made"]);
        first += usize::from(!report.recorded);
    }
    assert_eq!((web.asked().len(), first), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_outlives_the_host_and_is_bound_to_its_arguments() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let args = json!({ "steps": [{ "send": "https://echo.test/ok" }], "ids": ["made"] });
    let done = desk.host.run(keyed("steps", "k", &args)).await.unwrap();
    let desk = Desk::at(desk.close().await).await;
    let again = desk.host.run(keyed("steps", "k", &args)).await.unwrap();
    assert!(again.recorded);
    assert_eq!((again.id, &again.ending), (done.id, &done.ending));
    let other = json!({ "steps": [{ "send": "https://echo.test/ok" }], "ids": ["other"] });
    let refused = desk.host.run(keyed("steps", "k", &other)).await.unwrap_err();
    assert_eq!(refused, Refused::Conflict { id: done.id });
    // Another action's keys are its own.
    assert!(!desk.host.run(keyed("keyed", "k", &other)).await.unwrap().recorded);
    assert_eq!(web.asked().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_certainly_did_nothing_may_be_asked_again() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    // The first two times nothing happens; the arguments stay the same.
    let args = json!({ "steps": [{ "acquire": ["gate", 60_000] }, { "send": "https://echo.test/ok" }] });
    for (end, kind) in
        [(json!({ "retry": {} }), EndingKind::Retry), (json!({ "unauthorized": "no" }), EndingKind::Unauthorized)]
    {
        let args = json!({ "end": end });
        for attempt in 1..=3 {
            let report = desk.host.run(keyed("steps", &end.to_string(), &args)).await.unwrap();
            assert_eq!((report.ending.kind(), report.recorded, report.attempt), (kind, false, attempt), "{end}");
        }
    }
    for end in [json!({ "rejected": "no" }), json!({ "unknown": "?" }), json!({ "partial": true })] {
        let args = json!({ "end": end });
        for recorded in [false, true, true] {
            let report = desk.host.run(keyed("steps", &end.to_string(), &args)).await.unwrap();
            assert_eq!(report.recorded, recorded, "{end}");
        }
    }
    // Where the platform knows the key, what is unknown may be asked again under it, and the platform hears the key.
    let lost = json!({ "end": { "unknown": "?" } });
    for attempt in 1..=2 {
        let report = desk.host.run(keyed("keyed", "k", &lost)).await.unwrap();
        assert_eq!((report.recorded, report.attempt), (false, attempt));
    }
    let report = desk.host.run(keyed("keyed", "told", &args)).await.unwrap();
    assert_eq!(said(&report).len(), 2);
    assert!(report.ending.outcome().unwrap().output.contains("\"key\":\"told\""), "{report:?}");
}

/// A platform knows a key for a while. After that what may have been done is not done again.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_unknown_is_repeated_while_the_platform_knows_the_key() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "limits = { action = \"1min\" }").await;
    let lost = json!({ "steps": [{ "send": "https://echo.test/ok" }], "end": { "unknown": "?" } });
    let mut sent = 0;
    let last = loop {
        let report = desk.host.run(keyed("brief", "k", &lost)).await.unwrap();
        assert_eq!(report.ending.kind(), EndingKind::Unknown);
        if report.recorded {
            break report;
        }
        sent += 1;
        assert_eq!(report.attempt, sent);
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    assert!(sent >= 2, "at once it is repeated");
    // One that begins in the last moment comes too late to send.
    let asked = web.asked().len();
    assert!((sent as usize - 1..=sent as usize).contains(&asked) && last.attempt == sent, "{asked}, {sent}, {last:?}");
    // A second attempt does not wait for a place beyond that: it would be sent too late.
    let waits = json!({ "end": [{ "unknown": "?" }, { "retry": { "after": 30_000, "bucket": "b" } }] });
    let mut last = desk.host.run(keyed("brief", "waits", &waits)).await.unwrap();
    assert_eq!((last.ending.kind(), last.attempt), (EndingKind::Unknown, 1));
    let began = Instant::now();
    last = desk.host.run(keyed("brief", "waits", &waits)).await.unwrap();
    assert_eq!((last.ending.kind(), last.attempt, last.recorded), (EndingKind::Unknown, 2, false), "{last:?}");
    assert!(last.ending.reason().unwrap().contains("rate limit"), "{last:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
