//! Close codes: which end it for good, which are answered with a resume, and which with a new session.

use jackfield_testkit::discord::{Action, Moment, Script, Step, Times, When};
use jackfield_tests::discord::Scene;

use super::ready;

fn on(moment: Moment, times: Times, action: Action) -> Step {
    Step { when: When::On { moment, times }, action }
}

/// A double that closes like this when somebody identifies.
fn closing(steps: Vec<Step>) -> Scene {
    Scene::new(Script { steps, ..Script::silent() })
}

/// Parks after this many connections, says what to do, and connects no more: also after a restart.
fn parks(steps: Vec<Step>, connections: u64, said: &str) {
    let scene = closing(steps);
    let host = scene.home.serve();
    let status = scene.home.wait_state("parked");
    assert!(status["cause"].as_str().unwrap().contains(said), "{status:#}");
    assert!(status["todo"].is_string(), "{status:#}");
    assert_eq!(scene.counts().connections, connections);
    assert!(host.stop().success());
    let _host = scene.home.serve();
    scene.home.wait_state("parked");
    assert_eq!(scene.counts().connections, connections, "a restart does not try again");
}

#[test]
fn report_d1_a_bad_token_is_final() {
    parks(vec![on(Moment::Identify, Times::Always, Action::Close { code: 4004 })], 1, "4004");
}

#[test]
fn report_d1_intents_that_are_not_allowed_are_final() {
    parks(vec![on(Moment::Identify, Times::Always, Action::Close { code: 4014 })], 1, "4014");
}

#[test]
fn report_d1_the_final_code_may_come_second() {
    let first = on(Moment::Identify, Times::Count(1), Action::Close { code: 4003 });
    let then = on(Moment::Identify, Times::Always, Action::Close { code: 4014 });
    parks(vec![first, then], 2, "4014");
}

#[test]
fn fixture_34_codes_that_are_final() {
    for code in [4010, 4011, 4012, 4013] {
        parks(vec![on(Moment::Identify, Times::Always, Action::Close { code })], 1, &code.to_string());
    }
}

/// After these the session goes on: a resume, no further identify, and nothing is missing.
#[test]
fn fixture_34_codes_that_are_answered_with_a_resume() {
    for code in [4000, 4001, 4002, 4005, 4008, 4999, 1006] {
        let scene = Scene::new(Script::silent());
        let _host = ready(&scene);
        scene.double.close_all(code);
        scene.post_many(20);
        scene.wait_counts("a resume", |counts| counts.resumed == 1);
        assert!(scene.account().is_whole(), "{code}");
        assert_eq!(scene.counts().identifies, 1, "{code}");
    }
}

/// After these the session is gone: a new one, and what was said meanwhile comes by other ways.
#[test]
fn fixture_34_codes_that_are_answered_with_an_identify() {
    let scene = Scene::new(Script::silent());
    let _host = ready(&scene);
    for (before, code) in (1..).zip([4003, 4007, 4009]) {
        scene.double.close_all(code);
        scene.wait_counts("an identify", |counts| counts.identifies == before + 1);
        scene.home.wait_state("ready");
    }
}

/// READY, and closed at once, for ever: the pauses grow, starts are counted, and a kill forgets none of them.
#[test]
fn report_d2_a_session_that_dies_after_ready_backs_off() {
    let always = |moment| on(moment, Times::Always, Action::Close { code: 4003 });
    let scene = closing(vec![always(Moment::Ready), always(Moment::Resumed)]);
    let began = std::time::Instant::now();
    let host = scene.home.serve();
    scene.wait_counts("three identifies", |counts| counts.identifies >= 3);
    // The pauses are 1 s, 2 s, 4 s or so: a loop without pauses would be at hundreds by now.
    let took = began.elapsed();
    let identifies = scene.counts().identifies;
    assert!(identifies <= 3 + took.as_secs() / 2, "{identifies} in {took:?}");
    let spent = |home: &jackfield_tests::processes::Home| home.connection()["starts"]["spent"].as_u64().unwrap();
    let before = spent(&scene.home);
    assert!(before >= 3, "{before}");
    host.kill();
    let _host = scene.home.serve();
    assert!(spent(&scene.home) >= before, "the budget is durable");
}
