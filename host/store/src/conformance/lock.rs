//! Connectors' own locks.

use std::sync::Arc;
use std::time::Duration;

use jackfield_model::{Clock as _, ConnectionId, ExecutionId};

use crate::conformance::bed::TTL;
use crate::conformance::sample::{connection, execution};
use crate::conformance::{Backend, Bed, End};
use crate::error::{Kind, StoreError};
use crate::lock::HELD_MAX;

/// One millisecond: what a lock lacks of its end.
const TICK: Duration = Duration::from_millis(1);

fn us() -> ExecutionId {
    execution(1)
}

fn them() -> ExecutionId {
    execution(2)
}

async fn lock<B: Backend>(bed: &Bed<B>, key: &str, owner: ExecutionId) -> Option<u64> {
    bed.locks.try_lock(&connection(), key, owner, TTL).await.unwrap()
}

async fn take<B: Backend>(bed: &Bed<B>, key: &str, owner: ExecutionId) -> u64 {
    lock(bed, key, owner).await.unwrap_or_else(|| panic!("{key} is held by somebody else"))
}

/// While one execution holds a lock nobody gets it, itself included; other keys and connections are free.
pub async fn one_owner<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let other: ConnectionId = "other".parse().unwrap();
    let first = take(&bed, "k", us()).await;
    for owner in [us(), them()] {
        assert_eq!(lock(&bed, "k", owner).await, None);
    }
    for key in ["K", "", "k\u{0}"] {
        take(&bed, key, them()).await;
    }
    assert!(bed.locks.try_lock(&other, "k", them(), TTL).await.unwrap().is_some());
    bed.locks.release(&other, us()).await.unwrap();
    assert!(!bed.locks.unlock(&other, "k", us(), first).await.unwrap());
    assert_eq!(lock(&bed, "k", them()).await, None, "what another connection gives back is its own");
}

/// Every grant of a key has a larger fence, over its end and the end of the process too. A new process finds all free.
pub async fn fences_only_grow<B: Backend>() {
    let mut bed = Bed::<B>::fresh().await;
    let mut newest = 0;
    for end in [End::Killed, End::Clean, End::Killed] {
        for round in ["at the start of a process", "lapsed", "unlocked", "released"] {
            let fence = take(&bed, "k", us()).await;
            assert!(fence > newest, "{round}: {fence} after {newest}");
            newest = fence;
            take(&bed, &format!("{end:?} {round}"), us()).await;
            match round {
                "at the start of a process" => bed.clock.pass(TTL),
                "lapsed" => assert!(bed.locks.unlock(&connection(), "k", us(), fence).await.unwrap()),
                _ => bed.locks.release(&connection(), us()).await.unwrap(),
            }
        }
        newest = take(&bed, "k", them()).await;
        bed = bed.reopen(end).await;
    }
}

/// A lock lapses when its time has passed, and not because somebody set the wall clock; renewed, that much later.
pub async fn lapses<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let day = Duration::from_secs(24 * 60 * 60);
    let fence = take(&bed, "k", us()).await;
    for clock in [bed.clock.now().after(day), bed.clock.now().before(day)] {
        bed.clock.set(clock);
        assert_eq!(lock(&bed, "k", them()).await, None, "at {clock}");
    }
    bed.clock.pass(TTL - TICK);
    assert_eq!(lock(&bed, "k", them()).await, None);
    assert!(bed.locks.renew(&connection(), "k", us(), fence, TTL).await.unwrap());
    bed.clock.pass(TTL - TICK);
    assert_eq!(lock(&bed, "k", them()).await, None, "it was renewed");
    assert!(bed.locks.renew(&connection(), "k", us(), fence, TICK).await.unwrap(), "for less than was left");
    bed.clock.pass(TICK);
    assert!(!bed.locks.renew(&connection(), "k", us(), fence, TTL).await.unwrap(), "nobody has it");
    assert!(!bed.locks.unlock(&connection(), "k", us(), fence).await.unwrap(), "nobody has it");
    let theirs = take(&bed, "k", them()).await;
    bed.locks.release(&connection(), us()).await.unwrap();
    assert!(bed.locks.renew(&connection(), "k", them(), theirs, TTL).await.unwrap(), "a late release takes nobody's");
    let at_once = bed.locks.try_lock(&connection(), "now", us(), Duration::ZERO).await.unwrap();
    assert!(at_once.is_some());
    take(&bed, "now", them()).await;
    let longest = bed.locks.try_lock(&connection(), "ever", us(), Duration::MAX).await.unwrap();
    assert!(longest.is_some());
    bed.clock.pass(day);
    assert_eq!(lock(&bed, "ever", them()).await, None, "no time is too long");
}

/// Renewing and unlocking go by owner and fence.
pub async fn owner_and_fence<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let old = take(&bed, "k", us()).await;
    bed.locks.release(&connection(), us()).await.unwrap();
    let fence = take(&bed, "k", us()).await;
    for (case, key, owner, fence) in [
        ("another owner", "k", them(), fence),
        ("an earlier fence", "k", us(), old),
        ("a fence to come", "k", us(), fence + 1),
        ("another key", "K", us(), fence),
    ] {
        assert!(!bed.locks.renew(&connection(), key, owner, fence, TTL).await.unwrap(), "{case}");
        assert!(!bed.locks.unlock(&connection(), key, owner, fence).await.unwrap(), "{case}");
        assert_eq!(lock(&bed, "k", them()).await, None, "{case}");
    }
    let unknown = "unknown".parse().unwrap();
    assert!(!bed.locks.renew(&unknown, "k", us(), fence, TTL).await.unwrap());
    assert!(!bed.locks.unlock(&unknown, "k", us(), fence).await.unwrap());
    bed.locks.release(&unknown, us()).await.unwrap();
    assert!(bed.locks.unlock(&connection(), "k", us(), fence).await.unwrap());
    assert!(!bed.locks.unlock(&connection(), "k", us(), fence).await.unwrap(), "once");
    take(&bed, "k", them()).await;
}

/// Everything of one owner, and nothing of anybody else.
pub async fn release<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    for (at, owner) in [us(), them(), us(), them()].into_iter().enumerate() {
        take(&bed, &format!("k{at}"), owner).await;
    }
    bed.locks.release(&connection(), execution(3)).await.unwrap();
    bed.locks.release(&connection(), us()).await.unwrap();
    for (at, free) in [true, false, true, false].into_iter().enumerate() {
        assert_eq!(lock(&bed, &format!("k{at}"), execution(3)).await.is_some(), free, "k{at}");
    }
}

/// Of many who come at once, one gets it.
pub async fn concurrent<B: Backend>() {
    let bed = Arc::new(Bed::<B>::fresh().await);
    let tasks: Vec<_> = (1..=100)
        .map(|at| {
            let bed = Arc::clone(&bed);
            tokio::spawn(async move { lock(&bed, "k", execution(at)).await })
        })
        .collect();
    let mut granted = 0;
    for task in tasks {
        granted += u32::from(task.await.unwrap().is_some());
    }
    assert_eq!(granted, 1);
}

/// So many at once a connection, and no more; what has ended makes room.
pub async fn ceiling<B: Backend>() {
    let bed = Arc::new(Bed::<B>::fresh().await);
    let other: ConnectionId = "other".parse().unwrap();
    let tasks: Vec<_> = (0..HELD_MAX)
        .map(|at| {
            let bed = Arc::clone(&bed);
            // The first one ends before the others do.
            let ttl = if at == 0 { TTL / 2 } else { TTL };
            tokio::spawn(async move { bed.locks.try_lock(&connection(), &format!("k{at}"), us(), ttl).await.unwrap() })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap().is_some());
    }
    let id = connection();
    let one_more = || bed.locks.try_lock(&id, "one more", them(), TTL);
    let refused = one_more().await.unwrap_err();
    assert!(matches!(refused, StoreError::TooMany { max: HELD_MAX, .. }), "{refused}");
    assert_eq!(refused.kind(), Kind::TooMany);
    assert_eq!(lock(&bed, "k7", them()).await, None, "held is held, also when there is no room");
    assert!(
        bed.locks.try_lock(&other, "one more", them(), TTL).await.unwrap().is_some(),
        "another connection has its own"
    );
    bed.clock.pass(TTL / 2);
    assert!(one_more().await.unwrap().is_some(), "what lapsed makes room");
    let another = bed.locks.try_lock(&connection(), "another", them(), TTL).await;
    assert_eq!(another.map_err(|error| error.kind()), Err(Kind::TooMany), "but for one");
    bed.locks.release(&connection(), us()).await.unwrap();
    take(&bed, "another", them()).await;
}
