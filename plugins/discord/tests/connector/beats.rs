//! Heartbeats: when they go, what they carry, and what their silence means.

use jackfield_discord::runtime::{SOCKET, timer};
use jackfield_sdk::runtime::Signal;

use crate::stage::{Effect, Stage, message};

const INTERVAL_MS: u64 = 41_250;
const ACK: &str = r#"{"op":11}"#;

fn last_beat(stage: &Stage) -> String {
    let beats = stage.desk.effects.iter().rev().find_map(|effect| match effect {
        Effect::Send(frame, _) if frame.starts_with(r#"{"op":1,"#) => Some(frame.clone()),
        _ => None,
    });
    beats.expect("a heartbeat")
}

fn beats(stage: &Stage) -> usize {
    stage.count(|effect| matches!(effect, Effect::Send(frame, _) if frame.starts_with(r#"{"op":1,"#)))
}

#[test]
fn the_first_beat_is_spread_over_the_interval_and_the_others_follow_it() {
    let mut waits = Vec::new();
    for seed in 0..40 {
        let mut stage = Stage::seeded("{}", seed);
        stage.go_ready();
        let first = stage.elapse(timer::BEAT).unwrap();
        assert!(first <= INTERVAL_MS);
        waits.push(first);
        stage.frame(ACK).unwrap();
        assert_eq!(stage.elapse(timer::BEAT).unwrap(), INTERVAL_MS);
    }
    let spread = waits.iter().max().unwrap() - waits.iter().min().unwrap();
    assert!(spread > INTERVAL_MS / 2, "{waits:?}");
}

#[test]
fn one_missed_acknowledgement_costs_one_reconnect_that_resumes() {
    let mut stage = Stage::ready();
    stage.clear();
    stage.elapse(timer::BEAT).unwrap();
    stage.elapse(timer::BEAT).unwrap();
    assert!(stage.desk.effects.contains(&Effect::Close(None)), "without a code: the session has to live on");
    stage.assert_reported("connecting");
    stage.elapse(timer::RECONNECT).unwrap();
    stage.greet(41_250);
    assert!(stage.last_sent().contains(r#""op":6,"#));
    stage.frame(r#"{"op":0,"t":"RESUMED","s":3,"d":{}}"#).unwrap();
    // The new socket owes nothing for the old one: an hour of good behaviour changes nothing.
    for _ in 0..90 {
        stage.elapse(timer::BEAT).unwrap();
        stage.frame(ACK).unwrap();
    }
    assert_eq!((stage.opens(), stage.resumes(), stage.identifies()), (1, 1, 0));
    stage.assert_reported("ready");
}

#[test]
fn an_asked_for_beat_goes_at_once_and_judges_nothing() {
    let mut stage = Stage::ready();
    stage.elapse(timer::BEAT).unwrap();
    let sent = beats(&stage);
    stage.frame(r#"{"t":null,"s":null,"op":1,"d":null}"#).unwrap();
    assert_eq!(beats(&stage), sent + 1);
    assert_eq!(stage.opens(), 1, "the missing acknowledgement was not judged");
    stage.frame(ACK).unwrap();
    stage.elapse(timer::BEAT).unwrap();
    assert_eq!(stage.opens(), 1);
}

#[test]
fn a_beat_acknowledges_only_what_is_settled() {
    let mut stage = Stage::ready();
    for seq in 3..=6 {
        stage.frame(&message(seq, 1_000 + seq)).unwrap();
    }
    let marks: Vec<String> = stage.submitted().into_iter().filter_map(|dispatch| dispatch.mark).collect();
    assert_eq!(marks, ["1:2", "1:3", "1:4", "1:5", "1:6"]);
    let mut beat_after = |settled: &[&str]| {
        let settled = settled.iter().map(|mark| (*mark).to_owned()).collect();
        stage.give(vec![Signal::Committed(settled)]).unwrap();
        stage.elapse(timer::BEAT).unwrap();
        stage.frame(ACK).unwrap();
        last_beat(&stage)
    };
    assert_eq!(beat_after(&[]), r#"{"op":1,"d":1}"#);
    assert_eq!(beat_after(&["1:3", "1:5"]), r#"{"op":1,"d":1}"#);
    assert_eq!(beat_after(&["1:2"]), r#"{"op":1,"d":3}"#);
    assert_eq!(beat_after(&["0:4", "2:4", "nonsense", ""]), r#"{"op":1,"d":3}"#);
    assert_eq!(beat_after(&["1:4", "1:6"]), r#"{"op":1,"d":6}"#);
}

#[test]
fn silence_is_not_judged_while_the_host_does_not_read() {
    let mut stage = Stage::ready();
    stage.elapse(timer::BEAT).unwrap();
    stage.give(vec![Signal::Held(SOCKET.to_owned())]).unwrap();
    for _ in 0..5 {
        stage.elapse(timer::BEAT).unwrap();
    }
    stage.give(vec![Signal::Flowing(SOCKET.to_owned())]).unwrap();
    stage.elapse(timer::BEAT).unwrap();
    assert_eq!(stage.opens(), 1);
    // From here on it counts again.
    stage.elapse(timer::BEAT).unwrap();
    assert!(stage.desk.effects.contains(&Effect::Close(None)));
}
