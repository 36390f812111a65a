//! Sockets that break, gateways that want something, and floods: nothing is lost, doubled or reordered.

use std::time::Duration;

use jackfield_testkit::discord::{Action, Pace, Script, Step, When};
use jackfield_tests::discord::Scene;

use super::ready;

fn after(messages: u64, action: Action) -> Step {
    Step { when: When::AfterMessages(messages), action }
}

/// Plays so many messages with these steps among them, and compares.
fn plays(messages: u64, steps: Vec<Step>) -> Scene {
    let flood = |step: &Step| if let Action::Flood { messages, .. } = step.action { messages } else { 0 };
    let all = messages + steps.iter().map(flood).sum::<u64>();
    let script =
        Script { messages: Some(messages), rate: Pace::PerSecond(1_500.0), channels: 10, steps, ..Script::default() };
    let scene = Scene::new(script);
    let host = scene.home.serve();
    scene.wait_counts("all messages", |counts| counts.messages == all);
    let account = scene.account();
    assert!(account.is_whole(), "{account:?}");
    assert!(host.stop().success());
    scene
}

#[test]
fn a_quiet_day() {
    let scene = plays(2_000, Vec::new());
    assert_eq!((scene.counts().identifies, scene.counts().connections), (1, 1));
}

#[test]
fn a_reconnect_on_request_is_resumed() {
    let counts = plays(1_500, vec![after(500, Action::Reconnect {})]).counts();
    assert_eq!((counts.identifies, counts.resumed), (1, 1), "{counts:?}");
}

#[test]
fn a_dropped_socket_is_resumed() {
    let counts = plays(1_500, vec![after(500, Action::Drop {})]).counts();
    assert_eq!((counts.identifies, counts.resumed), (1, 1), "{counts:?}");
}

#[test]
fn a_replay_that_repeats_itself_is_known() {
    let scene = plays(1_500, vec![after(400, Action::DuplicateReplay { dispatches: 50 }), after(500, Action::Drop {})]);
    assert_eq!(scene.counts().resumed, 1);
}

#[test]
fn a_slow_close_is_survived() {
    plays(1_500, vec![after(500, Action::SlowClose { ms: 1_500, code: 4000 })]);
}

#[test]
fn an_invalid_session_that_can_be_resumed() {
    let scene = plays(1_500, vec![after(500, Action::InvalidSession { resumable: true })]);
    assert_eq!(scene.counts().identifies, 1);
}

/// The session is gone; what fell in between comes by REST.
#[test]
fn an_invalid_session_that_can_not_be_resumed() {
    let scene = plays(1_000, vec![after(500, Action::InvalidSession { resumable: false })]);
    assert_eq!(scene.counts().identifies, 2);
}

#[test]
fn a_flood_is_taken_whole() {
    plays(500, vec![after(250, Action::Flood { messages: 5_000, per_second: None })]);
}

#[test]
fn refused_upgrades_and_late_hellos_are_waited_out() {
    let scene = Scene::new(Script::silent());
    scene.double.refuse_upgrades(503, 1);
    scene.double.delay_hello(Duration::from_millis(500), 1);
    let _host = ready(&scene);
    scene.post_many(10);
    assert!(scene.account().is_whole());
}

/// One acknowledgement is missing: one reconnect, by resume; the next socket starts with a clean sheet.
#[test]
fn report_d3_one_missed_acknowledgement_is_one_reconnect() {
    let scene = Scene::new(Script { heartbeat_interval_ms: 400, ..Script::silent() });
    let _host = ready(&scene);
    scene.wait_counts("heartbeats", |counts| counts.acks >= 2);
    scene.double.withhold_acks(1);
    scene.wait_counts("a resume", |counts| counts.resumed == 1);
    let acks = scene.counts().acks;
    scene.wait_counts("five heartbeats on the new socket", |counts| counts.acks >= acks + 5);
    let counts = scene.counts();
    assert_eq!((counts.connections, counts.identifies, counts.resumed), (2, 1, 1), "{counts:?}");
}

#[test]
fn a_frame_over_the_limit_parks_the_connection() {
    let scene = Scene::with(Script::silent(), "limits = { frame = \"64KiB\" }");
    let _host = ready(&scene);
    scene.double.oversized_frame(100_000);
    let status = scene.home.wait_state("parked");
    assert!(status["todo"].as_str().unwrap().contains("frame"), "{status:#}");
    assert_eq!(scene.counts().connections, 1);
}
