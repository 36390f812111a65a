//! Guests that look for the host.

use jackfield_engine::FailureKind;
use jackfield_model::event::Answer;
use jackfield_tests::guest;
use jackfield_tests::sandbox::Bench;
use serde_json::Value;

use super::{fails, transform};

async fn probe(bench: &Bench) -> Value {
    let Ok(Answer::Events(events)) = transform(bench, "x").await else { panic!("it tells what it found") };
    serde_json::from_str(&events[0].properties).unwrap()
}

#[tokio::test]
pub(super) async fn sandbox_probes_the_host() {
    let bench = Bench::new(guest::SANDBOX_PROBES_THE_HOST).await;
    let found = probe(&bench).await;
    assert_eq!(found["variables"], serde_json::json!([]), "{found}");
    assert!(found["arguments"].as_array().unwrap().is_empty(), "{found}");
    for refused in ["root", "passwd", "written"] {
        assert!(found[refused].as_str().unwrap().starts_with("Err"), "{refused}: {found}");
    }
    // Pure: clocks stand still, randomness repeats, and another instance finds the same.
    assert_eq!(found["elapsed"], "0", "{found}");
    assert_eq!(found["walls"][0], found["walls"][1], "{found}");
    assert_eq!(found, probe(&bench).await);
}

#[tokio::test]
pub(super) async fn sandbox_asks_for_randomness() {
    let bench = Bench::new(guest::SANDBOX_ASKS_FOR_RANDOMNESS).await;
    fails(&bench, "one", FailureKind::Budget { which: "random bytes of one request" }).await;
    let before = jackfield_tests::sandbox::resident();
    let many = transform(&bench, "many").await.unwrap_err();
    assert!(matches!(many.kind, FailureKind::Deadline | FailureKind::Budget { .. }), "{many}");
    assert!(jackfield_tests::sandbox::resident().saturating_sub(before) < 48 * 1024 * 1024);
}
