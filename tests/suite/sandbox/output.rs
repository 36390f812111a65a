//! Guests that talk too much: capped, counted, and fit for a terminal.

use std::time::Duration;

use jackfield_engine::log::{FIELD_BYTES_MAX, MESSAGE_BYTES_MAX};
use jackfield_engine::runtime::View;
use jackfield_engine::{FailureKind, GuestLimits};
use jackfield_tests::guest;
use jackfield_tests::sandbox::{Bench, elapsed, resident};

use super::transform;

/// What a flood may cost the host: what is kept of it is some hundred lines.
const GROWTH: usize = 48 * 1024 * 1024;

/// Nothing in a line that a terminal or a log reader would obey.
fn is_neutral(text: &str) -> bool {
    let steers = |letter: char| {
        letter.is_control()
            || ('\u{202a}'..='\u{202e}').contains(&letter)
            || ('\u{2066}'..='\u{2069}').contains(&letter)
    };
    !text.contains(steers)
}

/// What was kept is little, short and neutral.
fn is_bounded(bench: &Bench) {
    let lines = bench.lines();
    assert!(lines.len() < 5_000, "{} lines were kept", lines.len());
    for line in &lines {
        assert!(line.message.len() <= MESSAGE_BYTES_MAX + '…'.len_utf8());
        assert!(is_neutral(&line.message), "{:?}", line.message);
        for (name, value) in &line.fields {
            assert!(name.len() <= FIELD_BYTES_MAX + 3 && value.len() <= FIELD_BYTES_MAX + 3);
            assert!(is_neutral(name) && is_neutral(value), "{name:?}={value:?}");
        }
    }
}

#[tokio::test]
pub(super) async fn sandbox_floods_log() {
    let mut bench = Bench::new(guest::SANDBOX_FLOODS_LOG).await;
    bench.limits = GuestLimits { call: Duration::from_secs(5), ..bench.limits };
    let mut session = bench.session().await.unwrap();
    let before = resident();
    let failure = session.handle(elapsed("x"), View::default()).await.unwrap_err();
    assert!(matches!(failure.kind, FailureKind::Budget { .. }), "{failure}");
    assert!(resident().saturating_sub(before) < GROWTH);
    is_bounded(&bench);
    let first = &bench.lines()[0];
    assert!(first.message.contains("owned") && first.message.contains("gnirts"), "escapes go, text stays: {first:?}");
}

#[tokio::test]
pub(super) async fn sandbox_floods_stdout() {
    for stream in ["stdout", "stderr", "empty"] {
        let mut bench = Bench::new(guest::SANDBOX_FLOODS_STDOUT).await;
        bench.limits = GuestLimits { call: Duration::from_secs(5), ..bench.limits };
        let before = resident();
        // It may be told to stop, ended, or let through with what it says thrown away; but the host stays as it was.
        let outcome = transform(&bench, stream).await;
        assert!(resident().saturating_sub(before) < GROWTH, "{stream}: {outcome:?}");
        is_bounded(&bench);
        if stream != "empty" {
            assert!(bench.dropped() > 0, "{stream}: what is thrown away is counted");
        }
    }
}
