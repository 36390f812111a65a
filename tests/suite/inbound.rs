//! From dispatch to event: lanes, poison, dead letters, the inbox, dedupe, and what a store can't take.

mod store;

use jackfield_tests::guest::{self, Guest};
use jackfield_tests::platform::{Peer, Platform};
use jackfield_tests::processes::{Home, Serve, until};
use serde_json::Value;

/// A home, its platform, and the helpful guest's configuration with this added.
fn with(more: &str) -> (Platform, Home) {
    let platform = Platform::start();
    let home = Home::new(&config(&platform, guest::SESSION_ECHO, more));
    (platform, home)
}

fn config(platform: &Platform, guest: Guest, more: &str) -> String {
    platform.config(&guest.file(&jackfield_tests::scratch()), "", more)
}

fn serve<'a>(platform: &Platform, home: &'a Home) -> (Serve<'a>, Peer) {
    let host = home.serve();
    let peer = platform.peer();
    assert!(peer.heard().starts_with("hello"));
    (host, peer)
}

fn key(event: &Value) -> &str {
    event["key"].as_str().unwrap()
}

#[test]
fn case_53_poison_is_a_dead_letter_after_three_tries_and_others_flow() {
    let (platform, home) = with("");
    let (_host, peer) = serve(&platform, &home);
    for id in 1..=10 {
        let text = if id == 4 { "poison" } else { "hello" };
        peer.say(format!("say lane {id} {text}"));
    }
    let mut acks = peer.hears_many(10);
    acks.sort();
    assert_eq!(acks.len(), 10, "poison is acknowledged too: it is settled");
    let events = home.wait_events(9);
    assert!(events.iter().map(key).eq(["1", "2", "3", "5", "6", "7", "8", "9", "10"]), "in order around it");
    let letters = home.dead_letters();
    assert_eq!(letters.len(), 1);
    assert_eq!(
        (&letters[0]["stage"], &letters[0]["attempts"]),
        (&Value::from("transform"), &Value::from(3)),
        "{letters:#?}"
    );
    assert!(letters[0]["digest"].as_str().unwrap().starts_with("sha256:"));
    let shown = home.json(&["dead-letters", "show", &letters[0]["id"].to_string(), "--raw"]);
    assert!(shown.to_string().contains("say lane 4 poison"), "the bytes are kept: {shown:#}");
}

/// 99 good ones and a bad one: 99 through, one parked; after a fix it is redriven, late.
#[test]
fn report_q3_one_bad_among_a_hundred() {
    let (platform, home) = with("");
    let (host, peer) = serve(&platform, &home);
    for id in 1..=100 {
        peer.say(format!("say lane {id} {}", if id == 37 { "poison" } else { "good" }));
    }
    let _acks = peer.hears_many(100);
    home.wait_events(99);
    let letters = home.dead_letters();
    assert_eq!(letters.len(), 1);
    let id = letters[0]["id"].to_string();

    // Without a fix it comes back.
    let _ = home.json(&["dead-letters", "redrive", &id]);
    until("it died again", || {
        let letters = home.dead_letters();
        (letters.len() == 1 && letters[0]["id"].to_string().as_str() != id.as_str()).then_some(())
    });

    assert!(host.stop().success());
    home.write_config(&config(&platform, guest::SESSION_ECHO_FIXED, ""));
    let (_host, peer) = serve(&platform, &home);
    peer.say("say lane 101 later");
    peer.hears("ack 101");
    let id = home.dead_letters()[0]["id"].to_string();
    let _ = home.json(&["dead-letters", "redrive", &id]);
    let events = home.wait_events(101);
    let last = events.last().unwrap();
    assert_eq!((key(last), &last["late"]), ("37", &Value::from(true)), "{last:#}");
    assert!(home.dead_letters().is_empty());
    assert_ne!(events[0]["transformed_by"], last["transformed_by"], "each says which code made it");
}

#[test]
fn lanes_keep_their_order_and_run_side_by_side() {
    const LANES: usize = 8;
    const LINES: usize = 800;
    let (platform, home) = with("");
    let (_host, peer) = serve(&platform, &home);
    for id in 0..LINES {
        let text = if id % LANES == 0 { "slow 1" } else { "quick" };
        peer.say(format!("say lane-{} {id} {text}", id % LANES));
    }
    let _acks = peer.hears_many(LINES);
    let events = home.wait_events(LINES);
    for lane in 0..LANES {
        let of_lane = events.iter().filter(|event| event["lane"] == format!("lane-{lane}").as_str());
        let keys: Vec<usize> = of_lane.map(|event| key(event).parse().unwrap()).collect();
        assert_eq!(keys, (lane..LINES).step_by(LANES).collect::<Vec<_>>(), "lane {lane}");
    }
}

/// What transform is slow with waits in the inbox, with all that follows in its lane; other lanes go on.
#[test]
fn a_slow_lane_waits_in_the_inbox_and_holds_up_nobody_else() {
    let (platform, home) = with("");
    let (_host, peer) = serve(&platform, &home);
    peer.say("say slow 1 slow 1500");
    for id in 2..=5 {
        peer.say(format!("say slow {id} behind it"));
    }
    for id in 11..=15 {
        peer.say(format!("say quick {id} beside it"));
    }
    assert_eq!(peer.hears_many(5), ["ack 11", "ack 12", "ack 13", "ack 14", "ack 15"]);
    home.wait("rows in the inbox", |connection| connection["inbox"]["rows"].as_u64().unwrap() >= 5);
    assert_eq!(peer.hears_many(5), ["ack 1", "ack 2", "ack 3", "ack 4", "ack 5"]);
    let events = home.wait_events(10);
    assert!(events.iter().map(key).skip(5).eq(["1", "2", "3", "4", "5"]));
    home.wait("an empty inbox", |connection| connection["inbox"]["rows"] == 0);
}

/// Attempts are counted on disk: who dies three times is a dead letter, however often the host was killed in between.
#[test]
fn attempts_survive_a_kill() {
    let (platform, home) = with("limits = { call = \"3s\" }");
    let (host, peer) = serve(&platform, &home);
    peer.say("say lane 1 spin");
    peer.say("say lane 2 behind it");
    // The second failure comes a whole deadline after the first, which is on disk by then.
    home.wait("two failures", |connection| connection["counters"]["transform_traps"].as_u64().unwrap() >= 2);
    host.kill();
    let host = home.start();
    until("the dead letter", || {
        home.run(&["status"]).status.success().then(|| home.dead_letters()).filter(|letters| letters.len() == 1)
    });
    assert_eq!(home.dead_letters()[0]["attempts"], 3);
    let traps = home.connection()["counters"]["transform_traps"].as_u64().unwrap();
    assert!(traps < 3, "it was not given three more tries: {traps}");
    home.wait_events(1);
    assert!(host.stop().success());
}

#[test]
fn what_is_known_already_is_acknowledged_and_not_repeated() {
    let (platform, home) = with("");
    let (host, peer) = serve(&platform, &home);
    for _ in 0..3 {
        peer.say("say lane 1 the same");
    }
    assert_eq!(peer.hears_many(3), ["ack 1", "ack 1", "ack 1"]);
    home.wait_events(1);
    assert_eq!(home.connection()["counters"]["duplicates"], 2);
    // The memory of it is durable.
    host.kill();
    let (_host, peer) = serve(&platform, &home);
    peer.say("say lane 1 the same");
    peer.hears("ack 1");
    home.wait_events(1);
}

#[test]
fn what_transform_says_is_counted_by_its_reason() {
    let (platform, home) = with("");
    let (_host, peer) = serve(&platform, &home);
    peer.say("say lane 1 ignored");
    peer.say("say lane 2 malformed nonsense");
    assert_eq!(peer.hears_many(2), ["ack 1", "ack 2"]);
    let status = home.wait("a dead letter", |connection| connection["dead_letters"] == 1);
    assert_eq!(status["ignored"]["asked"], 1, "{status:#}");
    let letters = home.dead_letters();
    assert_eq!((&letters[0]["stage"], &letters[0]["attempts"]), (&Value::from("transform"), &Value::from(1)));
    assert!(letters[0]["error"].as_str().unwrap().contains("nonsense"), "{letters:#?}");
}

/// Too deep, not JSON, not an object: dead letters with the stage `ingest`. The host lives, others pass.
#[test]
fn case_14_report_q11_properties_that_no_store_takes() {
    let (platform, home) = with("");
    let (_host, peer) = serve(&platform, &home);
    let wide: String = (0..20_000).map(|number| format!("\"k{number}\":{number},")).collect();
    let texts = [
        "deep 5000".to_owned(),
        "deep 100000".to_owned(),
        "raw [1,2]".to_owned(),
        "raw {\"half\":".to_owned(),
        "raw nothing like it".to_owned(),
        "deep 100".to_owned(),
        "raw {\"n\":1e400,\"n\":12345678901234567890123456789012345678901234567890}".to_owned(),
        format!("raw {{{wide}\"last\":1}}"),
        "hello".to_owned(),
    ];
    for (id, text) in texts.iter().enumerate() {
        peer.say(format!("say lane-{id} {id} {text}"));
    }
    let _acks = peer.hears_many(texts.len());
    let letters = home.dead_letters();
    assert!(letters.iter().all(|letter| letter["stage"] == "ingest"), "{letters:#?}");
    // As text: a reader of JSON that has no such numbers would fail, and one that rounds them would hide it.
    let events = home.run(&["events", "--output", "json"]);
    let events = String::from_utf8(events.stdout).unwrap();
    for kept in ["1e400", "12345678901234567890123456789012345678901234567890", "\"text\":\"hello\"", "\"k19999\""] {
        assert!(events.contains(kept), "{kept} was kept, digit for digit");
    }
    assert_eq!(letters.len(), 5, "{letters:#?}");
    assert!(home.wait_state("ready")["counters"]["runtime_traps"] == 0);
}

#[test]
fn report_q6_characters_that_no_store_takes_are_replaced_and_flagged() {
    let (platform, home) = with("");
    let (_host, peer) = serve(&platform, &home);
    for id in 1..=10 {
        let odd = "raw {\"te\\u0000xt\":\"a\\u0000b\\ud83d!\"}";
        peer.say(format!("say lane {id} {}", if id == 5 { odd } else { "hello" }));
    }
    let _acks = peer.hears_many(10);
    let events = home.wait_events(10);
    let flagged: Vec<&str> = events.iter().filter(|event| event["sanitized"] == true).map(key).collect();
    assert_eq!(flagged, ["5"]);
    assert_eq!(events[4]["properties"], serde_json::json!({ "te\u{fffd}xt": "a\u{fffd}b\u{fffd}!" }));
}

/// Killed when a dead letter is written and nobody knows it yet. The platform says again what was not acknowledged, and that is
/// counted on the letter.
#[test]
fn case_49_a_dead_letter_is_listed_once() {
    let (platform, mut home) = with("");
    home.set("JACKFIELD_FAILPOINT", "after-commit-before-answer:1");
    {
        let host = home.serve();
        let peer = platform.peer();
        assert!(peer.heard().starts_with("hello"));
        peer.say("say lane 1 malformed nonsense");
        assert!(!host.ended().success(), "it killed itself");
        assert_eq!(peer.gone(), Vec::<String>::new(), "nothing was acknowledged");
    }
    home.set("JACKFIELD_FAILPOINT", "settled:1000000");
    let (_host, peer) = serve(&platform, &home);
    peer.say("say lane 1 malformed nonsense");
    peer.hears("ack 1");
    let letters = home.dead_letters();
    assert_eq!(letters.len(), 1, "{letters:#?}");
    assert_eq!(letters[0]["repeats"], 1, "{letters:#?}");
    let status = home.connection();
    let counters = &status["counters"];
    assert_eq!((&counters["dead_letters"], &counters["duplicates"]), (&Value::from(0), &Value::from(1)), "{status:#}");
}
