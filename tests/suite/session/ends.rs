//! How a session ends when it is told to, whatever happens to it meanwhile.

use std::time::Duration;

use jackfield::config::Environment;
use jackfield::connection::{Connection, Setup};
use jackfield::failpoint::Failpoint;
use jackfield_model::clock;
use jackfield_model::session::StopReason;
use jackfield_tests::embedded::Embedded;
use jackfield_tests::faults::{Answer, Faulty};
use jackfield_tests::processes::until;
use jackfield_tests::{guest, sandbox};
use tokio::sync::mpsc;

use super::with;

/// What a host says of a connection that it had to drop.
const FORCED: &str = "stop took too long";

/// The order to stop comes while a call is under way, and that call ends the session by itself.
#[test]
fn a_stop_holds_however_the_session_ends_meanwhile() {
    for fault in ["transient", "fatal"] {
        let (platform, home) = with(guest::SESSION_ECHO, "", "");
        let host = home.serve();
        let peer = platform.peer();
        peer.hears("hello fresh 0");
        peer.say(format!("busy 1500 {fault} it was too much"));
        until("the guest is busy", || home.log().contains("busy").then_some(()));
        assert!(host.stop().success());
        assert!(!home.log().contains(FORCED), "{fault}: {}", home.log());
        assert!(platform.another().is_none(), "{fault}: nothing starts again");
        let _host = home.serve();
        home.wait_state(if fault == "fatal" { "parked" } else { "ready" });
    }
}

/// The term, or the store, comes to its end while the session is being stopped: nothing starts again, and nobody waits.
#[test]
fn a_stop_holds_when_the_term_ends_meanwhile() {
    /// Far longer than a stop takes. Who forgets that it was told to stop waits for all of it.
    const GRACE: Duration = Duration::from_secs(40);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for end in [Answer::Fenced, Answer::Broken] {
        let (platform, home) = with(guest::SESSION_ECHO, "", "");
        let failpoint = Failpoint::default();
        let (config, environment) = (home.config(), Environment::process());
        let embedded = Embedded::new(&config, &environment, |_| sandbox::engine(), &failpoint);
        let Embedded { specs, store, .. } = runtime.block_on(embedded);
        let faults = Faulty::new(store);
        let (broken, _heard) = mpsc::unbounded_channel();
        let setup = Setup {
            spec: specs.into_iter().next().unwrap().into(),
            stores: faults.stores(),
            clock: clock::system(),
            failpoint,
            broken,
        };
        let connection = runtime.block_on(async { Connection::serve(setup) });
        let peer = platform.peer();
        peer.hears("hello fresh 0");
        faults.answer(Answer::Held);
        peer.say("say lane 1 unsettled");
        until("a commit is under way", || (faults.held() > 0).then_some(()));
        let began = std::time::Instant::now();
        // The order goes out first: a future is polled in its place.
        let stop = connection.stop(StopReason::Shutdown, GRACE);
        runtime.block_on(async { tokio::join!(stop, async { faults.answer(end) }) });
        assert!(began.elapsed() < GRACE / 2, "{end:?}: {:?}", began.elapsed());
        assert!(platform.another().is_none(), "{end:?}: nothing starts again");
    }
}

/// Marks that come one after the other do not put the end off: `stopping` is told in time, and the rest comes again.
#[test]
fn a_stop_waits_for_what_is_unsettled_once() {
    const LINES: usize = 20;
    let (platform, home) = with(guest::SESSION_ECHO, "", "limits = { transforms = 1 }");
    let host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    // So large that each is a batch of its own: a mark every second or so, for longer than a host may take to end.
    let ballast = "x".repeat(700_000);
    (1..=LINES).for_each(|id| peer.say(format!("say lane {id} slow 800 {ballast}")));
    peer.say("reply read");
    let _acks = peer.hears_at_last("read");
    assert!(host.stop().success());
    let said = peer.gone();
    assert_eq!(said.last().map(String::as_str), Some("bye"), "{said:?}");
    assert!(said.len() < LINES, "it did not wait for all of it: {said:?}");
    assert!(!home.log().contains(FORCED), "{}", home.log());
}

/// A connector that is not called any more, since nothing of what it submits would fit, is told that it ends.
#[test]
fn a_stop_is_told_under_overload() {
    /// Of these dispatches so many are a quarter more than memory and this inbox take together.
    const MUCH: u64 = (16 + 1) * 1024 / 64 / 4 * 5;
    let (platform, home) = with(guest::SESSION_ECHO, "", "limits = { inbox = \"1MiB\", transforms = 1 }");
    let host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("say pour 0 spin");
    peer.say("pour 600 65536");
    home.wait("it is not called any more", |status| status["counters"]["dispatches"].as_u64().unwrap() >= MUCH);
    assert!(host.stop().success());
    let said = peer.gone();
    assert_eq!(said.last().map(String::as_str), Some("bye"), "{said:?}");
    assert!(!home.log().contains(FORCED), "{}", home.log());
}

/// A request that is asked for in the last call is made, and waited for. One that hangs is not, and its label is free.
#[test]
fn what_is_asked_for_in_answer_to_stopping_is_done() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("fetch page https://echo.test/after/3600000");
    peer.say("last fetch page https://echo.test/farewell");
    peer.say("reply ready");
    peer.hears("ready");
    assert!(host.stop().success());
    assert_eq!(peer.gone(), ["bye"]);
    let requests = platform.requests();
    assert!(requests.iter().any(|request| request.starts_with("GET /farewell ")), "{requests:?}");
    assert!(!home.log().contains(FORCED), "{}", home.log());
}
