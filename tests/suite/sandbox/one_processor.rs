//! The same on one processor: a guest that spins shares it with everybody else, timers of others included.

use std::time::{Duration, Instant};

use jackfield_engine::FailureKind;
use jackfield_tests::guest::{self, Guest};
use jackfield_tests::sandbox::{Bench, CALL, LATE, received};
use rustix::thread::{CpuSet, sched_setaffinity};

/// How often the neighbour's timer fires.
const BEAT: Duration = Duration::from_millis(20);

/// How late one of its beats may be: a spinning guest gives the processor back every 10 ms, one that fills memory after a
/// fill (some 20 ms), and there are two of them. The rest is for a machine that has other work too.
const BEAT_LATE: Duration = Duration::from_millis(300);

/// Runs this on the first processor alone, the threads that it starts included, on a runtime of one thread.
fn pinned<T>(test: impl Future<Output = T>) -> T {
    let mut first = CpuSet::new();
    first.set(0);
    // Of this thread; those that it starts inherit it.
    sched_setaffinity(None, &first).expect("a thread may give up processors");
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

/// How late a timer was at most while this ran.
async fn lateness_during(work: impl Future<Output = ()>) -> Duration {
    let mut beats = tokio::time::interval(BEAT);
    beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut last = Instant::now();
    let mut worst = Duration::ZERO;
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            _ = beats.tick() => {
                worst = worst.max(last.elapsed().saturating_sub(BEAT));
                last = Instant::now();
            }
            () = &mut work => return worst,
        }
    }
}

/// Two of these spin side by side until their deadline. A timer beside them fires, and so does a good guest.
fn spins_beside_others(spinning: Guest, payload: &'static str) {
    pinned(async {
        let spinning = Bench::new(spinning).await;
        let good = Bench::on(spinning.engine.clone(), guest::SANDBOX_TRAPS_IN_TRANSFORM).await;
        let (first, second, neighbour) = (spinning.pool(), spinning.pool(), good.pool());
        neighbour.transform(&[received("good")]).await.unwrap();
        let late = lateness_during(async {
            let began = Instant::now();
            let (one, two) = ([received(payload)], [received(payload)]);
            let spins = async { tokio::join!(first.transform(&one), second.transform(&two)) };
            let neighbour = async {
                let began = Instant::now();
                neighbour.transform(&[received("good")]).await.unwrap();
                began.elapsed()
            };
            let ((one, two), took) = tokio::join!(spins, neighbour);
            assert_eq!(one.unwrap_err().kind, FailureKind::Deadline);
            assert_eq!(two.unwrap_err().kind, FailureKind::Deadline);
            assert!(began.elapsed() < CALL + LATE, "{:?}", began.elapsed());
            assert!(took < CALL, "the neighbour waited {took:?}");
        })
        .await;
        assert!(late < BEAT_LATE, "a timer was {late:?} late");
    });
}

#[test]
fn case_10_one_processor_spins_in_transform() {
    spins_beside_others(guest::SANDBOX_SPINS_IN_TRANSFORM, "now");
}

#[test]
fn case_10_one_processor_spins_in_post_return() {
    spins_beside_others(guest::SANDBOX_SPINS_IN_POST_RETURN, "x");
}

#[test]
fn case_10_one_processor_spins_in_realloc() {
    spins_beside_others(guest::SANDBOX_SPINS_IN_REALLOC, "x");
}

#[test]
fn case_11_one_processor_fills_memory() {
    spins_beside_others(guest::SANDBOX_FILLS_MEMORY, "x");
}

#[test]
fn case_18_one_processor_sleeps() {
    spins_beside_others(guest::SANDBOX_SLEEPS, "now");
}
