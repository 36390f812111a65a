//! Sessions, end to end: a real host, a real socket, a guest that does as it is told.
//!
//! The lines are those of `guests/src/line.rs`.

mod bounds;
mod ends;
mod order;

use jackfield_tests::guest::{self, Guest};
use jackfield_tests::has_test;
use jackfield_tests::platform::{Peer, Platform};
use jackfield_tests::processes::Home;
use serde_json::Value;

jackfield_tests::foreach_session!(has_test);

/// A platform, and a home for a host that serves this guest from it.
fn with(guest: Guest, config: &str, more: &str) -> (Platform, Home) {
    let platform = Platform::start();
    let folder = jackfield_tests::scratch();
    let home = Home::new(&platform.config(&guest.file(&folder), config, more));
    (platform, home)
}

/// Says this many lines in this many lanes, ids from 1.
fn say_many(peer: &Peer, lines: usize, lanes: usize) {
    for id in 1..=lines {
        peer.say(format!("say lane-{} {id} hello", id % lanes));
    }
}

/// The keys of events, in the order of the log.
fn keys(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["key"].as_str().unwrap().parse().unwrap()).collect()
}

#[test]
fn session_echo() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("say lane 1 hello");
    peer.hears("ack 1");
    let events = home.wait_events(1);
    assert_eq!(events[0]["name"], "x.echo.said");
    assert_eq!(events[0]["properties"]["text"], "hello");
    assert_eq!(events[0]["via"], "socket");
    let status = home.wait_state("ready");
    assert_eq!(status["sockets"]["main"]["open"], true, "{status:#}");
    peer.say("timer soon 20");
    peer.hears("elapsed soon");
    // One that is replaced comes once, one that is cancelled not at all.
    for line in ["timer never 50", "timer late 3600000", "timer late 60", "untimer never", "timer last 200"] {
        peer.say(line);
    }
    peer.hears("elapsed late");
    peer.hears("elapsed last");
    peer.say("set colour blue");
    peer.say("get colour");
    peer.hears("value blue");
    peer.say("meta {\"shoe\":\"left\"}");
    peer.say("report too-warm");
    let status = home.wait_state("degraded");
    assert_eq!(status["metadata"]["shoe"], "left");
    assert!(host.stop().success());
    assert_eq!(peer.gone(), ["bye"]);
}

#[test]
fn session_echo_fixed() {
    let (platform, home) = with(guest::SESSION_ECHO_FIXED, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("say lane 1 poison");
    peer.hears("ack 1");
    home.wait_events(1);
}

/// The instance is lost on every hundredth message; the socket, the order and the count are not.
#[test]
fn session_traps_on_the_100th_message() {
    const LINES: usize = 1_000;
    let (platform, home) = with(guest::SESSION_TRAPS_ON_THE_100TH_MESSAGE, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    say_many(&peer, LINES, 1);
    let expected: Vec<String> = (1..=LINES).map(|id| format!("ack {id}")).collect();
    assert_eq!(peer.hears_many(LINES), expected, "each is acknowledged once, in order");
    assert_eq!(keys(&home.wait_events(LINES)), (1..=LINES as u64).collect::<Vec<_>>());
    let status = home.connection();
    let counters = &status["counters"];
    assert!(counters["recoveries"].as_u64().unwrap() >= 9, "{status:#}");
    assert_eq!(counters["sockets_opened"], 1, "{status:#}");
    assert_eq!(counters["sessions"], 1, "{status:#}");
    assert_eq!(status["dead_letters"], 0);
    assert!(platform.another().is_none(), "nothing reconnects");
    peer.say("count");
    peer.hears(&format!("count {}", LINES + 1));
}

/// What a call asked for before it trapped is taken back: heard once, submitted once, set once.
#[test]
fn effects_of_a_call_that_traps_are_taken_back() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("twice-then-trap lane 7");
    peer.say("get twice");
    let mut heard = peer.hears_many(3);
    heard.sort();
    assert_eq!(heard, ["ack 7", "once 7", "value 7"]);
    peer.hears_nothing();
    assert_eq!(home.connection()["counters"]["runtime_traps"], 1);
}

/// A message that no instance takes is set aside after three tries; timers and the socket stay.
#[test]
fn a_message_that_always_traps_is_a_dead_letter() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "limits = { call = \"500ms\" }");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("timer alarm 3000");
    for bad in ["trap", "spin"] {
        peer.say("say lane 1 before");
        peer.say(bad);
        peer.say("say lane 2 after");
    }
    let mut heard = peer.hears_many(5);
    heard.sort();
    assert_eq!(heard, ["ack 1", "ack 1", "ack 2", "ack 2", "elapsed alarm"]);
    let letters = home.dead_letters();
    assert_eq!(letters.len(), 2, "{letters:#?}");
    for letter in &letters {
        assert_eq!((&letter["stage"], &letter["attempts"]), (&Value::from("runtime"), &Value::from(3)), "{letter:#}");
    }
    assert!(platform.another().is_none());
    home.wait_events(2);
}

#[test]
fn a_frame_over_the_limit_parks_the_connection() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "limits = { frame = \"64KiB\" }");
    let host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say(format!("say lane 1 {}", "x".repeat(60_000)));
    peer.hears("ack 1");
    peer.say(format!("say lane 2 {}", "x".repeat(100_000)));
    let status = home.wait_state("parked");
    assert!(status["cause"].as_str().unwrap().contains("frame"), "{status:#}");
    assert!(status["todo"].as_str().unwrap().contains("limits.frame"), "{status:#}");
    peer.gone();
    // A restart changes nothing about it, a changed limit does.
    assert!(host.stop().success());
    let host = home.serve();
    home.wait_state("parked");
    assert!(platform.another().is_none(), "it does not connect again");
    assert!(host.stop().success());
    let config = std::fs::read_to_string(home.config()).unwrap().replace("64KiB\" }", "1MiB\" }");
    home.write_config(&config);
    let _host = home.serve();
    platform.peer().hears("hello restart 1");
}

#[test]
fn what_start_says_is_what_status_shows() {
    for (start, state) in [("fatal", "parked"), ("not-configured", "idle"), ("transient", "waiting")] {
        let (platform, home) = with(guest::SESSION_ECHO, &format!("start = \"{start}\""), "");
        let _host = home.serve();
        let status = home.wait_state(state);
        assert!(status["cause"].as_str().unwrap().contains("the configuration says so"), "{status:#}");
        assert_eq!(status["todo"].is_string(), start == "fatal", "{status:#}");
        assert_eq!(status["next_start"].is_null(), start != "transient", "{status:#}");
        assert!(platform.another().is_none());
    }
}

/// `transient` backs off: the pauses grow, and being ready in between does not reset them.
#[test]
fn sessions_that_fail_again_and_again_back_off() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let _host = home.serve();
    let mut pauses = Vec::new();
    for round in 0..4 {
        let began = std::time::Instant::now();
        let peer = platform.peer();
        if round > 0 {
            pauses.push(began.elapsed());
        }
        assert!(peer.heard().starts_with("hello"));
        peer.close(4000);
    }
    // At least 1, 1, 2 s with jitter; never at once, however early a connection was fine.
    assert!(pauses[0].as_millis() >= 900 && pauses[2].as_millis() >= 1_900, "{pauses:?}");
    assert_eq!(home.connection()["counters"]["sessions"].as_u64().unwrap(), 4);
}

#[test]
fn faults_from_handle_do_what_was_asked_before_them() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("say lane 1 hello");
    peer.hears("ack 1");
    peer.say("fatal somebody has to look");
    let status = home.wait_state("parked");
    assert!(status["cause"].as_str().unwrap().contains("somebody has to look"), "{status:#}");
    peer.gone();
    home.wait_events(1);
}

/// More than the inbox takes is not read: the guest is told, and told again when it flows.
#[test]
fn a_full_inbox_holds_the_socket_and_lets_go_again() {
    const LINES: usize = 400;
    let (platform, home) = with(guest::SESSION_ECHO, "", "limits = { inbox = \"1MiB\", transforms = 1 }");
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    let ballast = "x".repeat(16_000);
    for id in 1..=LINES {
        // The first one keeps its lane waiting.
        let what = if id == 1 { "slow 1200".to_owned() } else { format!("hello {ballast}") };
        peer.say(format!("say lane {id} {what}"));
    }
    let mut heard = Vec::new();
    while heard.iter().filter(|line: &&String| line.starts_with("ack")).count() < LINES {
        heard.push(peer.heard());
    }
    let held = heard.iter().position(|line| line == "held").expect("it was held");
    let flowing = heard.iter().rposition(|line| line == "flowing").expect("it flows again");
    assert!(held < flowing);
    assert_eq!(keys(&home.wait_events(LINES)), (1..=LINES as u64).collect::<Vec<_>>(), "in order");
    assert!(platform.another().is_none());
}

/// A start after an end in order goes on from the checkpoint; so does one after a kill, and nothing is doubled.
#[test]
fn a_restart_goes_on_from_the_checkpoint() {
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    say_many(&peer, 3, 1);
    assert_eq!(peer.hears_many(3), ["ack 1", "ack 2", "ack 3"]);
    assert!(host.stop().success());
    let host = home.serve();
    let peer = platform.peer();
    peer.hears("hello restart 3");
    say_many(&peer, 5, 1);
    assert_eq!(peer.hears_many(5).len(), 5, "what was known already is acknowledged too");
    assert_eq!(home.connection()["counters"]["duplicates"], 3);
    host.kill();
    let _host = home.serve();
    let peer = platform.peer();
    assert!(peer.heard().starts_with("hello restart"));
    say_many(&peer, 6, 1);
    assert_eq!(peer.hears_many(6).len(), 6);
    assert_eq!(keys(&home.wait_events(6)), [1, 2, 3, 4, 5, 6]);
}

/// SIGTERM under load: what was read is settled, the rest comes again, and it takes seconds.
#[test]
fn report_q1_a_stop_under_load_is_quick_and_loses_nothing() {
    const LINES: usize = 1_000;
    let (platform, home) = with(guest::SESSION_ECHO, "", "");
    let host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    say_many(&peer, LINES, 7);
    let _first = peer.hears_many(10);
    let began = std::time::Instant::now();
    assert!(host.stop().success());
    assert!(began.elapsed().as_secs() < 12, "{:?}", began.elapsed());
    let _host = home.serve();
    let peer = platform.peer();
    assert!(peer.heard().starts_with("hello restart"));
    say_many(&peer, LINES, 7);
    let _all = peer.hears_many(LINES);
    let mut keys = keys(&home.wait_events(LINES));
    keys.sort_unstable();
    assert_eq!(keys, (1..=LINES as u64).collect::<Vec<_>>());
}
