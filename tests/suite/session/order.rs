//! What a call is told, and when: timers behind what was received, nothing of what was taken back.

use jackfield_tests::guest;
use jackfield_tests::processes::until;

use super::with;

/// A full batch in the queue, and most of another between the socket and the session.
const BACKLOG: usize = 120;

/// While the guest is busy its timer comes due. All that was there by then is told first, whether it waits in the queue or
/// still before it.
#[test]
fn a_timer_elapses_behind_what_was_received_before_it() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("timer alarm 1500");
    peer.say("reply set");
    peer.hears("set");
    peer.say("busy 2500 reply done");
    (1..=BACKLOG).for_each(|number| peer.say(format!("reply {number}")));
    let heard = peer.hears_many(BACKLOG + 2);
    let expected = (1..=BACKLOG).map(|number| number.to_string());
    assert!(
        heard.iter().cloned().eq(["done".to_owned()].into_iter().chain(expected).chain(["elapsed alarm".to_owned()])),
        "{heard:#?}"
    );
}

/// More keeps coming than the guest can take: its timer waits for what was there, not for what comes later.
#[test]
fn a_timer_does_not_wait_for_what_is_received_after_it() {
    const LINES: usize = 1_000;
    /// The rest of the batch that it is set in, a batch in the queue, one before it, and what the reader has in its hand.
    const BETWEEN_MAX: usize = 4 * 64;
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("beat 0");
    (1..=LINES).for_each(|number| peer.say(format!("reply {number}")));
    peer.say("untimer beat 0");
    let mut between = vec![0];
    loop {
        let line = peer.heard();
        if line == "elapsed beat 0" {
            between.push(0);
        } else {
            *between.last_mut().unwrap() += 1;
        }
        if line == LINES.to_string() {
            break;
        }
    }
    assert!(between.iter().all(|lines| *lines <= BETWEEN_MAX), "{between:?}");
}

/// Heartbeats go on while the inbox is full and nothing is read.
#[test]
fn a_timer_elapses_while_the_socket_is_held() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "limits = { inbox = \"1MiB\", transforms = 1 }");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("beat 50");
    // Holds the lane up for several deadlines.
    peer.say("say lane 0 spin");
    let ballast = "x".repeat(16_000);
    (1..=400).for_each(|id| peer.say(format!("say lane {id} {ballast}")));
    let before = peer.hears_at_last("held");
    assert!(before.iter().all(|line| line == "elapsed beat 50"), "{before:#?}");
    // It is received, and not taken in as long as the lane is held up: no timer waits for it.
    peer.say("reply held back");
    (0..20).for_each(|_| peer.hears("elapsed beat 50"));
}

/// That a socket is held is told at once, though nothing else is to be told.
#[test]
fn held_is_told_while_nothing_else_happens() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "limits = { inbox = \"1MiB\", transforms = 1 }");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("say lane 0 spin");
    let ballast = "x".repeat(16_000);
    (1..=400).for_each(|id| peer.say(format!("say lane {id} {ballast}")));
    peer.hears("held");
}

/// What a socket had to say while the very call ran that ends it, or opens another in its place, is nobody's.
#[test]
fn a_socket_that_is_taken_back_is_not_told() {
    for ends in ["close 4001", "open main wss://echo.test/"] {
        let (platform, home) = with(guest::SESSION_ECHO, "closed = \"reopen\"", "");
        let _host = home.serve();
        let peer = platform.peer();
        peer.hears("hello fresh 0");
        peer.say(format!("busy 1500 {ends}"));
        until("the guest is busy", || home.log().contains("busy").then_some(()));
        peer.say("reply lost");
        assert_eq!(peer.gone(), Vec::<String>::new(), "{ends}");
        // It has handled one line so far.
        platform.peer().hears("hello reopened 1");
    }
}

/// A call ends a socket or opens another in its place, and traps. When it comes again, signal by signal, nothing of the old
/// socket is told any more.
#[test]
fn a_socket_that_is_taken_back_is_not_told_again_after_a_trap() {
    for ends in ["close 4001", "open main wss://echo.test/"] {
        let (platform, home) = with(guest::SESSION_ECHO, "closed = \"reopen\"", "");
        let _host = home.serve();
        let peer = platform.peer();
        peer.hears("hello fresh 0");
        peer.say("busy 1500 reply told");
        peer.say(ends);
        peer.say("twice-then-trap lane 7");
        assert_eq!(peer.gone(), ["told"], "{ends}");
        assert_eq!(home.connection()["counters"]["runtime_traps"], 1, "{ends}: both were told in one call");
        let peer = platform.peer();
        assert!(peer.heard().starts_with("hello"), "{ends}");
        peer.say("get twice");
        peer.hears("value -");
    }
}

/// A timer elapses during the very call that takes it back.
#[test]
fn a_timer_that_is_taken_back_is_not_told() {
    for ends in ["untimer alarm", "timer alarm 3600000"] {
        let (platform, home) = with(guest::SESSION_ECHO, "", "");
        let _host = home.serve();
        let peer = platform.peer();
        peer.hears("hello fresh 0");
        peer.say("timer alarm 300");
        peer.say("reply set");
        peer.hears("set");
        peer.say(format!("busy 1500 {ends}"));
        peer.say("reply end");
        peer.hears("end");
        peer.hears_nothing();
    }
}

/// A timer that had elapsed is taken back by a call that traps, and is not told when that comes again.
#[test]
fn a_timer_that_is_taken_back_is_not_told_again_after_a_trap() {
    for ends in ["untimer alarm", "timer alarm 3600000"] {
        let (platform, home) = with(guest::SESSION_ECHO, "", "");
        let _host = home.serve();
        let peer = platform.peer();
        peer.hears("hello fresh 0");
        peer.say("timer alarm 300");
        peer.say("reply set");
        peer.hears("set");
        peer.say("busy 1500 reply told");
        peer.say(ends);
        peer.say("twice-then-trap lane 8");
        peer.say("reply end");
        let mut said = peer.hears_many(4);
        said.sort();
        assert_eq!(said, ["ack 8", "end", "once 8", "told"], "{ends}");
        peer.hears_nothing();
        assert_eq!(home.connection()["counters"]["runtime_traps"], 1, "{ends}: all of it was told in one call");
    }
}
