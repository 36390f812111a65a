//! Guests that never return: every export, every helper that the canonical ABI calls, and waiting instead of working.

use std::time::{Duration, Instant};

use jackfield_engine::runtime::View;
use jackfield_engine::{CallFailure, FailureKind, LoadError};
use jackfield_tests::guest::{self, Guest};
use jackfield_tests::sandbox::{self, Bench, CALL, LATE, elapsed, fresh, received};

use super::fails;

/// What `describe` gets, the instantiation before it included.
const DESCRIBE: Duration = Duration::from_secs(10);

/// It can't even say who it is, and that is noticed in time.
async fn is_refused_in_time(guest: Guest, kind: FailureKind) {
    let engine = sandbox::engine();
    let began = Instant::now();
    match engine.load(guest.bytes()).await {
        Err(LoadError::Describe(failure)) => assert_eq!(failure.kind, kind, "{failure}"),
        other => panic!("{other:?}"),
    }
    // Compiling it takes a moment too.
    assert!(began.elapsed() < DESCRIBE + Duration::from_secs(5), "{:?}", began.elapsed());
}

/// A call of its session ends at the deadline, and the instance is gone.
async fn ends_at_the_deadline<T>(call: impl Future<Output = Result<T, CallFailure>>) {
    let began = Instant::now();
    let Err(failure) = call.await else { panic!("it must not come through") };
    assert_eq!(failure.kind, FailureKind::Deadline, "{failure}");
    assert!(began.elapsed() < CALL + LATE, "{:?}", began.elapsed());
}

#[tokio::test]
pub(super) async fn sandbox_spins_in_describe() {
    is_refused_in_time(guest::SANDBOX_SPINS_IN_DESCRIBE, FailureKind::Deadline).await;
}

#[tokio::test]
pub(super) async fn sandbox_spins_in_start_function() {
    is_refused_in_time(guest::SANDBOX_SPINS_IN_START_FUNCTION, FailureKind::Deadline).await;
}

#[tokio::test]
pub(super) async fn sandbox_traps_in_start_function() {
    is_refused_in_time(guest::SANDBOX_TRAPS_IN_START_FUNCTION, FailureKind::Trap).await;
}

#[tokio::test]
pub(super) async fn sandbox_spins_in_transform() {
    fails(&Bench::new(guest::SANDBOX_SPINS_IN_TRANSFORM).await, "now", FailureKind::Deadline).await;
}

/// The deadline is armed for every call, not once for an instance or a pool.
#[tokio::test]
async fn report_w3_the_second_spin_ends_like_the_first() {
    let pool = Bench::new(guest::SANDBOX_SPINS_IN_TRANSFORM).await.pool();
    for _ in 0..3 {
        pool.transform(&[received("good")]).await.unwrap();
        let began = Instant::now();
        assert_eq!(pool.transform(&[received("now")]).await.unwrap_err().kind, FailureKind::Deadline);
        assert!(began.elapsed() < CALL + LATE);
    }
}

#[tokio::test]
pub(super) async fn sandbox_spins_in_post_return() {
    let pool = Bench::new(guest::SANDBOX_SPINS_IN_POST_RETURN).await.pool();
    ends_at_the_deadline(pool.transform(&[received("x")])).await;
}

#[tokio::test]
pub(super) async fn sandbox_spins_in_realloc() {
    let pool = Bench::new(guest::SANDBOX_SPINS_IN_REALLOC).await.pool();
    ends_at_the_deadline(pool.transform(&[received("x")])).await;
}

#[tokio::test]
pub(super) async fn sandbox_spins_in_start() {
    let bench = Bench::new(guest::SANDBOX_SPINS_IN_START).await;
    ends_at_the_deadline(bench.session()).await;
}

#[tokio::test]
pub(super) async fn sandbox_spins_in_handle() {
    let bench = Bench::new(guest::SANDBOX_SPINS_IN_HANDLE).await;
    let mut session = bench.session().await.unwrap();
    ends_at_the_deadline(session.handle(elapsed("x"), View::default())).await;
    let again = session.handle(elapsed("x"), View::default()).await.unwrap_err();
    assert_eq!(again.kind, FailureKind::Refused, "the instance is gone: {again}");
}

#[tokio::test]
pub(super) async fn sandbox_spins_in_checkpoint() {
    let bench = Bench::new(guest::SANDBOX_SPINS_IN_CHECKPOINT).await;
    let mut session = bench.instance(std::sync::Arc::new(sandbox::MemoryMap::default())).await.unwrap();
    ends_at_the_deadline(session.start(fresh(), View::default())).await;
}

#[tokio::test]
pub(super) async fn sandbox_sleeps() {
    fails(&Bench::new(guest::SANDBOX_SLEEPS).await, "now", FailureKind::Deadline).await;
}

#[tokio::test]
pub(super) async fn sandbox_sleeps_in_handle() {
    let bench = Bench::new(guest::SANDBOX_SLEEPS_IN_HANDLE).await;
    let mut session = bench.session().await.unwrap();
    ends_at_the_deadline(session.handle(elapsed("x"), View::default())).await;
}
