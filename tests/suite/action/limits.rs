//! Rate limits: everybody in order, nobody starved, nothing sent that the platform would refuse.

use std::time::{Duration, Instant};

use jackfield::outbound::buckets::Level;
use jackfield_model::action::{Ending, EndingKind};
use jackfield_tests::desk::{Desk, request, said};
use jackfield_tests::guest::ACTION_STEPS;
use jackfield_tests::web::Web;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn no_place_within_the_time_is_retry_with_the_time() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    desk.run("steps", &json!({ "steps": [{ "left": ["b", 0, 30_000] }] })).await.unwrap();
    let mut hurried = request("steps", &json!({ "steps": [{ "place": "b" }, { "send": "https://echo.test/ok" }] }));
    hurried.timeout = Some(Duration::from_secs(2));
    let began = Instant::now();
    let report = desk.host.run(hurried).await.unwrap();
    let Ending::Retry { after_ms: Some(after), .. } = report.ending else { panic!("{report:?}") };
    assert!((20_000..=30_000).contains(&after), "{after}");
    assert!(began.elapsed() < Duration::from_secs(2), "known at once: {:?}", began.elapsed());
    assert_eq!(web.asked().len(), 0);
    // Another bucket goes on.
    let other = json!({ "steps": [{ "place": "c" }, { "send": "https://echo.test/ok" }] });
    assert_eq!(desk.run("steps", &other).await.unwrap().ending.kind(), EndingKind::Done);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_call_is_told_of_its_own_turn_holds_up_nobody_else() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    desk.run("steps", &json!({ "steps": [{ "left": ["b", 0, 1_500] }] })).await.unwrap();
    // The last of them is told to come back in fifteen seconds, and says so.
    let call = || {
        let (host, mut request) = (desk.host.clone(), request("steps", &json!({ "steps": [{ "place": "b" }] })));
        request.timeout = Some(Duration::from_secs(60));
        tokio::spawn(async move { host.run(request).await.unwrap() })
    };
    let calls: Vec<_> = (0..10).map(|_| call()).collect();
    let level = bucket(&desk, "b", |level| level.waiting == 10).await;
    assert_eq!(level.paused_until, None, "{level:?}");
    for call in calls {
        let report = call.await.unwrap();
        assert_eq!(report.ending.kind(), EndingKind::Done, "{report:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_an_instance_holds_no_place_that_its_owner_waits_for() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "limits = { actions = 1 }").await;
    desk.run("steps", &json!({ "steps": [{ "left": ["b", 0, 2_000] }] })).await.unwrap();
    let call = |steps| {
        let host = desk.host.clone();
        tokio::spawn(async move { host.run(request("steps", &json!({ "steps": steps }))).await.unwrap() })
    };
    // It waits outside, and its turn is the first one.
    let outside = call(json!([{ "place": "b" }, { "send": "https://echo.test/ok" }]));
    bucket(&desk, "b", |level| level.waiting == 1).await;
    // It has sent something, so it waits on the only instance there is.
    let begun = call(json!([{ "send": "https://echo.test/ok" }, { "place": "b" }, { "send": "https://echo.test/ok" }]));
    bucket(&desk, "b", |level| level.waiting == 2).await;
    for call in [begun, outside] {
        let report = call.await.unwrap();
        assert_eq!(report.ending.kind(), EndingKind::Done, "{report:?}");
        assert!(said(&report).iter().all(|said| !said.contains("unavailable")), "{report:?}");
    }
}

/// The bucket of this name, once it is like this.
async fn bucket(desk: &Desk, name: &str, mut like: impl FnMut(&Level) -> bool) -> Level {
    loop {
        let status = desk.host.status().await;
        let mut levels = status.connections.into_iter().flat_map(|connection| connection.buckets);
        if let Some(level) = levels.find(|level| level.bucket == name && like(level)) {
            return level;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_gets_no_instance_in_its_time_is_not_begun() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "limits = { actions = 1 }").await;
    let host = desk.host.clone();
    let stalls = json!({ "steps": [{ "send": "https://echo.test/stall" }] });
    let long = tokio::spawn(async move { host.run(request("steps", &stalls)).await });
    while web.asked().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut late = request("steps", &json!({ "steps": [{ "send": "https://echo.test/ok" }] }));
    late.timeout = Some(Duration::from_millis(300));
    let report = desk.host.run(late).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Retry, "{report:?}");
    assert!(report.notes.iter().any(|note| note.contains("no instance got free")), "{report:?}");
    assert!(!long.is_finished(), "it waited no longer than its own time");
    assert_eq!(web.asked().len(), 1);
    long.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_says_nothing_of_its_limits_holds_nobody_up() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let one = [json!({ "place": "b" }), json!({ "send": "https://echo.test/ok" })];
    let many: Vec<_> = (0..10).flat_map(|_| one.clone()).collect();
    let mut request = request("steps", &json!({ "steps": many }));
    request.timeout = Some(Duration::from_secs(10));
    let report = desk.host.run(request).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Done, "{report:?}");
    assert_eq!(web.asked().len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_of_everything_holds_everything() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let global = json!({ "end": { "retry": { "after": 2_000, "bucket": "*" } } });
    let mut first = request("steps", &global);
    first.timeout = Some(Duration::from_millis(500));
    let began = Instant::now();
    assert_eq!(desk.host.run(first).await.unwrap().ending.kind(), EndingKind::Retry);
    let other = json!({ "steps": [{ "place": "c" }, { "send": "https://echo.test/ok" }] });
    assert_eq!(desk.run("steps", &other).await.unwrap().ending.kind(), EndingKind::Done);
    assert!(began.elapsed() >= Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connector_that_waits_for_a_place_and_never_takes_it_is_ended() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let report = desk.run("steps", &json!({ "end": { "retry": { "bucket": "b" } } })).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Retry);
    assert!(report.notes.iter().any(|note| note.contains("did not reserve")), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_of_the_platform_are_not_risked_for_ever() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "limits = { refusals = 5 }").await;
    for status in [401, 403, 429, 404, 403, 500, 401] {
        let url = format!("https://echo.test/status/{status}");
        desk.run("steps", &json!({ "steps": [{ "send": url }] })).await.unwrap();
    }
    let asked = web.asked().len();
    let report = desk.run("steps", &json!({ "steps": [{ "send": "https://echo.test/ok" }] })).await.unwrap();
    assert!(said(&report)[0].starts_with("exhausted: refusals"), "{report:?}");
    assert_eq!(web.asked().len(), asked);
}

/// A platform that refuses and names no time, or none to speak of, is not asked as fast as it answers: the waits double.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_without_a_time_is_not_asked_again_at_once() {
    /// One that is believed, then waits of 100 ms, 200 ms, 400 ms and 800 ms fit into two seconds, and a few on the way.
    const MOST: usize = 8;
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    for (bucket, pause) in [("b", json!({ "after": 0, "bucket": "b" })), ("c", json!({ "bucket": "c" }))] {
        let before = web.asked().len();
        let steps = json!([{ "place": bucket }, { "send": "https://echo.test/ok" }]);
        let mut refused = request("steps", &json!({ "steps": steps, "end": { "retry": pause } }));
        refused.timeout = Some(Duration::from_secs(2));
        let report = desk.host.run(refused).await.unwrap();
        assert_eq!(report.ending.kind(), EndingKind::Retry, "{report:?}");
        let asked = web.asked().len() - before;
        assert!((2..=MOST).contains(&asked), "{bucket}: asked {asked} times");
    }
}

/// Buckets are kept by name, so a name that no `reserve` would take is the guest's failure.
#[tokio::test(flavor = "multi_thread")]
async fn a_pause_names_a_bucket_that_could_be_reserved() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    for bucket in [String::new(), "x".repeat(100_000)] {
        let report = desk.run("steps", &json!({ "end": { "retry": { "after": 5, "bucket": bucket } } })).await.unwrap();
        assert_eq!(report.ending.kind(), EndingKind::Retry, "{report:?}");
        assert!(report.notes.iter().any(|note| note.contains("bucket")), "{report:?}");
    }
}
