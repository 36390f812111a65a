//! What was said while nobody listened.

use jackfield_testkit::discord::Script;
use jackfield_tests::account::message_id;
use jackfield_tests::discord::Scene;

use super::{named, ready};

/// A first start publishes nothing of the past; after a stop that outlived the session, what was said meanwhile comes, in
/// order, each once.
#[test]
fn report_d6_between_two_sessions_nothing_is_missed() {
    let scene = Scene::new(Script { channels: 2, ..Script::silent() });
    for number in 0..5 {
        scene.post(0, &format!("before anybody listened {number}"));
    }
    let host = ready(&scene);
    let first = scene.post(0, "listened to").to_string();
    scene.home.wait("the first event", |_| !named(&scene.home.events(), "message.created").is_empty());
    let events = scene.home.events();
    let seen: Vec<&str> = named(&events, "message.created").into_iter().map(message_id).collect();
    assert_eq!(seen, [first.as_str()], "a fresh install publishes nothing of before");

    assert!(host.stop().success());
    scene.double.forget_sessions();
    let missed: Vec<String> = (0..4).map(|number| scene.post(0, &format!("missed {number}")).to_string()).collect();
    let _host = ready(&scene);
    scene.home.wait("what was missed", |_| named(&scene.home.events(), "message.created").len() >= 5);
    let last = scene.post(0, "listened to again").to_string();
    scene.home.wait("the last event", |_| named(&scene.home.events(), "message.created").len() >= 6);
    let events = scene.home.events();
    let seen: Vec<&str> = named(&events, "message.created").into_iter().map(message_id).collect();
    let expected: Vec<&str> =
        [first.as_str()].into_iter().chain(missed.iter().map(String::as_str)).chain([last.as_str()]).collect();
    assert_eq!(seen, expected);
}

/// A stop within the window is resumed: no new session, nothing by REST.
#[test]
fn a_short_stop_is_resumed() {
    let scene = Scene::new(Script::silent());
    let host = ready(&scene);
    scene.post_many(10);
    assert!(scene.account().is_whole());
    assert!(host.stop().success());
    scene.post_many(10);
    let _host = scene.home.serve();
    assert!(scene.account().is_whole());
    let counts = scene.counts();
    assert_eq!((counts.identifies, counts.resumed), (1, 1), "{counts:?}");
}

/// The store knows what came by both ways.
#[test]
fn report_q13_what_comes_twice_after_a_kill_is_known() {
    let scene = Scene::new(Script::silent());
    let host = ready(&scene);
    scene.post_many(20);
    assert!(scene.account().is_whole());
    host.kill();
    scene.double.forget_sessions();
    scene.post_many(5);
    let _host = ready(&scene);
    let account = scene.account();
    assert_eq!((account.doubled, account.reordered), (0, 0), "{account:?}");
}
