//! How a session begins: asking where, the budget of starts, and the frames.

use jackfield_discord::runtime::{FETCH_GATEWAY, timer};
use jackfield_sdk::runtime::{Cause, SessionFault};
use jackfield_sdk::{Fault, Place};

use crate::stage::{Effect, Stage, gateway_bot, response};

#[test]
fn the_first_start_asks_where_and_identifies_with_the_placeholder() {
    let mut stage = Stage::fresh(r#"{"shard":[0,4],"presence":"idle"}"#);
    let request = stage.desk.fetches[FETCH_GATEWAY].clone();
    assert_eq!(request.url, "https://discord.com/api/v10/gateway/bot");
    assert!(request.headers.contains(&("authorization".to_owned(), "Bot {{secret:bot-token}}".to_owned())));
    assert_eq!(request.secrets.len(), 1);
    assert_eq!(request.secrets[0].place, Place::Header);
    stage.assert_reported("connecting");

    stage.gateway_answers(1_000);
    assert!(stage.desk.effects.contains(&Effect::StartsLeft(980, 14_400_000)), "some are left to others");
    let opened = Effect::Open("wss://gateway.discord.gg/?v=10&encoding=json".to_owned());
    assert!(stage.desk.effects.contains(&opened));

    stage.greet(41_250);
    let spent = stage.desk.effects.iter().position(|effect| *effect == Effect::SpendStart).unwrap();
    let Effect::Send(frame, secrets) = &stage.desk.effects[spent + 1] else {
        panic!("spent right before the identify")
    };
    assert_eq!(secrets, &["bot-token"]);
    let frame: serde_json::Value = serde_json::from_str(frame).unwrap();
    assert_eq!(frame["d"]["token"], "{{secret:bot-token}}");
    assert_eq!(frame["d"]["intents"], 37_377);
    assert_eq!(frame["d"]["shard"], serde_json::json!([0, 4]));
    assert_eq!(frame["d"]["presence"]["status"], "idle");

    stage.frame(crate::stage::READY).unwrap();
    stage.assert_reported("ready");
    let metadata: Vec<serde_json::Value> = stage
        .desk
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Metadata(patch) => Some(serde_json::from_str(patch).unwrap()),
            _ => None,
        })
        .collect();
    let who = metadata.last().unwrap();
    assert_eq!(who["user"]["name"], "relaybot");
    assert_eq!((&who["guilds"], &who["shard"]), (&1.into(), &serde_json::json!([0, 4])));
    assert_eq!(metadata[1]["starts_left"], 1_000);
}

#[test]
fn a_resume_spends_nothing() {
    let mut stage = Stage::ready();
    stage.clear();
    stage.closes(None).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.greet(41_250);
    assert!(!stage.desk.effects.contains(&Effect::SpendStart));
    assert!(!stage.desk.fetches.contains_key(FETCH_GATEWAY));
}

#[test]
fn a_used_up_budget_ends_the_session_before_the_identify() {
    let mut stage = Stage::fresh("{}");
    stage.desk.budget = 0;
    stage.gateway_answers(1_000);
    stage.desk.socket = crate::stage::Socket::Open;
    let opened = jackfield_sdk::runtime::Signal::Opened("gateway".to_owned());
    stage.give(vec![opened]).unwrap();
    let outcome = stage.frame(r#"{"op":10,"d":{"heartbeat_interval":41250}}"#);
    assert!(matches!(outcome, Err(SessionFault::Transient(_))), "{outcome:?}");
    assert_eq!(stage.identifies(), 0);
}

#[test]
fn when_discord_says_that_few_are_left_it_stops_and_says_so() {
    let mut stage = Stage::fresh("{}");
    let outcome = stage.answer(FETCH_GATEWAY, Ok(gateway_bot(20)));
    assert!(matches!(outcome, Err(SessionFault::Transient(_))), "{outcome:?}");
    assert!(stage.desk.effects.contains(&Effect::StartsLeft(0, 14_400_000)));
    assert_eq!((stage.reported("starts-used-up"), stage.opens()), (1, 0));
}

#[test]
fn shards_take_turns_when_they_all_start() {
    let mut stage = Stage::fresh(r#"{"shard":[3,4]}"#);
    stage.gateway_answers(1_000);
    assert_eq!(stage.elapse(timer::RECONNECT).unwrap(), 15_000, "one in five seconds at a concurrency of 1");
    stage.greet(41_250);
    assert_eq!(stage.identifies(), 1);
}

#[test]
fn where_to_connect_is_remembered_when_asking_fails() {
    let mut stage = Stage::ready();
    stage.closes(Some(4009)).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.answer(FETCH_GATEWAY, Err(Fault::Unavailable(None))).unwrap();
    stage.greet(41_250);
    assert_eq!(stage.identifies(), 2);

    let mut stage = Stage::fresh("{}");
    stage.answer(FETCH_GATEWAY, Ok(response(502, "<html>"))).unwrap();
    assert_eq!(stage.opens(), 0);
    stage.elapse(timer::RECONNECT).unwrap();
    stage.gateway_answers(900);
    assert_eq!(stage.opens(), 1);
}

#[test]
fn a_429_waits_as_long_as_it_says() {
    let mut stage = Stage::fresh("{}");
    stage.answer(FETCH_GATEWAY, Ok(response(429, r#"{"retry_after":64.57,"global":true}"#))).unwrap();
    assert_eq!(stage.elapse(timer::RECONNECT).unwrap(), 64_570);
}

#[test]
fn a_greeting_that_does_not_come_is_a_lost_socket() {
    let mut stage = Stage::ready();
    stage.closes(None).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.opened();
    stage.elapse(timer::ENTRY).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.greet(41_250);
    stage.elapse(timer::ENTRY).unwrap();
    assert_eq!((stage.opens(), stage.resumes()), (3, 1));
    stage.assert_reported("connecting");
}

#[test]
fn after_a_dozen_failures_the_host_takes_over() {
    let mut stage = Stage::ready();
    let mut failures = 0;
    let outcome = loop {
        let outcome = stage.ends(Cause::Failed(Fault::Unavailable(None)));
        failures += 1;
        if outcome.is_err() {
            break outcome;
        }
        stage.elapse(timer::RECONNECT).unwrap();
        if stage.desk.fetches.contains_key(FETCH_GATEWAY) {
            stage.gateway_answers(900);
        }
    };
    assert!(matches!(outcome, Err(SessionFault::Transient(_))));
    assert_eq!(failures, 13);
    assert_eq!(stage.identifies(), 1, "no identify was spent on a network that is down");
}
