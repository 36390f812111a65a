//! Actions of the real connector against the double, whose log says what happened and what did not.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use jackfield::outbound::Request;
use jackfield_model::action::{Ending, EndingKind};
use jackfield_store::execution::Surface;
use jackfield_testkit::discord::{Double, Event, Limits, Mishap, Record, RestFault, RouteLimit, Script, Times};
use jackfield_tests::desk::Desk;
use jackfield_tests::discord::Scene;
use jackfield_tests::processes::PATIENCE;
use serde_json::{Value, json};

/// A double, and a host in this process that serves the connector from it.
async fn open(script: Script) -> (std::sync::Arc<Double>, Desk) {
    // The scene has a runtime of its own, which may neither be made nor dropped inside another one.
    let more = "config = { intents = 37377 }\nlimits = { action = \"3min\" }";
    let scene = tokio::task::spawn_blocking(move || Scene::with(script, more)).await.unwrap();
    let (home, double) = scene.into_parts();
    (double, Desk::at(home).await)
}

fn send(double: &Double, channel: usize, text: &str) -> Request {
    Request {
        connection: "discord".parse().unwrap(),
        action: "send-message".to_owned(),
        args: json!({ "channel_id": double.channels()[channel].to_string(), "text": text }).to_string(),
        key: None,
        attempt: 1,
        approve: false,
        timeout: None,
        surface: Surface::Library,
        caller: "the suite".to_owned(),
    }
}

fn silent() -> Script {
    Script { channels: 3, ..Script::silent() }
}

/// What is limited is what messages are sent with.
fn limited(requests: u32, per_ms: u64) -> Limits {
    let path = Some("/channels/*/messages".to_owned());
    let method = Some("POST".to_owned());
    Limits {
        global: None,
        routes: vec![RouteLimit { method, path, requests, per_ms, scope: Default::default(), code: None }],
    }
}

fn mishap(mishap: Mishap, count: u32) -> RestFault {
    let (method, path) = (Some("POST".to_owned()), Some("/channels/*/messages".to_owned()));
    RestFault { method, path, skip: 0, count: Times::Count(count), mishap }
}

/// What the platform takes for two hundred: the first window begins with the first of them, and the last one with the last.
const LEAST: Duration = Duration::from_secs(39);

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_callers_on_five_a_second() {
    let (double, desk) = open(silent()).await;
    double.limit_rest(limited(5, 1_000));
    // Of a bucket of which nothing is known one has the only place, until it leaves: the others stand in line behind it.
    double.rest_fault(mishap(Mishap::Stall { ms: None, carried_out: false }, 1));
    let (host, request) = (desk.host.clone(), send(&double, 0, "never answered"));
    let first = tokio::spawn(async move { host.run(request).await });
    double.log().wait_for(|record| record.counts().rest_faults == 1, PATIENCE).await.unwrap();
    let mut calls = Vec::new();
    for number in 0..200 {
        let (host, mut request) = (desk.host.clone(), send(&double, 0, &format!("number {number}")));
        request.timeout = Some(Duration::from_secs(170));
        let mut call = Box::pin(async move { host.run(request).await.unwrap() });
        // Taken in the order of their numbers: a call has its place in the order once it was looked at.
        assert!(futures::poll!(&mut call).is_pending());
        calls.push(tokio::spawn(call));
        // Half of them come when all is known of the bucket, and are told how long they have to wait.
        if calls.len() == 100 {
            while waiting(&desk).await < calls.len() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            first.abort();
            double.log().wait_for(|record| numbers(record).next().is_some(), PATIENCE).await.unwrap();
        }
    }
    // Others are not held up meanwhile.
    for number in 0..5 {
        let began = Instant::now();
        let report = desk.host.run(send(&double, 1, &format!("aside {number}"))).await.unwrap();
        assert_eq!(report.ending.kind(), EndingKind::Done, "{report:?}");
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    }
    for call in calls {
        let report = call.await.unwrap();
        assert_eq!(report.ending.kind(), EndingKind::Done, "{report:?}");
    }
    let log = double.log();
    assert_eq!(log.counts().rate_limited, 0, "{:?}", log.counts());
    let (numbers, at_ms): (Vec<usize>, Vec<u64>) = log.read(|record| numbers(record).unzip());
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 200, "each once: {numbers:?}");
    assert_eq!(numbers.len(), 200);
    // Places are given in the order of the callers, and no more than five are out at once: so whoever arrives has at most four
    // before him in the order that have not, and those set out before he did.
    for (arrived, number) in numbers.iter().enumerate() {
        assert!(*number <= arrived + 4, "{number} was there as number {arrived}: {numbers:?}");
    }
    let took = Duration::from_millis(at_ms[199] - at_ms[0]);
    assert!(took <= LEAST.mul_f64(1.15), "{took:?}");
}

/// How many calls wait in all buckets.
async fn waiting(desk: &Desk) -> usize {
    let status = desk.host.status().await;
    status.connections.iter().flat_map(|connection| &connection.buckets).map(|level| level.waiting).sum()
}

/// The numbers that were said, in order, and when.
fn numbers(record: &Record) -> impl Iterator<Item = (usize, u64)> {
    record.entries().filter_map(|entry| match &entry.event {
        Event::Said(said) => Some((said.content.strip_prefix("number ")?.parse().ok()?, entry.at_ms)),
        _ => None,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn did_it_happen_is_answered_as_the_platform_saw_it() {
    let (double, desk) = open(silent()).await;
    let log = double.log();
    let happened = |text: &str| log.read(|record| record.said().iter().filter(|said| &*said.content == text).count());
    for (name, fault, kind, times) in [
        ("cut", Mishap::Cut {}, EndingKind::Unknown, 1),
        ("closed after", Mishap::CloseAfter {}, EndingKind::Unknown, 1),
        ("closed before", Mishap::CloseBefore {}, EndingKind::Unknown, 0),
        (
            "an error, done",
            Mishap::Answer { status: 502, headers: Default::default(), body: Value::Null, carried_out: true },
            EndingKind::Unknown,
            1,
        ),
        (
            "forbidden",
            Mishap::Answer {
                status: 403,
                headers: Default::default(),
                body: json!({ "message": "Missing Access", "code": 50001 }),
                carried_out: false,
            },
            EndingKind::Rejected,
            0,
        ),
        (
            "who",
            Mishap::Answer {
                status: 401,
                headers: Default::default(),
                body: json!({ "message": "401: Unauthorized", "code": 0 }),
                carried_out: false,
            },
            EndingKind::Unauthorized,
            0,
        ),
    ] {
        double.rest_fault(mishap(fault, 1));
        let report = desk.host.run(send(&double, 0, name)).await.unwrap();
        assert_eq!((report.ending.kind(), happened(name)), (kind, times), "{name}: {report:?}");
        let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
        assert!(row.requests.iter().all(|request| request.left), "{name}: {row:?}");
    }
    // A whole text in three messages, the second of which is lost on the way: what is known is told.
    double.rest_fault(RestFault { skip: 1, ..mishap(Mishap::CloseAfter {}, 1) });
    let long = format!("{}\n{}\n{}", "a".repeat(1_900), "b".repeat(1_900), "c".repeat(1_900));
    let report = desk.host.run(send(&double, 0, &long)).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Partial, "{report:?}");
    let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
    assert!(row.waited_ms < 5_000, "{row:?}");
    assert_eq!(report.ending.outcome().unwrap().provider_ids.len(), 1, "{report:?}");
    // And where nobody listens, nothing left.
    let request = send(&double, 0, "nobody");
    std::sync::Arc::into_inner(double).expect("nobody else has it").stop().await;
    let report = desk.host.run(request).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Retry, "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn under_a_key_a_lost_answer_is_asked_for_again_and_said_once() {
    let (double, desk) = open(silent()).await;
    double.rest_fault(mishap(Mishap::CloseAfter {}, 1));
    let mut request = send(&double, 0, "once");
    request.key = Some("order-17".to_owned());
    let first = desk.host.run(request.clone()).await.unwrap();
    assert_eq!(first.ending.kind(), EndingKind::Unknown);
    // An attempt that certainly did nothing does not take back what the one before it may have done.
    let refused = json!({ "message": "401: Unauthorized", "code": 0 });
    let refused = Mishap::Answer { status: 401, headers: Default::default(), body: refused, carried_out: false };
    double.rest_fault(mishap(refused, 1));
    let second = desk.host.run(request.clone()).await.unwrap();
    assert_eq!((second.ending.kind(), second.attempt), (EndingKind::Unknown, 2), "{second:?}");
    assert!(second.ending.reason().unwrap().contains("one before it"), "{second:?}");
    let row = desk.host.stores().executions.execution(second.id).await.unwrap().unwrap();
    assert_eq!(row.outcome, Some(EndingKind::Unauthorized), "the ledger says what this attempt did");
    // The platform knows the nonce that comes from the key.
    let third = desk.host.run(request.clone()).await.unwrap();
    assert_eq!((third.ending.kind(), third.attempt), (EndingKind::Done, 3), "{third:?}");
    let fourth = desk.host.run(request).await.unwrap();
    assert_eq!((fourth.recorded, fourth.attempt, &fourth.ending), (true, 3, &third.ending));
    assert_eq!(double.log().read(|record| record.said().len()), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn fixture_30_fixture_32_fixture_35_refusals_are_obeyed() {
    let (double, desk) = open(silent()).await;
    let fixture = |name: &str| -> Mishap {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/discord/fixtures/discord");
        let recorded: Value = serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap();
        let headers = recorded["headers"].as_object().unwrap().iter();
        let headers = headers.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
        let status = recorded["status"].as_u64().unwrap().try_into().unwrap();
        Mishap::Answer { status, headers, body: recorded["body"].clone(), carried_out: false }
    };
    let hurried = |channel, text: &str| {
        let mut request = send(&double, channel, text);
        request.timeout = Some(Duration::from_secs(5));
        request
    };
    // 30: a route's limit, in fractions of a second: this channel waits, others go on.
    double.rest_fault(mishap(fixture("30_rest_429_route.json"), 1));
    let began = Instant::now();
    assert_eq!(desk.host.run(send(&double, 0, "waits")).await.unwrap().ending.kind(), EndingKind::Done);
    assert!(
        (Duration::from_millis(1_337)..Duration::from_secs(10)).contains(&began.elapsed()),
        "{:?}",
        began.elapsed()
    );
    // 35: longer than Discord takes. It is prevented by splitting; where it comes all the same it is final.
    double.rest_fault(mishap(fixture("35_rest_400_too_long.json"), 1));
    let report = desk.host.run(send(&double, 0, "too long")).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Rejected, "{report:?}");
    assert_eq!(double.log().read(|record| record.said().len()), 1);
    // 32: everybody waits, for more than a minute.
    double.rest_fault(mishap(fixture("32_rest_429_global.json"), 1));
    for channel in [0, 1, 2] {
        let report = desk.host.run(hurried(channel, "held")).await.unwrap();
        let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
        let Ending::Retry { after_ms: Some(after), .. } = report.ending else { panic!("{channel}: {row:?}") };
        assert!((60_000..=65_000).contains(&after), "{channel}: {after}");
    }
    assert_eq!(double.log().counts().said, 1);
}
