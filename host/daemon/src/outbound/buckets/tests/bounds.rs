//! Numbers that nobody should send, and ceilings.

use std::collections::BTreeSet;
use std::task::{Context, Waker};
use std::time::Duration;

use super::super::limit::RESETS_MAX;
use super::super::table::{BUCKETS_MAX, WAITERS_MAX};
use super::super::{EVERYTHING, Ticket};
use super::world::World;
use super::{answered, busy, free, ms, sent};

#[test]
fn nothing_is_believed_for_longer_than_the_ceiling() {
    let world = World::new();
    let buckets = world.buckets();
    answered(&buckets, "a", 0, Duration::MAX);
    buckets.pause("b", Duration::MAX);
    assert_eq!(busy(&buckets, "a").after, Some(RESETS_MAX));
    assert_eq!(busy(&buckets, "b").after, Some(RESETS_MAX));
    buckets.pause(EVERYTHING, Duration::MAX);
    assert_eq!(busy(&buckets, "c").after, Some(RESETS_MAX));
    world.pass(RESETS_MAX);
    for bucket in ["a", "b", "c"] {
        assert_eq!(free(&buckets, bucket), 1, "{bucket}");
    }
}

#[test]
fn report_q5_no_number_overflows() {
    let world = World::new();
    for remaining in [0, 1, u32::MAX - 1, u32::MAX] {
        for wait in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
            let buckets = world.buckets();
            answered(&buckets, "a", remaining, wait);
            buckets.left("a", remaining, wait);
            let places: Vec<_> = (0..3).map_while(|_| buckets.try_reserve("a", Ticket(u64::MAX)).ok()).collect();
            drop(places);
            buckets.pause("a", wait);
            answered_or_paused(&buckets, wait);
            world.pass(RESETS_MAX);
            answered(&buckets, "a", remaining, wait);
            for level in buckets.levels(9) {
                assert!(level.remaining.is_none_or(|remaining| remaining <= 10_001), "{level:?}");
            }
        }
    }
}

fn answered_or_paused(buckets: &super::Buckets, wait: Duration) {
    match buckets.try_reserve("a", Ticket(0)) {
        Ok(_) => assert!(wait.is_zero()),
        Err(busy) => assert_eq!(busy.after, Some(wait.min(RESETS_MAX))),
    }
}

#[test]
fn the_time_of_the_last_of_many_does_not_overflow() {
    let world = World::new();
    let buckets = world.buckets();
    answered(&buckets, "a", 0, Duration::MAX);
    let until = world.at(Duration::from_secs(u64::from(u32::MAX)));
    let mut turns: Vec<_> = (0..1000).map(|n| Box::pin(buckets.turn("a", Ticket(n), until))).collect();
    for turn in &mut turns {
        assert!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(buckets.try_reserve("a", Ticket(1000)).unwrap_err().after, Some(RESETS_MAX * 1001));
}

#[test]
fn no_more_wait_than_the_ceiling() {
    let world = World::new();
    let buckets = world.buckets();
    let taken = sent(&buckets, "a");
    let until = world.at(ms(1000));
    let mut turns: Vec<_> = (0..WAITERS_MAX).map(|n| Box::pin(buckets.turn("a", Ticket(n as u64), until))).collect();
    for turn in &mut turns {
        assert!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let mut beyond = Box::pin(buckets.turn("b", Ticket(0), until));
    assert!(beyond.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    turns.pop();
    let mut next = Box::pin(buckets.turn("a", Ticket(0), until));
    assert!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop((taken, turns, next));
    assert_eq!(buckets.levels(9).len(), 1, "its request may be on the way still");
    world.pass(ms(2_000));
    assert_eq!(buckets.levels(9), [], "nothing is known, so nothing is kept");
}

#[test]
fn of_too_many_buckets_the_idle_ones_go() {
    let world = World::new();
    let buckets = world.buckets();
    answered(&buckets, "blocked", 0, ms(60_000));
    buckets.pause("paused", ms(60_000));
    let held = sent(&buckets, "held");
    let waited_for = sent(&buckets, "waited for");
    let mut turn = Box::pin(buckets.turn("waited for", Ticket(1), world.at(ms(90_000))));
    assert!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    for n in 0..2 * BUCKETS_MAX {
        world.pass(ms(1));
        answered(&buckets, &format!("idle {n}"), 3, ms(60_000));
    }
    let kept: BTreeSet<String> = buckets.levels(usize::MAX).into_iter().map(|level| level.bucket).collect();
    assert_eq!(kept.len(), BUCKETS_MAX);
    for name in ["blocked", "paused", "held", "waited for"] {
        assert!(kept.contains(name), "{name}");
    }
    assert!(kept.contains(&format!("idle {}", 2 * BUCKETS_MAX - 1)), "the oldest go first");
    drop((held, waited_for));
}

#[test]
fn when_all_are_blocked_a_new_one_waits_for_the_first_to_end() {
    let world = World::new();
    let buckets = world.buckets();
    for n in 0..BUCKETS_MAX {
        buckets.pause(&format!("{n}"), ms(10_000 + n as u64));
    }
    world.pass(ms(1_000));
    assert_eq!(busy(&buckets, "new").after, Some(ms(9_000)));
    buckets.pause("new", ms(1));
    buckets.left("new", 1, ms(1));
    world.pass(ms(9_000));
    assert_eq!(free(&buckets, "new"), 1);
}

#[test]
fn people_see_the_most_pressing_ones() {
    let world = World::new();
    let buckets = world.buckets();
    for n in 0..100 {
        answered(&buckets, &format!("idle {n}"), 3, ms(60_000));
    }
    answered(&buckets, "blocked", 0, ms(500));
    let _held = sent(&buckets, "waited for");
    let mut turn = Box::pin(buckets.turn("waited for", Ticket(1), world.at(ms(90_000))));
    assert!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    buckets.pause(EVERYTHING, ms(40));
    let levels = serde_json::to_value(buckets.levels(3)).unwrap();
    let expected = serde_json::json!([
        { "bucket": "*", "remaining": null, "resets_at": null, "paused_until": 1_000_040, "outstanding": 0, "waiting": 0 },
        { "bucket": "waited for", "remaining": null, "resets_at": null, "paused_until": null, "outstanding": 1, "waiting": 1 },
        { "bucket": "blocked", "remaining": 0, "resets_at": 1_000_500, "paused_until": null, "outstanding": 0, "waiting": 0 },
    ]);
    assert_eq!(levels, expected);
}
