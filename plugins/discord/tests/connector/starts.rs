//! Cold and warm starts.

use jackfield_discord::config::Config;
use jackfield_discord::runtime::{FETCH_GATEWAY, Machine, Phase, timer};
use jackfield_sdk::Blob;
use jackfield_sdk::runtime::{StartFault, StartReason};

use crate::stage::{Effect, Stage, message};

#[test]
fn a_restart_resumes_with_what_was_last_received() {
    let mut stage = Stage::ready();
    stage.frame(&message(3, 50)).unwrap();
    stage.restart().unwrap();
    assert!(!stage.desk.fetches.contains_key(FETCH_GATEWAY));
    stage.greet(41_250);
    assert!(stage.last_sent().contains(r#""seq":3"#), "{}", stage.last_sent());
    // What the stored checkpoint calls outstanding is settled.
    stage.elapse(timer::BEAT).unwrap();
    assert_eq!(stage.last_sent(), r#"{"op":1,"d":3}"#);
}

#[test]
fn other_intents_need_another_session() {
    let mut stage = Stage::ready();
    stage.config = Config::parse(r#"{"intents":513}"#).unwrap();
    stage.restart().unwrap();
    assert_eq!(stage.resumes(), 0);
    stage.elapse(timer::RECONNECT).unwrap();
    stage.go_ready();
    assert!(stage.count(|effect| matches!(effect, Effect::Send(frame, _) if frame.contains(r#""intents":513"#))) == 1);
}

#[test]
fn other_intents_on_a_live_socket_give_it_up() {
    let mut stage = Stage::ready();
    stage.clear();
    let context = stage.warm(StartReason::Swap);
    let config = Config::parse(r#"{"intents":513}"#).unwrap();
    stage.machine = Machine::start(config, context, &mut stage.desk).unwrap();
    assert!(stage.desk.effects.contains(&Effect::Close(None)));
    stage.elapse(timer::RECONNECT).unwrap();
    assert!(stage.desk.fetches.contains_key(FETCH_GATEWAY));
}

#[test]
fn a_warm_start_on_a_live_socket_asks_for_nothing() {
    for reason in [StartReason::Swap, StartReason::Wake, StartReason::Recover] {
        let mut stage = Stage::ready();
        stage.clear();
        let context = stage.warm(reason);
        let next = Machine::start(Config::default(), context, &mut stage.desk).unwrap();
        assert_eq!(stage.desk.effects, []);
        assert_eq!(next, stage.machine);
    }
}

#[test]
fn a_warm_start_makes_up_for_what_is_missing() {
    let mut stage = Stage::ready();
    stage.clear();
    stage.desk.timers.clear();
    let context = stage.warm(StartReason::Wake);
    Machine::start(Config::default(), context, &mut stage.desk).unwrap();
    assert!(stage.desk.timers.contains_key(timer::BEAT));

    let mut context = stage.warm(StartReason::Wake);
    context.sockets.clear();
    let next = Machine::start(Config::default(), context, &mut stage.desk).unwrap();
    assert!(matches!(next.phase(), Phase::Waiting(_)));
    assert!(stage.desk.timers.contains_key(timer::RECONNECT));
}

#[test]
fn an_unreadable_checkpoint_keeps_a_live_session_and_costs_a_dead_one() {
    for damaged in [Blob::empty(), Blob::from("{}\n"), Blob::Binary(vec![0xff; 40]), cut(&Stage::ready())] {
        let mut stage = Stage::ready();
        let mut warm = stage.warm(StartReason::Swap);
        warm.checkpoint = Some(damaged.clone());
        let outcome = Machine::start(Config::default(), warm, &mut stage.desk);
        assert!(matches!(outcome, Err(StartFault::Transient(_))), "{damaged:?}");
        stage.restart_from(damaged).unwrap();
        assert!(stage.desk.fetches.contains_key(FETCH_GATEWAY));
    }
}

fn cut(stage: &Stage) -> Blob {
    let mut bytes = stage.machine.checkpoint().into_bytes();
    bytes.truncate(bytes.len() - 1);
    Blob::Binary(bytes)
}
