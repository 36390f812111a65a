//! Sessions that keep dying. Discord resets the token of a bot that identifies a thousand times a day.

use jackfield_discord::runtime::FETCH_GATEWAY;
use jackfield_sdk::runtime::{SessionFault, StartFault};

use crate::stage::{GUILD, READY, Socket, Stage, gateway_bot};

/// What a broken Discord does with a resume.
#[derive(Clone, Copy, Debug)]
enum Resumes {
    /// It does not know the session.
    Invalid,
    /// It closes at once.
    Closed,
    /// It resumes, and then closes.
    ResumedThenClosed,
}

const HOUR_MS: u64 = 3_600_000;

/// Plays a gateway that says READY, GUILD_CREATE and closes with 4002, for ever; and a host that starts the session
/// again, soon, whenever it ends as transient. Says how many identifies that took.
fn identifies_in(duration_ms: u64, resumes: Resumes, seed: u64) -> usize {
    let mut stage = Stage::seeded("{}", seed);
    let end = stage.desk.now_ms + duration_ms;
    let mut stored = stage.machine.checkpoint();
    let mut host_wait = 1_000;
    while stage.desk.now_ms < end {
        match step(&mut stage, resumes) {
            Ok(()) => stored = stage.machine.checkpoint(),
            Err(SessionFault::Transient(_)) => {
                stage.desk.now_ms += host_wait;
                host_wait = (host_wait * 2).min(60_000);
                match stage.restart_from(stored.clone()) {
                    Ok(()) | Err(StartFault::Transient(_)) => {}
                    other => panic!("{other:?}"),
                }
            }
            Err(fatal) => panic!("{fatal:?}"),
        }
    }
    stage.identifies()
}

fn step(stage: &mut Stage, resumes: Resumes) -> Result<(), SessionFault> {
    if stage.desk.fetches.contains_key(FETCH_GATEWAY) {
        return stage.answer(FETCH_GATEWAY, Ok(gateway_bot(1_000)));
    }
    if stage.desk.socket == Socket::Opening {
        stage.greet(41_250);
        if stage.last_sent().contains(r#""op":2,"#) {
            stage.frame(READY)?;
            stage.frame(GUILD)?;
            return stage.closes(Some(4002));
        }
        return match resumes {
            Resumes::Invalid => stage.frame(r#"{"op":9,"d":false}"#),
            Resumes::Closed => stage.closes(Some(4002)),
            Resumes::ResumedThenClosed => {
                stage.frame(r#"{"op":0,"t":"RESUMED","s":3,"d":{}}"#)?;
                stage.closes(Some(4002))
            }
        };
    }
    let next = stage.desk.timers.iter().min_by_key(|(_, due)| **due).map(|(label, _)| label.clone());
    stage.elapse(&next.expect("something is always under way")).map(|_| ())
}

#[test]
fn a_session_that_dies_after_ready_identifies_less_than_fifteen_times_in_the_first_hour() {
    for resumes in [Resumes::Invalid, Resumes::Closed, Resumes::ResumedThenClosed] {
        for seed in 0..10 {
            let identifies = identifies_in(HOUR_MS, resumes, seed);
            assert!((2..15).contains(&identifies), "{resumes:?} {seed}: {identifies}");
        }
    }
}

#[test]
fn and_not_much_more_often_in_a_day() {
    let identifies = identifies_in(24 * HOUR_MS, Resumes::Invalid, 3);
    assert!(identifies < 150, "{identifies}");
}

#[test]
fn a_stable_while_forgives() {
    let mut stage = Stage::ready();
    stage.closes(Some(4009)).unwrap();
    stage.elapse("reconnect").unwrap();
    stage.go_ready();
    stage.elapse("stable").unwrap();
    stage.closes(Some(4009)).unwrap();
    assert!(stage.elapse("reconnect").unwrap() <= 1_000, "as if it were the first time");
}
