//! Hostile and helpful `transform`s.

use std::time::Duration;

use super::*;
use crate::failure::FailureKind;
use crate::testing::{Fakes, engine, limits, load, received};

/// A `transform` with this body: its parameters are the list, its result a pointer to a list. All of the second page is zero,
/// and zeroes are a list of answers without events.
fn transform(body: &str) -> String {
    format!(r#"(func (export "jackfield:connector/transform@0.1.0#transform") (param i32 i32) (result i32) {body})"#)
}

/// Answers every dispatch with no events.
const IGNORE_ALL: &str =
    "(i32.store (i32.const 512) (i32.const 65536)) (i32.store (i32.const 516) (local.get 1)) (i32.const 512)";

async fn pool(wat: &str, limits: GuestLimits) -> (Pool, Fakes) {
    let fakes = Fakes::default();
    (Pool::new(&load(wat).await, limits, 1, fakes.log()), fakes)
}

async fn fails(wat: &str) -> CallFailure {
    let (pool, _) = pool(wat, limits()).await;
    pool.transform(&[received()]).await.unwrap_err()
}

#[tokio::test]
async fn one_answer_for_each() {
    let (pool, _) = pool(&transform(IGNORE_ALL), limits()).await;
    for count in [0, 1, 64] {
        let answers = pool.transform(&vec![received(); count]).await.unwrap();
        assert_eq!(answers, vec![Answer::Events(Vec::new()); count]);
    }
    assert_eq!(pool.idle.lock().unwrap().len(), 1, "one instance served them all");
}

#[tokio::test]
async fn too_few_answers_are_a_failure() {
    let failure = fails(&transform("(i32.const 65536)")).await;
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Trap, "0 answers for 1 dispatches"));
}

#[tokio::test]
async fn case_10_and_w3_every_call_has_its_deadline() {
    let spin_on_two =
        format!("(if (i32.eq (local.get 1) (i32.const 2)) (then (loop $for_ever (br $for_ever)))) {IGNORE_ALL}");
    let (pool, _) = pool(&transform(&spin_on_two), limits()).await;
    for _ in 0..2 {
        pool.transform(&[received()]).await.unwrap();
        let began = jackfield_model::clock::system().monotonic();
        let failure = pool.transform(&[received(), received()]).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Deadline, "{failure}");
        assert!(began.elapsed() >= limits().call, "{:?}", began.elapsed());
        assert!(began.elapsed() < limits().call * 3, "{:?}", began.elapsed());
    }
}

#[tokio::test(flavor = "current_thread")]
async fn case_10_others_go_on_while_one_spins() {
    let (pool, _) = pool(&transform("(loop $for_ever (br $for_ever)) unreachable"), limits()).await;
    let batch = [received()];
    let timers = async {
        let mut fired = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            fired += 1;
            if fired == 5 {
                return;
            }
        }
    };
    tokio::select! {
        biased;
        () = timers => {}
        done = pool.transform(&batch) => panic!("timers on the same thread waited for the guest: {done:?}"),
    }
}

#[tokio::test]
async fn w6_a_trap_costs_one_instance() {
    let (pool, _) = pool(
        &transform(&format!("(if (i32.eq (local.get 1) (i32.const 2)) (then unreachable)) {IGNORE_ALL}")),
        limits(),
    )
    .await;
    for _ in 0..3 {
        let failure = pool.transform(&[received(), received()]).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Trap, "{failure}");
        assert!(failure.message.contains("unreachable"), "{failure}");
        assert!(pool.idle.lock().unwrap().is_empty());
        pool.transform(&[received()]).await.unwrap();
    }
}

#[tokio::test]
async fn case_12_memories_are_summed() {
    let grow = "(drop (memory.grow 1 (i32.const 40))) (if (i32.ne (memory.grow 0 (i32.const 40)) (i32.const -1)) (then unreachable))";
    let (roomy, _) = pool(&format!("(memory 1)\n{}", transform(&format!("{grow} {IGNORE_ALL}"))), limits()).await;
    roomy.transform(&[received()]).await.expect("the second growth is refused, and the guest goes on");
    let failure = fails(&transform(&format!(
        "(if (i32.eq (memory.grow (i32.const 80)) (i32.const -1)) (then unreachable)) {IGNORE_ALL}"
    )))
    .await;
    assert_eq!(failure.kind, FailureKind::Memory, "{failure}");
}

#[tokio::test]
async fn case_13_results_are_bounded() {
    // An ignored(..) of 5 MiB; a million answers without events.
    let huge_text = "(drop (memory.grow (i32.const 90)))
        (i32.store (i32.const 65536) (i32.const 1)) (i32.store (i32.const 65540) (i32.const 131072)) (i32.store (i32.const 65544) (i32.const 5242880))
        (i32.store (i32.const 512) (i32.const 65536)) (i32.store (i32.const 516) (i32.const 1)) (i32.const 512)";
    let many = "(drop (memory.grow (i32.const 190)))
        (i32.store (i32.const 512) (i32.const 65536)) (i32.store (i32.const 516) (i32.const 1000000)) (i32.const 512)";
    let outside =
        "(i32.store (i32.const 512) (i32.const -16)) (i32.store (i32.const 516) (i32.const 1)) (i32.const 512)";
    for (body, kind) in [
        (huge_text, FailureKind::Budget { which: "transfer" }),
        (many, FailureKind::Budget { which: "transfer" }),
        (outside, FailureKind::Trap),
    ] {
        let roomy = GuestLimits { memory: 60 << 20, ..limits() };
        let (pool, _) = pool(&transform(body), roomy).await;
        let failure = pool.transform(&[received()]).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{failure}");
    }
}

const CLOCK: &str = r#"(import "wasi:clocks/monotonic-clock@0.2.0" "now" (func $now (result i64)))
    (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $subscribe (param i64) (result i32)))
    (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))"#;

#[tokio::test]
async fn case_15_host_calls_are_counted() {
    let flood = format!("{CLOCK}\n{}", transform("(loop $for_ever (drop (call $now)) (br $for_ever)) unreachable"));
    let (pool, _) = pool(&flood, GuestLimits { call: Duration::from_secs(5), ..limits() }).await;
    let failure = pool.transform(&[received()]).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Budget { which: "host calls" }, "{failure}");
}

#[tokio::test]
async fn w8_a_guest_that_leaks_handles_is_replaced_in_time() {
    let leak = format!("{CLOCK}\n{}", transform(&format!("(drop (call $subscribe (i64.const 0))) {IGNORE_ALL}")));
    let (leaky, _) = pool(&leak, GuestLimits { handles: 200, ..limits() }).await;
    for _ in 0..1000 {
        leaky.transform(&[received()]).await.unwrap();
    }
    let burst = "(local $n i32) (loop $more (drop (call $subscribe (i64.const 0))) (local.set $n (i32.add (local.get $n) (i32.const 1))) (br_if $more (i32.lt_u (local.get $n) (i32.const 500))))";
    let (bursting, _) = pool(
        &format!("{CLOCK}\n{}", transform(&format!("{burst} {IGNORE_ALL}"))),
        GuestLimits { handles: 200, ..limits() },
    )
    .await;
    assert_eq!(bursting.transform(&[received()]).await.unwrap_err().kind, FailureKind::Trap);
}

#[tokio::test]
async fn case_18_waiting_ends_with_the_deadline() {
    let wait = format!("{CLOCK}\n{}", transform("(call $block (call $subscribe (i64.const -1))) unreachable"));
    let began = jackfield_model::clock::system().monotonic();
    assert_eq!(fails(&wait).await.kind, FailureKind::Deadline);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn case_19_a_dropped_call_takes_its_instance_with_it() {
    let wait = transform(&format!(
        "(if (i32.eq (local.get 1) (i32.const 2)) (then (call $block (call $subscribe (i64.const -1))))) {IGNORE_ALL}"
    ));
    let (pool, _) = pool(&format!("{CLOCK}\n{wait}"), limits()).await;
    for _ in 0..40 {
        let batch = [received(), received()];
        let dropped = tokio::time::timeout(Duration::from_millis(2), pool.transform(&batch)).await;
        assert!(dropped.is_err());
        pool.transform(&[received()]).await.expect("more dropped calls than the engine has instances");
    }
}

#[tokio::test]
async fn case_22_transform_sees_nothing_and_the_same_every_time() {
    // Traps unless both clocks stand at 0, nothing is in the environment, and random numbers repeat.
    let body = r#"(if (i64.ne (call $now) (i64.const 0)) (then unreachable))
        (call $environment (i32.const 600)) (if (i32.load (i32.const 604)) (then unreachable))
        (call $arguments (i32.const 600)) (if (i32.load (i32.const 604)) (then unreachable))
        (local.set $random (call $random_u64))
        (if (i64.eqz (local.get $random)) (then unreachable))
        (if (i64.eqz (global.get $before)) (then (global.set $before (local.get $random))))
        (if (i64.ne (global.get $before) (local.get $random)) (then unreachable))"#;
    let wat = format!(
        r#"{CLOCK}
        (import "wasi:random/random@0.2.0" "get-random-u64" (func $random_u64 (result i64)))
        (import "wasi:cli/environment@0.2.0" "get-environment" (func $environment (param i32)))
        (import "wasi:cli/environment@0.2.0" "get-arguments" (func $arguments (param i32)))
        (global $before (mut i64) (i64.const 0))
        {}"#,
        transform(&format!("(local $random i64) {body} {IGNORE_ALL}"))
    );
    let (pool, _) = pool(&wat, limits()).await;
    for _ in 0..3 {
        pool.transform(&[received()]).await.unwrap();
    }
}

#[tokio::test]
async fn case_22_random_bytes_are_bounded() {
    let failure = fails(&format!(
        "(import \"wasi:random/random@0.2.0\" \"get-random-bytes\" (func $bytes (param i64 i32)))\n{}",
        transform("(call $bytes (i64.const 10737418240) (i32.const 600)) unreachable")
    ))
    .await;
    assert_eq!(failure.kind, FailureKind::Budget { which: "random bytes of one request" }, "{failure}");
}

#[tokio::test]
async fn a_guest_never_exits() {
    let failure = fails(&format!(
        "(import \"wasi:cli/exit@0.2.0\" \"exit\" (func $exit (param i32)))\n{}",
        transform("(call $exit (i32.const 0)) unreachable")
    ))
    .await;
    assert!(failure.kind == FailureKind::Trap && failure.message.contains("a connector never exits"), "{failure}");
}

const STDERR: &str = r#"(import "wasi:cli/stderr@0.2.0" "get-stderr" (func $stderr (result i32)))
    (import "wasi:io/streams@0.2.0" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))
    (import "wasi:io/streams@0.2.0" "[method]output-stream.write-zeroes" (func $zeroes (param i32 i64 i32)))"#;

#[tokio::test]
async fn stderr_is_the_reason_of_a_trap_and_is_masked() {
    let wat = format!(
        "{STDERR}\n(data (i32.const 700) \"Error: canary-canary\\1b[2J\\n\")\n{}",
        transform("(call $write (call $stderr) (i32.const 700) (i32.const 25) (i32.const 800)) unreachable")
    );
    let (pool, fakes) = pool(&wat, limits()).await;
    let failure = pool.transform(&[received()]).await.unwrap_err();
    assert!(failure.message.ends_with(r"; stderr: Error: [secret:token]\u{1b}[2J"), "{failure}");
    assert_eq!(fakes.lines.lock().unwrap()[0].message, r"Error: [secret:token]\u{1b}[2J");
}

#[tokio::test]
async fn case_17_empty_writes_and_zeroes_end() {
    let flood = |call: &str| {
        let body = format!(
            "(local $stream i32) (local.set $stream (call $stderr)) (loop $for_ever {call} (br $for_ever)) unreachable"
        );
        format!("{STDERR}\n{}", transform(&body))
    };
    let limits = GuestLimits { call: Duration::from_secs(5), ..limits() };
    for call in [
        "(call $write (local.get $stream) (i32.const 0) (i32.const 0) (i32.const 800))",
        "(call $zeroes (local.get $stream) (i64.const 1024) (i32.const 800))",
    ] {
        let (pool, _) = pool(&flood(call), limits).await;
        let failure = pool.transform(&[received()]).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Budget { which: "host calls" }, "{failure}");
    }
    let (pool, _) =
        pool(&flood("(call $zeroes (local.get $stream) (i64.const 1099511627776) (i32.const 800))"), limits).await;
    assert_eq!(pool.transform(&[received()]).await.unwrap_err().kind, FailureKind::Trap);
}

#[tokio::test]
async fn what_a_call_prints_is_bounded() {
    let body = "(local $stream i32) (local $n i32) (local.set $stream (call $stderr))
        (memory.fill (i32.const 65536) (i32.const 120) (i32.const 65536))
        (loop $more (call $write (local.get $stream) (i32.const 65536) (i32.const 65536) (i32.const 800))
            (local.set $n (i32.add (local.get $n) (i32.const 1))) (br_if $more (i32.lt_u (local.get $n) (i32.const 64))))
        (memory.fill (i32.const 65536) (i32.const 0) (i32.const 65536))";
    let (pool, fakes) = pool(&format!("{STDERR}\n{}", transform(&format!("{body} {IGNORE_ALL}"))), limits()).await;
    pool.transform(&[received()]).await.unwrap();
    let bytes: usize = fakes.lines.lock().unwrap().iter().map(|line| line.message.len()).sum();
    assert!(bytes <= 64 * 1024, "{bytes}");
    assert!(pool.log.dropped() >= 63, "{}", pool.log.dropped());
}

#[tokio::test]
async fn transform_may_call_no_import() {
    let failure = fails(&format!(
        "(import \"jackfield:connector/connection@0.1.0\" \"id\" (func $id (param i32)))\n{}",
        transform("(call $id (i32.const 600)) unreachable")
    ))
    .await;
    assert_eq!(failure.message.split(", in ").next().unwrap(), "`connection.id` can't be called in transform");
}

#[tokio::test]
async fn case_24_no_call_without_a_clock() {
    let engine = engine();
    let component = engine.load(crate::testing::component(&transform(IGNORE_ALL))).await.unwrap();
    let pool = Pool::new(&component, limits(), 1, Fakes::default().log());
    pool.transform(&[received()]).await.unwrap();
    engine.ticker().stall(true);
    let limit = jackfield_model::clock::system().monotonic() + Duration::from_secs(10);
    while engine.health().is_healthy() {
        assert!(jackfield_model::clock::system().monotonic() < limit);
        tokio::task::yield_now().await;
    }
    let failure = pool.transform(&[received()]).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused, "{failure}");
    assert!(engine.load(crate::testing::component(&transform(IGNORE_ALL))).await.is_err());
    engine.ticker().stall(false);
    while !engine.health().is_healthy() {
        assert!(jackfield_model::clock::system().monotonic() < limit);
        tokio::task::yield_now().await;
    }
    pool.transform(&[received()]).await.unwrap();
}

#[tokio::test]
async fn case_21_a_full_pool_refuses_and_recovers() {
    let wait = transform("(call $block (call $subscribe (i64.const -1))) unreachable");
    let (pool, _) = pool(&format!("{CLOCK}\n{wait}"), limits()).await;
    let batch = [received()];
    let (first, second) = tokio::join!(pool.transform(&batch), pool.transform(&batch));
    assert_eq!(first.unwrap_err().kind, FailureKind::Deadline);
    // The second waited as long as a call may take, and either got the place at the last moment or was refused.
    assert!(matches!(second.unwrap_err().kind, FailureKind::Refused | FailureKind::Deadline));
}
