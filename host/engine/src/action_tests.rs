//! What an action may call, what is kept of a call, and how long it may take.

use async_trait::async_trait;
use jackfield_model::contact::{Reference, Resolution};
use jackfield_model::wire::{HttpRequest, HttpResponse};
use jackfield_model::{Blob, ExecutionId, Fault, Timestamp};

use super::*;
use crate::failure::FailureKind;
use crate::testing::{Fakes, limits, load};

/// What every action has. All of the second page is zero, and zeroes are no actions, and `ok` with an empty outcome.
fn action(fields: &str, run: &str) -> String {
    format!(
        r#"{fields}
        (data (i32.const 700) "label")
        (func (export "jackfield:connector/action@0.1.0#describe") (result i32) (i32.const 65536))
        (func (export "jackfield:connector/action@0.1.0#run")
            (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32) (result i32) {run})"#
    )
}

const OK: &str = "(i32.const 65536)";

/// A fault: `result` err, first case (`rejected`), an empty text.
const REJECTED: &str = "(i32.store8 (i32.const 520) (i32.const 1)) (i32.const 520)";

const SET: &str = r#"(import "jackfield:connector/state@0.1.0" "set" (func $set (param i32 i32 i32 i32 i32 i32)))"#;
const SET_LABEL: &str =
    "(call $set (i32.const 700) (i32.const 5) (i32.const 0) (i32.const 700) (i32.const 5) (i32.const 600))";

const RESERVE: &str = r#"(import "jackfield:connector/http@0.1.0" "reserve" (func $reserve (param i32 i32 i32)))"#;
const RESERVE_LABEL: &str = "(call $reserve (i32.const 700) (i32.const 5) (i32.const 600))";

/// A way out that answers after a while.
struct Slow(Duration);

#[async_trait]
impl Client for Slow {
    async fn send(&self, _: HttpRequest) -> Result<HttpResponse, Fault> {
        Err(Fault::Unavailable(None))
    }
    async fn reserve(&self, _: &str) -> Result<(), Fault> {
        tokio::time::sleep(self.0).await;
        Ok(())
    }
    fn left(&self, _: &str, _: u32, _: Duration) {}
}

struct Nobody;

#[async_trait]
impl Directory for Nobody {
    async fn resolve(&self, _: &Reference) -> Result<Resolution, Fault> {
        Ok(Resolution::None)
    }
}

fn call() -> Call {
    Call {
        name: "say".to_owned(),
        args: "{}".to_owned(),
        execution: ExecutionId::new(Timestamp(1), 1),
        idempotency_key: None,
        attempt: 1,
        deadline: Timestamp(u64::MAX),
        annotations: "{}".to_owned(),
    }
}

async fn pool(wat: &str) -> Pool {
    let fakes = Fakes::default();
    Pool::new(&load(wat).await, limits(), 2, fakes.log())
}

async fn run(pool: &Pool, outbound: Outbound, limit: Duration) -> Result<Done, CallFailure> {
    pool.slot().await.run(&call(), Fakes::default().host(), outbound, limit).await
}

fn quick() -> Outbound {
    Outbound { client: Arc::new(Slow(Duration::ZERO)), directory: None, locks: None }
}

const LIMIT: Duration = Duration::from_secs(10);

#[tokio::test]
async fn effects_come_with_an_outcome_and_not_with_a_fault() {
    let wat = action(SET, &format!("{SET_LABEL} {OK}"));
    let done = run(&pool(&wat).await, quick(), LIMIT).await.unwrap();
    let set = Effect::StateSet { key: "label".to_owned(), value: Blob::from("label") };
    assert_eq!(done, Done { result: Ok(Outcome::default()), effects: vec![set] });

    let wat = action(SET, &format!("{SET_LABEL} {REJECTED}"));
    let done = run(&pool(&wat).await, quick(), LIMIT).await.unwrap();
    assert_eq!(done, Done { result: Err(ActionFault::Rejected(String::new())), effects: Vec::new() });
}

#[tokio::test]
async fn a_trap_ends_the_instance_and_not_the_pool() {
    // Traps on the second call of an instance.
    let field = "(global $calls (mut i32) (i32.const 0))";
    let body = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (if (i32.eq (global.get $calls) (i32.const 2)) (then unreachable)) (i32.const 65536)";
    let pool = pool(&action(field, body)).await;
    run(&pool, quick(), LIMIT).await.unwrap();
    let failure = run(&pool, quick(), LIMIT).await.unwrap_err();
    assert_eq!((failure.kind, failure.export), (FailureKind::Trap, EXPORT));
    run(&pool, quick(), LIMIT).await.unwrap();
}

#[tokio::test]
async fn what_only_a_session_may_call_is_a_trap() {
    let field = r#"(import "jackfield:connector/session@0.1.0" "starts-left" (func $left (param i32 i32)))"#;
    let wat = action(field, &format!("(call $left (i32.const 1) (i32.const 1)) {OK}"));
    let failure = run(&pool(&wat).await, quick(), LIMIT).await.unwrap_err();
    assert!(failure.message.starts_with("`session.starts-left` can't be called in action"), "{failure}");
}

#[tokio::test]
async fn case_10_waiting_is_bounded_by_the_deadline_and_computing_by_the_limit_of_a_call() {
    let waits = pool(&action(RESERVE, &format!("{RESERVE_LABEL} {OK}"))).await;
    let slow = |wait| Outbound { client: Arc::new(Slow(wait)), ..quick() };
    // Longer than a guest may compute.
    let wait = limits().call * 3;
    run(&waits, slow(wait), LIMIT).await.unwrap();
    let failure = run(&waits, slow(LIMIT), wait).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Deadline);

    let spins = pool(&action("", "(loop $for_ever (br $for_ever)) unreachable")).await;
    let clock = jackfield_model::clock::system();
    let began = clock.monotonic();
    let failure = run(&spins, quick(), Duration::from_secs(60)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Deadline);
    assert!(failure.message.starts_with("computed for more than 200 ms"), "{failure}");
    let took = clock.monotonic().duration_since(began);
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[tokio::test]
async fn slots_are_given_in_the_order_of_asking() {
    let pool = pool(&action("", OK)).await;
    let mut taken = vec![pool.slot().await, pool.slot().await];
    let (mut third, mut fourth) = (std::pin::pin!(pool.slot()), std::pin::pin!(pool.slot()));
    assert!(futures::poll!(&mut third).is_pending() && futures::poll!(&mut fourth).is_pending());
    taken.pop();
    assert!(futures::poll!(&mut fourth).is_pending());
    assert!(pool.try_slot().is_none(), "it is for the one that waits, even before he takes it");
    let slot = third.await;
    drop(slot);
    drop(fourth.await);
    assert!(pool.try_slot().is_some());
}

#[tokio::test]
async fn what_is_not_granted_is_denied() {
    // Traps with the tag of the fault plus one, unless it is `denied` (1).
    let resolve =
        r#"(import "jackfield:connector/contacts@0.1.0" "resolve" (func $resolve (param i32 i32 i32 i32 i32 i32)))"#;
    let body = "(call $resolve (i32.const 0) (i32.const 700) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 600))
        (if (i32.ne (i32.load8_u (i32.const 600)) (i32.const 1)) (then unreachable))
        (if (i32.ne (i32.load8_u (i32.const 604)) (i32.const 1)) (then unreachable)) (i32.const 65536)";
    let pool = pool(&action(resolve, body)).await;
    run(&pool, quick(), LIMIT).await.unwrap();
    let granted = Outbound { directory: Some(Arc::new(Nobody)), ..quick() };
    assert_eq!(run(&pool, granted, LIMIT).await.unwrap_err().kind, FailureKind::Trap);
}

#[tokio::test]
async fn what_does_not_export_actions_is_refused() {
    let failure = run(&pool("").await, quick(), LIMIT).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused);
}
