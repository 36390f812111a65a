//! Whatever happens, a machine from a checkpoint goes on exactly as the one that wrote it.

use jackfield_discord::runtime::{FETCH_GATEWAY, SOCKET};
use jackfield_sdk::Fault;
use jackfield_sdk::runtime::{Cause, Signal};
use proptest::prelude::*;

use crate::content::WITHHELD;
use crate::stage::{GUILD, READY, Socket, Stage, gateway_bot, message, response};

/// Something that the world does, when it can.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Opens,
    Hello,
    Ready,
    Resumed,
    Guild,
    Message(u64),
    Withheld,
    Ack,
    AsksForBeat,
    Op7,
    Op9(bool),
    Closes(Option<u16>),
    Breaks,
    NeverOpens,
    Elapses(usize),
    Answers(usize, u16),
    Settles(usize),
    Held,
    Flowing,
    Restart,
}

fn happening() -> impl Strategy<Value = Happening> {
    use Happening::{
        Ack, Answers, AsksForBeat, Breaks, Closes, Elapses, Flowing, Guild, Held, Hello, Message, NeverOpens, Op7, Op9,
        Opens, Ready, Restart, Resumed, Settles, Withheld,
    };
    let codes =
        proptest::option::of(proptest::sample::select(vec![1000_u16, 4000, 4002, 4003, 4007, 4008, 4009, 4999]));
    prop_oneof![
        8 => Just(Opens),
        8 => Just(Hello),
        8 => Just(Ready),
        6 => Just(Resumed),
        3 => Just(Guild),
        12 => (0..40_u64).prop_map(Message),
        4 => Just(Withheld),
        4 => Just(Ack),
        2 => Just(AsksForBeat),
        2 => Just(Op7),
        2 => any::<bool>().prop_map(Op9),
        3 => codes.prop_map(Closes),
        2 => Just(Breaks),
        1 => Just(NeverOpens),
        12 => (0..4_usize).prop_map(Elapses),
        12 => ((0..3_usize), proptest::sample::select(vec![200_u16, 200, 200, 404, 429, 500])).prop_map(|(at, status)| Answers(at, status)),
        4 => (0..8_usize).prop_map(Settles),
        1 => Just(Held),
        1 => Just(Flowing),
        1 => Just(Restart),
    ]
}

/// Lets it happen to a stage, or not where it can't. Says whether the session goes on.
fn happen(stage: &mut Stage, what: Happening, seq: &mut u64) -> bool {
    let open = stage.desk.socket == Socket::Open;
    let opening = stage.desk.socket == Socket::Opening;
    let outcome = match what {
        Happening::Opens if opening => {
            stage.desk.socket = Socket::Open;
            stage.give(vec![Signal::Opened(SOCKET.to_owned())])
        }
        Happening::Hello if open => stage.frame(r#"{"op":10,"d":{"heartbeat_interval":41250}}"#),
        Happening::Ready if open => {
            *seq = 1;
            stage.frame(READY)
        }
        Happening::Resumed if open => stage.frame(&format!(r#"{{"op":0,"t":"RESUMED","s":{seq},"d":{{}}}}"#)),
        Happening::Guild if open => stage.frame(GUILD),
        Happening::Message(channel) if open => {
            *seq += 1;
            let text = message(*seq, 1_468_248_479_167_064_563 + *seq);
            stage.frame(&text.replace(r#""channel_id":"839760899035176311""#, &format!(r#""channel_id":"{channel}""#)))
        }
        Happening::Withheld if open => stage.frame(WITHHELD),
        Happening::Ack if open => stage.frame(r#"{"op":11}"#),
        Happening::AsksForBeat if open => stage.frame(r#"{"op":1}"#),
        Happening::Op7 if open => stage.frame(r#"{"op":7}"#),
        Happening::Op9(resumable) if open => stage.frame(&format!(r#"{{"op":9,"d":{resumable}}}"#)),
        Happening::Closes(code) if open => stage.closes(code),
        Happening::Breaks if open => stage.ends(Cause::Broken("reset".to_owned())),
        Happening::NeverOpens if opening => stage.ends(Cause::Failed(Fault::Unavailable(None))),
        Happening::Elapses(at) => match stage.desk.timers.keys().nth(at).cloned() {
            Some(label) => stage.elapse(&label).map(|_| ()),
            None => Ok(()),
        },
        Happening::Answers(at, status) => match stage.desk.fetches.keys().nth(at).cloned() {
            Some(label) if label == FETCH_GATEWAY && status == 200 => stage.answer(&label, Ok(gateway_bot(900))),
            Some(label) => {
                *seq += 1;
                let id = 1_468_248_479_167_064_563 + *seq;
                let body = if seq.is_multiple_of(3) { "[]".to_owned() } else { format!(r#"[{{"id":"{id}"}}]"#) };
                stage.answer(&label, Ok(response(status, &body)))
            }
            None => Ok(()),
        },
        Happening::Settles(some) => {
            let marks = stage.submitted().into_iter().rev().filter_map(|dispatch| dispatch.mark).take(some);
            let marks = marks.collect();
            stage.give(vec![Signal::Committed(marks)])
        }
        Happening::Held if open => stage.give(vec![Signal::Held(SOCKET.to_owned())]),
        Happening::Flowing if open => stage.give(vec![Signal::Flowing(SOCKET.to_owned())]),
        Happening::Restart => return stage.restart().is_ok(),
        _ => Ok(()),
    };
    outcome.is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_machine_from_a_checkpoint_goes_on_the_same(happenings in prop::collection::vec(happening(), 1..120), seed: u64) {
        let mut kept = Stage::seeded("{}", seed);
        let mut reloaded = Stage::seeded("{}", seed);
        reloaded.reloads = true;
        let (mut seq, mut same_seq) = (0, 0);
        for what in happenings {
            let goes_on = happen(&mut kept, what, &mut seq);
            prop_assert_eq!(goes_on, happen(&mut reloaded, what, &mut same_seq));
            prop_assert_eq!(&kept.desk.effects, &reloaded.desk.effects, "after {:?}", what);
            prop_assert!(kept.machine.checkpoint().len() < 256 * 1024);
            if !goes_on {
                break;
            }
        }
    }

    #[test]
    fn something_is_always_under_way(happenings in prop::collection::vec(happening(), 1..120), seed: u64) {
        let mut stage = Stage::seeded("{}", seed);
        let mut seq = 0;
        for what in happenings {
            if !happen(&mut stage, what, &mut seq) {
                break;
            }
            let waits = !stage.desk.timers.is_empty() || !stage.desk.fetches.is_empty();
            prop_assert!(waits || stage.desk.socket == Socket::Opening, "after {:?}", what);
        }
    }

    #[test]
    fn no_bytes_are_a_checkpoint_that_panics(bytes: Vec<u8>, at: usize, flip: u8) {
        let mut stage = Stage::ready();
        let _ = stage.restart_from(jackfield_sdk::Blob::Binary(bytes));
        let mut damaged = Stage::ready().machine.checkpoint().into_bytes();
        let at = at % damaged.len();
        damaged[at] ^= flip;
        let _ = stage.restart_from(jackfield_sdk::Blob::Binary(damaged));
    }
}
