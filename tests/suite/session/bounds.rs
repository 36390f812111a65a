//! Where a session is stopped: requests of one label, submits without end, metadata without end.

use jackfield_tests::guest;
use serde_json::Value;

use super::with;

/// A request is under way until its end was told, so its label is not free before.
#[test]
fn a_request_is_under_way_until_its_end_is_told() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("fetch page https://echo.test/after/600");
    peer.say("reply asked");
    peer.hears("asked");
    // While it is busy the request ends, behind a full batch that begins with another request of the label.
    peer.say("busy 1500 reply done");
    peer.say("fetch page https://echo.test/second");
    (0..100).for_each(|number| peer.say(format!("reply {number}")));
    let heard = peer.hears_many(103);
    let of_label: Vec<&String> = heard.iter().filter(|line| line.split(' ').nth(1) == Some("page")).collect();
    let [refused, fetched] = of_label.as_slice() else { panic!("{of_label:?}") };
    assert!(refused.starts_with("failed page ") && refused.contains("under way"), "{refused}");
    assert!(fetched.starts_with("fetched page 200 GET /after/600"), "{fetched}");
    peer.say("fetch page https://echo.test/third");
    assert!(peer.heard().starts_with("fetched page 200 GET /third"), "now it is free");
    assert_eq!(platform.requests().len(), 2);
}

/// A request that is given up says so once, and the next one of its label is told.
#[test]
fn a_cancelled_request_does_not_hide_the_next_of_its_label() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    for round in 0..5 {
        peer.say("fetch page https://echo.test/after/3600000");
        peer.say("cancel page");
        assert!(peer.heard().starts_with("failed page cancelled"));
        peer.say(format!("fetch page https://echo.test/{round}"));
        assert!(peer.heard().starts_with(&format!("fetched page 200 GET /{round} ")));
    }
}

/// A request that is given up after it ended, and before that was told, says that it was given up. So it does where the call that
/// was to be told of it is lost.
#[test]
fn a_request_that_is_given_up_before_its_end_is_told_says_so() {
    for behind in [64, 0] {
        let (platform, home) = with(guest::SESSION_ECHO, "", "");
        let _host = home.serve();
        let peer = platform.peer();
        peer.hears("hello fresh 0");
        peer.say("fetch page https://echo.test/after/600");
        peer.say("reply asked");
        peer.hears("asked");
        peer.say("busy 1500 reply done");
        peer.say("cancel page");
        peer.say(if behind > 0 { "reply not lost" } else { "twice-then-trap lane 7" });
        (0..behind).for_each(|number| peer.say(format!("reply {number}")));
        let said = peer.hears_many(3 + behind);
        assert!(said.iter().any(|line| line.starts_with("failed page cancelled")), "{said:#?}");
        assert_eq!(home.connection()["counters"]["runtime_traps"], u64::from(behind == 0));
        assert_eq!(platform.requests().len(), 1, "it did end by itself");
    }
}

/// A connector that submits without reading is not called beyond what fits; it goes on when there is room.
#[test]
fn a_connector_that_only_submits_is_not_called_beyond_the_ceiling() {
    const COUNT: u64 = 600;
    const BYTES: u64 = 64 * 1024;
    /// What fits into memory (16 MiB) and the inbox is not too much yet. A quarter more is, in memory or in all; as much may be
    /// handed over before that is known.
    const TAKEN: std::ops::RangeInclusive<u64> = 300..=410;
    let (platform, home) =
        with(guest::SESSION_ECHO, "", "limits = { call = \"3s\", inbox = \"1MiB\", transforms = 1 }");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    // Holds the lane up until it is given up, three deadlines later.
    peer.say("say pour 0 spin");
    peer.say(format!("pour {COUNT} {BYTES}"));
    let mut most = 0;
    let dispatches = |status: &Value| status["counters"]["dispatches"].as_u64().unwrap();
    home.wait("the lane goes on", |status| {
        let held_up = status["counters"]["transform_traps"].as_u64().unwrap() < 3;
        most = if held_up { most.max(dispatches(status)) } else { most };
        !held_up
    });
    assert!(TAKEN.contains(&most), "{most} dispatches of {COUNT} were taken");
    home.wait("everything is settled", |status| status["counters"]["events"] == COUNT);
}

/// A connector that always has something to do does not keep the thread that it runs on: what it says is written, and it is told
/// of what happens beside its timers.
#[test]
fn a_connector_that_is_never_idle_leaves_others_their_turn() {
    /// Several times the frames that may wait to be written.
    const WORDS: usize = 30_000;
    let (platform, mut home) = with(guest::SESSION_ECHO, "", "");
    // One thread for everything that does not block.
    home.set("TOKIO_WORKER_THREADS", "1");
    let host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say(format!("chant {WORDS}"));
    peer.say("say lane 1 hello");
    peer.say("fetch page https://echo.test/");
    let (words, beside): (Vec<_>, Vec<_>) =
        peer.hears_at_last("chant 0").into_iter().partition(|line| line.starts_with("chant "));
    assert!(words.iter().cloned().eq((1..=WORDS).rev().map(|left| format!("chant {left}"))), "each in its turn");
    assert!(beside.iter().any(|line| line == "ack 1"), "{beside:?}");
    assert!(beside.iter().any(|line| line.starts_with("fetched page 200 ")), "{beside:?}");
    assert!(host.stop().success());
    assert_eq!(peer.gone(), ["bye"]);
}

/// Status shows metadata whole, so it is bounded.
#[test]
fn metadata_beyond_its_ceiling_is_refused_and_counted() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    for (key, bytes) in [("a", 40_000), ("b", 40_000), ("c", 20_000), ("a", 10)] {
        peer.say(format!("meta {{\"{key}\":\"{}\"}}", "x".repeat(bytes)));
    }
    peer.say("reply done");
    peer.hears("done");
    let status = home.connection();
    let lengths: Vec<(String, usize)> = status["metadata"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.clone(), value.as_str().unwrap().len()))
        .collect();
    assert_eq!(lengths, [("a".to_owned(), 10), ("c".to_owned(), 20_000)]);
    assert_eq!(status["drops"]["metadata-too-large"], 1, "{status:#}");
}

/// A dispatch over the limit is refused, to the connector; for everybody else it is counted and logged.
#[test]
fn a_dispatch_beyond_the_limit_is_counted_and_logged() {
    const BYTES: usize = 1_200_000;
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    // The bytes of a signal, and bytes of the guest's own.
    peer.say(format!("say lane 7 {}", "x".repeat(BYTES)));
    assert!(peer.heard().starts_with("failed 7 "));
    peer.say(format!("pour 1 {BYTES}"));
    assert!(peer.heard().starts_with("failed 1 "));
    peer.say("say lane 8 small");
    peer.hears("ack 8");
    let status = home.connection();
    assert_eq!(status["drops"]["dispatch-too-large"], 2, "{status:#}");
    assert_eq!((&status["counters"]["dispatches"], &status["dead_letters"]), (&Value::from(1), &Value::from(0)));
    assert_eq!(home.log().matches("dispatch too large").count(), 2, "{}", home.log());
}
