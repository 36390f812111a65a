//! Who may run a session.

use std::sync::Arc;
use std::time::Duration;

use jackfield_model::{Clock as _, Epoch, Fence, Token};

use crate::conformance::bed::{TTL, fence};
use crate::conformance::sample::connection;
use crate::conformance::{Backend, Bed, End};
use crate::lease::{Acquire, Renew};

const OURS: Token = Token(1);
const THEIRS: Token = Token(2);

/// While one token holds a lease, no other gets it, and the same one gets the same epoch.
pub async fn one_holder<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    assert_eq!(bed.leases.standing(&id).await.unwrap(), None);
    let first = bed.leases.acquire(&id, OURS, TTL).await.unwrap();
    assert_eq!(first, Acquire::Granted { epoch: Epoch(1) });
    let until = bed.clock.now().after(TTL);
    assert_eq!(bed.leases.acquire(&id, THEIRS, TTL).await.unwrap(), Acquire::Held { until });
    bed.clock.pass(TTL / 3);
    assert_eq!(bed.leases.acquire(&id, OURS, TTL).await.unwrap(), first, "again with the same token");
    let standing = bed.leases.standing(&id).await.unwrap().unwrap();
    assert_eq!((standing.epoch, standing.until), (Epoch(1), Some(bed.clock.now().after(TTL))));
    let other = bed.leases.acquire(&"other".parse().unwrap(), THEIRS, TTL).await.unwrap();
    assert_eq!(other, Acquire::Granted { epoch: Epoch(1) }, "leases of connections have nothing to do with each other");
}

/// Renewing and releasing go by the whole fence.
pub async fn renew_and_release<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    bed.leases.acquire(&id, OURS, TTL).await.unwrap();
    let held = Fence { epoch: Epoch(1), token: OURS };
    for (case, fence) in [
        ("another token", Fence { token: THEIRS, ..held }),
        ("another epoch", Fence { epoch: Epoch(2), ..held }),
        ("neither", fence(7, 7)),
    ] {
        assert_eq!(bed.leases.renew(&id, fence, TTL).await.unwrap(), Renew::Lost, "{case}");
        bed.leases.release(&id, fence).await.unwrap();
        assert_eq!(bed.leases.renew(&id, held, TTL).await.unwrap(), Renew::Held, "released under {case}");
    }
    bed.leases.release(&id, held).await.unwrap();
    assert_eq!(bed.leases.standing(&id).await.unwrap().unwrap().until, None);
    let next = bed.leases.acquire(&id, THEIRS, TTL).await.unwrap();
    assert_eq!(next, Acquire::Granted { epoch: Epoch(2) });
    bed.leases.release(&id, held).await.unwrap();
    assert_eq!(bed.leases.renew(&id, held, TTL).await.unwrap(), Renew::Lost);
    let still = bed.leases.acquire(&id, OURS, TTL).await.unwrap();
    assert!(matches!(still, Acquire::Held { .. }), "a delayed release ends nobody else's lease");
    let unknown = "unknown".parse().unwrap();
    assert_eq!(bed.leases.renew(&unknown, held, TTL).await.unwrap(), Renew::Lost);
    bed.leases.release(&unknown, held).await.unwrap();
}

/// Every grant has a larger epoch, over the end of the process too.
pub async fn epochs_only_grow<B: Backend>() {
    let mut bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut newest = Epoch(0);
    for round in 0..6 {
        let ground = bed.term(&id).await;
        assert!(ground.fence.epoch > newest, "round {round}");
        newest = ground.fence.epoch;
        bed = bed.reopen(if round % 2 == 0 { End::Killed } else { End::Clean }).await;
        assert_eq!(bed.leases.standing(&id).await.unwrap().unwrap().epoch, newest);
    }
}

/// A lease lapses when its time has passed, and not because somebody set the wall clock.
pub async fn lapses<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    bed.leases.acquire(&id, OURS, TTL).await.unwrap();
    let day = Duration::from_secs(24 * 60 * 60);
    for clock in [bed.clock.now().after(day), bed.clock.now().before(day)] {
        bed.clock.set(clock);
        assert!(matches!(bed.leases.acquire(&id, THEIRS, TTL).await.unwrap(), Acquire::Held { .. }), "at {clock}");
    }
    bed.clock.pass(TTL - Duration::from_millis(1));
    assert!(matches!(bed.leases.acquire(&id, THEIRS, TTL).await.unwrap(), Acquire::Held { .. }));
    bed.clock.pass(Duration::from_millis(1));
    assert_eq!(bed.leases.acquire(&id, THEIRS, TTL).await.unwrap(), Acquire::Granted { epoch: Epoch(2) });
    let late = Fence { epoch: Epoch(1), token: OURS };
    assert_eq!(bed.leases.renew(&id, late, TTL).await.unwrap(), Renew::Lost);
}

/// Of many who come at once, one gets it.
pub async fn concurrent<B: Backend>() {
    let bed = Arc::new(Bed::<B>::fresh().await);
    let tasks: Vec<_> = (0..16)
        .map(|token| {
            let bed = Arc::clone(&bed);
            tokio::spawn(async move { bed.leases.acquire(&connection(), Token(token), TTL).await.unwrap() })
        })
        .collect();
    let mut granted = 0;
    for task in tasks {
        granted += u32::from(matches!(task.await.unwrap(), Acquire::Granted { .. }));
    }
    assert_eq!(granted, 1);
}
