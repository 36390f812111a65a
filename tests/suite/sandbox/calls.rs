//! Guests that call what they may not, or too often, or that return nonsense.

use std::sync::Arc;

use jackfield_engine::runtime::View;
use jackfield_engine::{FailureKind, LoadError};
use jackfield_tests::guest;
use jackfield_tests::sandbox::{self, Bench, MemoryMap, elapsed, fresh, received};

use super::{fails, transform};

#[tokio::test]
pub(super) async fn sandbox_imports_in_transform() {
    let bench = Bench::new(guest::SANDBOX_IMPORTS_IN_TRANSFORM).await;
    let imports = [
        ("ingest", "ingest.submit"),
        ("connection", "connection.config"),
        ("contacts", "contacts.resolve"),
        ("lease", "lease.try-acquire"),
        ("http", "http.reserve"),
        ("session", "session.cancel-timer"),
        ("state", "state.get"),
        ("signatures", "signatures.equals"),
        ("log", "log.write"),
    ];
    for (payload, import) in imports {
        let failure = fails(&bench, payload, FailureKind::Trap).await;
        assert!(failure.message.contains(import), "{failure}");
    }
}

#[tokio::test]
pub(super) async fn sandbox_imports_in_describe() {
    let error = sandbox::engine().load(guest::SANDBOX_IMPORTS_IN_DESCRIBE.bytes()).await.unwrap_err();
    assert!(matches!(&error, LoadError::Describe(failure) if failure.message.contains("connection.id")), "{error}");
}

#[tokio::test]
pub(super) async fn sandbox_imports_in_checkpoint() {
    let bench = Bench::new(guest::SANDBOX_IMPORTS_IN_CHECKPOINT).await;
    let mut session = bench.instance(Arc::new(MemoryMap::default())).await.unwrap();
    let failure = session.start(fresh(), View::default()).await.unwrap_err();
    assert!(failure.message.contains("session.set-timer"), "{failure}");
}

#[tokio::test]
pub(super) async fn sandbox_imports_in_handle() {
    let bench = Bench::new(guest::SANDBOX_IMPORTS_IN_HANDLE).await;
    for (label, import) in [("contacts", "contacts.resolve"), ("lease", "lease.try-acquire"), ("http", "http.send")] {
        let mut session = bench.session().await.unwrap();
        let failure = session.handle(elapsed(label), View::default()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Trap);
        assert!(failure.message.contains(import), "{failure}");
    }
}

#[tokio::test]
pub(super) async fn sandbox_calls_the_host_without_end() {
    let bench = Bench::new(guest::SANDBOX_CALLS_THE_HOST_WITHOUT_END).await;
    let mut session = bench.session().await.unwrap();
    let failure = session.handle(elapsed("x"), View::default()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Budget { which: "host calls" }, "{failure}");
}

#[tokio::test]
pub(super) async fn sandbox_asks_for_too_many_effects() {
    let bench = Bench::new(guest::SANDBOX_ASKS_FOR_TOO_MANY_EFFECTS).await;
    let mut session = bench.session().await.unwrap();
    let failure = session.handle(elapsed("number"), View::default()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Budget { which: "effects" }, "{failure}");
    // Frames without a socket are refused one by one; the calls are what is counted then.
    let mut session = bench.session().await.unwrap();
    let failure = session.handle(elapsed("bytes"), View::default()).await.unwrap_err();
    assert!(matches!(failure.kind, FailureKind::Budget { .. } | FailureKind::Deadline), "{failure}");
}

/// One call that leaks too much ends; many that leak a little only wear out their instances.
#[tokio::test]
pub(super) async fn sandbox_leaks_handles() {
    let bench = Bench::new(guest::SANDBOX_LEAKS_HANDLES).await;
    fails(&bench, "now", FailureKind::Trap).await;
}

#[tokio::test]
async fn report_w8_a_pool_outlives_a_leak_in_every_call() {
    let mut bench = Bench::new(guest::SANDBOX_LEAKS_HANDLES).await;
    bench.limits.handles = 200;
    let pool = bench.pool();
    for _ in 0..1_000 {
        pool.transform(&[received("good")]).await.unwrap();
    }
}

#[tokio::test]
pub(super) async fn sandbox_traps_in_transform() {
    let bench = Bench::new(guest::SANDBOX_TRAPS_IN_TRANSFORM).await;
    fails(&bench, "now", FailureKind::Trap).await;
    let panicked = fails(&bench, "panic", FailureKind::Trap).await;
    assert!(panicked.message.contains("panicked"), "what it wrote to stderr is told: {panicked}");
    fails(&bench, "stack", FailureKind::Trap).await;
}

#[tokio::test]
pub(super) async fn sandbox_answers_too_few() {
    let bench = Bench::new(guest::SANDBOX_ANSWERS_TOO_FEW).await;
    assert!(transform(&bench, "good").await.is_ok());
    let failure = bench.pool().transform(&[received("a"), received("b")]).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Trap, "{failure}");
    let failure = bench.session().await.err().expect("its checkpoint is too large");
    assert_eq!(failure.kind, FailureKind::Budget { which: "checkpoint" }, "{failure}");
}
