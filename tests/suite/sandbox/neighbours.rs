//! What a broken guest, or a broken part of the host, does to everybody else: nothing.

use std::sync::Arc;

use async_trait::async_trait;
use jackfield_engine::FailureKind;
use jackfield_engine::capability::state::Map;
use jackfield_engine::runtime::View;
use jackfield_model::session::Signal;
use jackfield_model::{Blob, Fault};
use jackfield_tests::guest;
use jackfield_tests::sandbox::{Bench, MemoryMap, fresh, received};

/// The state of a connection, kept by somebody with a bug.
struct Panics;

#[async_trait]
impl Map for Panics {
    async fn get(&self, _: &str) -> Result<Option<Blob>, Fault> {
        panic!("a bug in the host")
    }

    async fn size(&self) -> Result<u64, Fault> {
        Ok(0)
    }
}

fn asks_for_state() -> Vec<Signal> {
    vec![Signal::Message { label: "main".to_owned(), message: Blob::from("set anything else") }]
}

#[tokio::test]
async fn case_20_a_panic_in_an_import_ends_the_guest_and_nothing_else() {
    let bench = Bench::new(guest::SESSION_ECHO).await;
    let mut broken = bench.instance(Arc::new(Panics)).await.unwrap();
    broken.start(fresh(), View::default()).await.unwrap();
    let failure = broken.handle(asks_for_state(), View::default()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Host, "{failure}");
    assert_eq!(broken.handle(asks_for_state(), View::default()).await.unwrap_err().kind, FailureKind::Refused);

    let mut whole = bench.instance(Arc::new(MemoryMap::default())).await.unwrap();
    whole.start(fresh(), View::default()).await.unwrap();
    assert_eq!(whole.handle(asks_for_state(), View::default()).await.unwrap().effects.len(), 1);
    assert!(bench.engine.health().is_healthy());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_21_a_trap_in_one_guest_leaves_the_others_alone() {
    let bad = Bench::new(guest::SANDBOX_TRAPS_IN_TRANSFORM).await;
    let good = Bench::on(bad.engine.clone(), guest::SESSION_ECHO).await;
    let (bad, good) = (Arc::new(bad.pool()), Arc::new(good.pool()));
    let traps = tokio::spawn(async move {
        for _ in 0..200 {
            assert_eq!(bad.transform(&[received("now")]).await.unwrap_err().kind, FailureKind::Trap);
            bad.transform(&[received("good")]).await.expect("a fresh instance serves the next call");
        }
    });
    let mut served = 0;
    while !traps.is_finished() {
        good.transform(&[received("say lane 1 hello")]).await.expect("the neighbour is served all the while");
        served += 1;
    }
    traps.await.unwrap();
    assert!(served > 10, "{served}");
}

/// After a trap the next dispatch gets a fresh instance: a pool is alive when a call of it is, not when the process is.
#[tokio::test]
async fn report_w6_the_next_event_is_transformed() {
    let bench = Bench::new(guest::SANDBOX_TRAPS_IN_TRANSFORM).await;
    let pool = bench.pool();
    for _ in 0..5 {
        assert_eq!(pool.transform(&[received("panic")]).await.unwrap_err().kind, FailureKind::Trap);
        assert_eq!(pool.transform(&[received("good")]).await.unwrap().len(), 1);
    }
}
