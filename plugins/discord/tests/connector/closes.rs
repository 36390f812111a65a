//! What each close code leads to, and the operation codes that end a socket.

use jackfield_discord::runtime::{FETCH_GATEWAY, timer};
use jackfield_sdk::Fault;
use jackfield_sdk::runtime::{Cause, SessionFault};

use crate::stage::{Effect, Stage, response};

/// What the connector does next about a lost session.
fn next(stage: &mut Stage) -> &'static str {
    stage.elapse(timer::RECONNECT).unwrap();
    if stage.desk.fetches.contains_key(FETCH_GATEWAY) {
        return "identify";
    }
    stage.greet(41_250);
    assert!(stage.last_sent().contains(r#""op":6,"#), "{}", stage.last_sent());
    "resume"
}

/// The whole table of the fixture.
pub(crate) fn check_table(rows: &serde_json::Value) {
    for row in rows.as_array().unwrap() {
        let want = row["want"].as_str().unwrap();
        match &row["code"] {
            serde_json::Value::String(spoken) if spoken == "1000/1001 sent by us" => sent_by_us(),
            serde_json::Value::String(spoken) if spoken == "1000/1001 received" => {
                [1000, 1001].into_iter().for_each(received_once);
            }
            code => check_row(code.as_u64().map(|code| u16::try_from(code).unwrap()), want),
        }
    }
}

fn check_row(code: Option<u16>, want: &str) {
    let mut stage = Stage::ready();
    stage.clear();
    let outcome = match code {
        // Not a code that can be sent: it says that the socket broke.
        Some(1006) => stage.ends(Cause::Broken("connection reset".to_owned())),
        code => stage.closes(code),
    };
    match want.trim_start_matches("unknown: ").split([':', ';', ',', ' ']).next().unwrap() {
        "stop" => {
            let Err(SessionFault::Fatal(todo)) = outcome else { panic!("{code:?}: {outcome:?}") };
            assert!(todo.contains(&code.unwrap().to_string()), "{todo}");
            assert_eq!(stage.opens(), 0, "{code:?}");
            if want.ends_with("bad token") {
                assert!(todo.contains("token"), "{todo}");
            }
            if want.ends_with("intents") {
                assert!(todo.contains("Privileged Gateway Intents"), "{todo}");
            }
        }
        step => {
            outcome.unwrap();
            stage.assert_reported("connecting");
            assert_eq!(next(&mut stage), step, "{code:?}");
        }
    }
    if want.contains("after N failed resumes identify") {
        after_n_failed_resumes(code);
    }
}

fn after_n_failed_resumes(code: Option<u16>) {
    let mut stage = Stage::ready();
    stage.closes(code).unwrap();
    for _ in 0..3 {
        assert_eq!(next(&mut stage), "resume");
        stage.ends(Cause::Broken("connection reset".to_owned())).unwrap();
    }
    assert_eq!(next(&mut stage), "identify");
}

fn received_once(code: u16) {
    let mut stage = Stage::ready();
    stage.closes(Some(code)).unwrap();
    assert_eq!(next(&mut stage), "resume");
    stage.closes(Some(code)).unwrap();
    assert_eq!(next(&mut stage), "identify");
}

fn sent_by_us() {
    use jackfield_sdk::runtime::{Signal, StopReason};
    let mut stage = Stage::ready();
    stage.give(vec![Signal::Stopping(StopReason::Removed)]).unwrap();
    assert!(stage.desk.effects.contains(&Effect::Close(Some(1000))));
    stage.restart().unwrap();
    assert!(!stage.desk.timers.is_empty() || stage.desk.fetches.contains_key(FETCH_GATEWAY));
    assert_eq!(stage.resumes(), 0);
}

#[test]
fn any_other_stop_leaves_the_session_resumable() {
    use jackfield_sdk::runtime::{Signal, StopReason};
    for reason in [StopReason::Shutdown, StopReason::HandOver, StopReason::LeaseLost, StopReason::Reconfigured] {
        let mut stage = Stage::ready();
        stage.clear();
        stage.give(vec![Signal::Stopping(reason)]).unwrap();
        assert_eq!(stage.count(|effect| matches!(effect, Effect::Close(_))), 0, "{reason:?}");
        stage.restart().unwrap();
        stage.greet(41_250);
        assert!(stage.last_sent().contains(r#""op":6,"#), "{reason:?}");
    }
}

#[test]
fn intents_switched_off_live_cost_two_connections_and_one_notice() {
    let mut stage = Stage::ready();
    assert_eq!(stage.opens(), 1);
    stage.closes(Some(4003)).unwrap();
    assert_eq!(next(&mut stage), "identify");
    stage.gateway_answers(900);
    stage.greet(41_250);
    assert!(matches!(stage.closes(Some(4014)), Err(SessionFault::Fatal(_))));
    assert_eq!(stage.opens(), 2);
}

#[test]
fn a_refused_configuration_costs_one_connection() {
    for code in [4004, 4014] {
        let mut stage = Stage::fresh("{}");
        stage.gateway_answers(900);
        stage.greet(41_250);
        assert!(matches!(stage.closes(Some(code)), Err(SessionFault::Fatal(_))));
        assert_eq!(stage.opens(), 1);
    }
}

#[test]
fn a_planned_reconnect_resumes_where_ready_said_without_a_code() {
    let mut stage = Stage::ready();
    stage.clear();
    stage.frame(r#"{"t":null,"s":null,"op":7,"d":null}"#).unwrap();
    assert!(stage.desk.effects.contains(&Effect::Close(None)));
    assert_eq!(next(&mut stage), "resume");
    let opened = Effect::Open("wss://gateway-us-east1-b.discord.gg/?v=10&encoding=json".to_owned());
    assert!(stage.desk.effects.contains(&opened));
    assert!(stage.last_sent().contains(r#""session_id":"b1946ac92492d2347c6235b4d2611184","seq":2"#));
}

#[test]
fn a_planned_reconnect_may_come_before_hello() {
    let mut stage = Stage::ready();
    stage.closes(None).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.opened();
    stage.frame(r#"{"op":7}"#).unwrap();
    assert_eq!(next(&mut stage), "resume");
}

#[test]
fn an_invalid_session_waits_and_begins_anew() {
    for seed in 0..20 {
        let mut stage = Stage::seeded("{}", seed);
        stage.go_ready();
        stage.closes(Some(4000)).unwrap();
        assert_eq!(next(&mut stage), "resume");
        stage.frame(r#"{"op":9,"d":false}"#).unwrap();
        let waited = stage.elapse(timer::RECONNECT).unwrap();
        assert!(waited >= 1_000, "{waited}");
        assert!(stage.desk.fetches.contains_key(FETCH_GATEWAY));
        stage.gateway_answers(900);
        stage.greet(41_250);
        assert!(stage.last_sent().contains(r#""op":2,"#));
        let opened = Effect::Open("wss://gateway.discord.gg/?v=10&encoding=json".to_owned());
        assert_eq!(stage.desk.effects.iter().filter(|effect| **effect == opened).count(), 2);
    }
}

#[test]
fn a_session_that_is_invalid_but_resumable_is_resumed() {
    let mut stage = Stage::ready();
    stage.frame(r#"{"op":9,"d":true}"#).unwrap();
    assert_eq!(next(&mut stage), "resume");
}

#[test]
fn a_resume_address_that_is_not_granted_falls_back_to_the_gateway() {
    let mut stage = Stage::ready();
    stage.desk.denied.push("wss://gateway-us-east1-b.discord.gg".to_owned());
    stage.closes(None).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    assert_eq!(next(&mut stage), "resume");
    assert_eq!(stage.identifies(), 1);
}

#[test]
fn without_the_grant_it_says_what_to_grant() {
    let mut stage = Stage::fresh("{}");
    stage.desk.denied.push("wss://gateway.discord.gg".to_owned());
    let outcome = stage.answer(FETCH_GATEWAY, Ok(crate::stage::gateway_bot(900)));
    assert!(matches!(outcome, Err(SessionFault::Fatal(todo)) if todo.contains("wss://gateway.discord.gg")));

    let mut stage = Stage::fresh("{}");
    let outcome = stage.answer(FETCH_GATEWAY, Err(Fault::Denied("https://discord.com".to_owned())));
    assert!(matches!(outcome, Err(SessionFault::Fatal(todo)) if todo.contains("https://discord.com")));

    let mut stage = Stage::fresh("{}");
    let outcome = stage.answer(FETCH_GATEWAY, Ok(response(401, "{}")));
    assert!(matches!(outcome, Err(SessionFault::Fatal(todo)) if todo.contains("token")));
}

#[test]
fn an_upgrade_that_is_refused_is_tried_again_and_keeps_the_session() {
    let mut stage = Stage::ready();
    stage.closes(None).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.ends(Cause::Refused(response(503, "busy"))).unwrap();
    assert_eq!(next(&mut stage), "resume");
}

#[test]
fn nothing_after_the_end_of_a_socket_is_taken_for_the_session() {
    let mut stage = Stage::ready();
    let before = stage.submitted().len();
    let late = crate::stage::message(3, 77);
    stage.give(vec![crate::stage::frame(r#"{"op":7}"#), crate::stage::frame(&late)]).unwrap();
    assert_eq!(stage.submitted().len(), before);
    assert_eq!(next(&mut stage), "resume");
    assert!(stage.last_sent().contains(r#""seq":2"#), "so that Discord sends it again: {}", stage.last_sent());
}
