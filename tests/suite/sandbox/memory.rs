//! Guests that want memory: their own, or the host's by way of what they return.

use jackfield_engine::{FailureKind, LoadError};
use jackfield_model::event::Answer;
use jackfield_tests::guest::{self, Guest};
use jackfield_tests::sandbox::{self, Bench, received, resident};

use super::{fails, transform};

const MIB: usize = 1024 * 1024;

/// What the process may grow by: the guest's own memory, what one call may hand over, and some slack for the allocator.
const GROWTH: usize = 96 * MIB;

/// A call that fails so, while the host stays small.
async fn fails_small(guest: Guest, batch: usize, kinds: &[FailureKind]) {
    let bench = Bench::new(guest).await;
    let before = resident();
    let batch: Vec<_> = (0..batch).map(|_| received("x")).collect();
    let failure = bench.pool().transform(&batch).await.expect_err("it must not come through");
    assert!(kinds.contains(&failure.kind), "{failure}");
    let grown = resident().saturating_sub(before);
    assert!(grown < GROWTH, "the host grew by {} MiB", grown / MIB);
}

#[tokio::test]
pub(super) async fn sandbox_eats_memory() {
    let bench = Bench::new(guest::SANDBOX_EATS_MEMORY).await;
    let before = resident();
    fails(&bench, "now", FailureKind::Memory).await;
    assert!(resident().saturating_sub(before) < GROWTH);
}

#[tokio::test]
pub(super) async fn sandbox_eats_memory_in_start_function() {
    let error = sandbox::engine().load(guest::SANDBOX_EATS_MEMORY_IN_START_FUNCTION.bytes()).await.unwrap_err();
    assert!(matches!(&error, LoadError::Describe(failure) if failure.kind == FailureKind::Memory), "{error}");
}

#[tokio::test]
pub(super) async fn sandbox_fills_memory() {
    let bench = Bench::new(guest::SANDBOX_FILLS_MEMORY).await;
    let failure = transform(&bench, "x").await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Deadline, "{failure}");
}

/// Three memories, each far below the limit when it is full: together they get what one would.
#[tokio::test]
pub(super) async fn sandbox_grows_many_memories() {
    let bench = Bench::new(guest::SANDBOX_GROWS_MANY_MEMORIES).await;
    let Ok(Answer::Ignored(steps)) = transform(&bench, "x").await else { panic!("it tells how far it got") };
    let grown = steps.len() * MIB;
    assert!(grown <= bench.limits.memory, "{grown} bytes with a limit of {}", bench.limits.memory);
    assert!(grown > bench.limits.memory / 2, "the limit is not meant to be this tight: {grown}");
}

#[tokio::test]
pub(super) async fn sandbox_returns_a_giant_string() {
    fails_small(guest::SANDBOX_RETURNS_A_GIANT_STRING, 1, &[FailureKind::Budget { which: "transfer" }]).await;
}

#[tokio::test]
pub(super) async fn sandbox_returns_many_empty_strings() {
    fails_small(guest::SANDBOX_RETURNS_MANY_EMPTY_STRINGS, 1, &[FailureKind::Budget { which: "transfer" }]).await;
}

#[tokio::test]
pub(super) async fn sandbox_returns_one_list_many_times() {
    fails_small(guest::SANDBOX_RETURNS_ONE_LIST_MANY_TIMES, 1_000, &[FailureKind::Budget { which: "transfer" }]).await;
}

#[tokio::test]
pub(super) async fn sandbox_returns_what_is_not_there() {
    for batch in 1..=6 {
        fails_small(
            guest::SANDBOX_RETURNS_WHAT_IS_NOT_THERE,
            batch,
            &[FailureKind::Trap, FailureKind::Budget { which: "transfer" }],
        )
        .await;
    }
}
