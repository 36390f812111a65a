//! Actions that attack: floods, leaks, smuggled requests, stalled platforms, secrets carried out. The host goes on, others
//! don't notice, and the platform sees nothing that it should not.

use std::time::{Duration, Instant};

use jackfield_model::action::EndingKind;
use jackfield_tests::desk::{CANARY, Desk, config, request, said};
use jackfield_tests::guest::ACTION_STEPS;
use jackfield_tests::processes::Home;
use jackfield_tests::web::Web;
use serde_json::{Value, json};

/// How long a call of somebody else may take while one attacks. A quiet one takes a few milliseconds.
const UNDISTURBED: Duration = Duration::from_secs(2);

/// A host with two connections of the same connector: `echo`, which is attacked, and `neighbour`.
async fn two(web: &Web, more: &str) -> Desk {
    let file = ACTION_STEPS.file(&jackfield_tests::scratch());
    let (first, second) = (config(&file, web, more), config(&file, web, ""));
    let (_, second) = second.split_once("[[connection]]").unwrap();
    let second = second.replace("id = \"echo\"", "id = \"neighbour\"");
    Desk::at(Home::new(&format!("{first}\n[[connection]]{second}"))).await
}

/// Calls the neighbour so often, and says how long its slowest call took.
async fn neighbour(desk: &Desk, calls: usize) -> Duration {
    let mut slowest = Duration::ZERO;
    for _ in 0..calls {
        let mut quick = request("look", &json!({ "steps": [{ "place": "b" }, { "send": "https://echo.test/ok" }] }));
        quick.connection = "neighbour".parse().unwrap();
        let began = Instant::now();
        assert_eq!(desk.host.run(quick).await.unwrap().ending.kind(), EndingKind::Done);
        slowest = slowest.max(began.elapsed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    slowest
}

/// Runs these side by side on `echo`.
fn attack(desk: &Desk, calls: usize, steps: &Value, expected: EndingKind) -> tokio::task::JoinHandle<()> {
    let (host, args) = (desk.host.clone(), json!({ "steps": steps }));
    tokio::spawn(async move {
        let runs = (0..calls).map(|_| {
            let (host, request) = (host.clone(), request("steps", &args));
            tokio::spawn(async move { host.run(request).await.unwrap() })
        });
        for run in runs.collect::<Vec<_>>() {
            let report = run.await.unwrap();
            assert_eq!(report.ending.kind(), expected, "{report:?}");
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn case_11_memory_is_filled_for_ever_and_the_neighbour_goes_on() {
    let web = Web::start().await;
    let desk = two(&web, "limits = { call = \"1s\", actions = 2 }").await;
    let attack = attack(&desk, 4, &json!([{ "fill": 48 << 20 }]), EndingKind::Retry);
    let slowest = neighbour(&desk, 50).await;
    attack.await.unwrap();
    assert!(slowest < UNDISTURBED, "{slowest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn case_15_host_calls_of_an_action_are_counted() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let few = desk.run("steps", &json!({ "steps": [{ "calls": 1_000 }] })).await.unwrap();
    assert_eq!(few.ending.kind(), EndingKind::Done, "{few:?}");
    let many = desk.run("steps", &json!({ "steps": [{ "calls": 1_000_000 }] })).await.unwrap();
    assert_eq!(many.ending.kind(), EndingKind::Retry);
    assert!(many.notes.iter().any(|note| note.contains("host calls")), "{many:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn case_16_locks_that_are_never_dropped_meet_the_ceiling_and_are_freed() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let locks: Vec<Value> = (0..1_100).map(|key| json!({ "acquire": [format!("k{key}"), 900_000] })).collect();
    let report = desk.run("steps", &json!({ "steps": locks })).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Retry, "{:?}", report.notes);
    let again = desk.run("steps", &json!({ "steps": [locks[0], locks[1_000]] })).await.unwrap();
    assert!(said(&again).iter().all(|said| said.starts_with("fence ")), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn case_29_what_would_smuggle_is_refused() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let url = "https://echo.test/ok";
    let headers = [
        ("host", "elsewhere.test"),
        ("Content-Length", "0"),
        ("transfer-encoding", "chunked"),
        ("connection", "upgrade"),
        ("proxy-authorization", "x"),
        ("trailer", "x"),
        ("te", "trailers"),
        ("x-a", "b\r\nx-c: d"),
        ("x-a", "b\n c"),
        (":authority", "elsewhere.test"),
        ("x a", "b"),
        ("authorization", "Bearer mine"),
        ("cookie", "a=b"),
    ];
    let mut steps: Vec<Value> =
        headers.iter().map(|header| json!({ "send": { "url": url, "header": [header.0, header.1] } })).collect();
    for url in
        ["http://echo.test/ok", "https://echo.test:8443/ok", "*", "https://user@echo.test/", "https://other.test/"]
    {
        steps.push(json!({ "send": url }));
    }
    let count = steps.len();
    let report = desk.run("steps", &json!({ "steps": steps })).await.unwrap();
    let said = said(&report);
    assert_eq!(said.len(), count);
    for (step, said) in steps.iter().zip(said) {
        assert!(said.starts_with("invalid") || said.starts_with("denied"), "{step}: {said}");
    }
    assert_eq!(web.asked().len(), 0);
    // What would break out of the path stays in it.
    desk.run("steps", &json!({ "steps": [{ "send": "https://echo.test/ok HTTP/1.1\r\nx: y" }] })).await.unwrap();
    for asked in web.asked() {
        assert_eq!(asked.whole.matches("HTTP/1.1").count(), 1, "{}", asked.whole);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn case_28_a_redirect_is_an_answer() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let report = desk.run("steps", &json!({ "steps": [{ "send": "https://echo.test/redirect" }] })).await.unwrap();
    assert!(said(&report)[0].starts_with("sent 302"), "{report:?}");
    assert_eq!(web.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn case_33_a_stalled_platform_takes_no_more_than_its_share() {
    let web = Web::start().await;
    let desk = two(&web, "limits = { action = \"10s\", actions = 64 }").await;
    // Each of them gets an answer, if only that there is none.
    let attack = attack(&desk, 100, &json!([{ "send": "https://echo.test/stall" }]), EndingKind::Done);
    let stalled = || web.asked().iter().filter(|asked| asked.line.ends_with("/stall")).count();
    while stalled() < 16 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let slowest = neighbour(&desk, 20).await;
    assert!(slowest < UNDISTURBED, "{slowest:?}");
    // The others wait for their turn; those that stall give theirs back only at the end of their time.
    assert!(attack.is_finished() || stalled() == 16, "{}", stalled());
    attack.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn case_35_a_secret_can_not_be_carried_out() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let echoed = json!({ "send": { "url": "https://echo.test/ok", "method": "post", "secret": "header" } });
    let placeholder = "{{secret:canary}}";
    let in_path = json!({ "send": { "url": format!("https://echo.test/ok/{placeholder}"), "secret": "url" } });
    let in_body =
        json!({ "send": { "url": "https://echo.test/ok", "method": "post", "body": placeholder, "secret": "body" } });
    let report =
        desk.run("steps", &json!({ "steps": [echoed, in_path, in_body], "ids": [placeholder] })).await.unwrap();
    assert!(web.asked().iter().all(|asked| asked.whole.contains(CANARY)), "it was sent where it may go");
    assert!(!format!("{report:?}").contains(CANARY), "{report:?}");
    let elsewhere = json!({ "send": { "url": "https://plain.test/ok", "secret": "header" } });
    let report = desk.run("steps", &json!({ "steps": [elsewhere] })).await.unwrap();
    assert!(said(&report)[0].starts_with("denied"), "{report:?}");
    let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
    assert!(!format!("{row:?}").contains(CANARY), "{row:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn case_61_a_placeholder_in_an_argument_stays_text() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let text = "look: {{secret:canary}}";
    let steps = json!([
        { "send": { "url": "https://echo.test/ok", "method": "post", "body": text, "secret": "header" } },
        { "send": { "url": "https://echo.test/ok?q={{secret:canary}}", "method": "post", "header": ["x-text", text] } },
        { "set": ["note", text] }, { "get": "note" }
    ]);
    let report = desk.run("steps", &json!({ "steps": steps, "ids": [text] })).await.unwrap();
    let asked = web.asked();
    assert!(asked[0].whole.ends_with(text), "{}", asked[0].whole);
    assert!(asked[1].whole.contains(&format!("x-text: {text}")), "{}", asked[1].whole);
    assert!(!asked[1].whole.contains(CANARY), "{}", asked[1].whole);
    assert_eq!(asked[0].whole.matches(CANARY).count(), 1, "in its header alone: {}", asked[0].whole);
    assert_eq!(said(&report)[3], text);
    assert_eq!(report.ending.outcome().unwrap().provider_ids, [text]);
}
