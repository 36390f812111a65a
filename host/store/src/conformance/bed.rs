//! What a case stands on: a fresh store, a clock in its hand, and a session that holds the lease.

use std::future::Future;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jackfield_model::clock::SystemClock;
use jackfield_model::limits::DEDUPE_ENTRIES_MAX;
use jackfield_model::{Clock, ConnectionId, Epoch, Fence, Monotonic, Timestamp, Token};

use crate::Stores;
use crate::commit::{Batch, Commit, Ground, Receipt, Settled};
use crate::conformance::sample;
use crate::event::{Filter, Record};
use crate::lease::Acquire;

/// A backend, as its tests make it.
pub trait Backend: Sized + Send + Sync + 'static {
    /// An empty store.
    fn fresh(setup: Setup) -> impl Future<Output = Self> + Send;
    /// Its stores.
    fn stores(&self) -> Stores;
    /// Ends the host's process and starts it again on what it left.
    fn reopen(self, end: End) -> impl Future<Output = Self> + Send;
}

/// How a store is to be made.
#[derive(Clone)]
pub struct Setup {
    /// The only source of time.
    pub clock: Arc<HandClock>,
    /// Entries of a connection's dedupe window.
    pub dedupe_entries: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self { clock: Arc::default(), dedupe_entries: DEDUPE_ENTRIES_MAX }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It closed its store.
    Clean,
    /// It was killed while nothing was under way.
    Killed,
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct HandClock {
    wall: AtomicU64,
    monotonic: Mutex<Monotonic>,
}

impl Default for HandClock {
    fn default() -> Self {
        // 2026-02-03, and whatever the monotonic clock says now: only differences are seen.
        Self { wall: AtomicU64::new(1_770_128_116_171), monotonic: Mutex::new(SystemClock.monotonic()) }
    }
}

impl HandClock {
    /// Time passes.
    pub fn pass(&self, time: Duration) {
        self.set(self.now().after(time));
        let mut monotonic = self.monotonic.lock().unwrap_or_else(PoisonError::into_inner);
        *monotonic += time;
    }

    /// Somebody sets the wall clock.
    pub fn set(&self, to: Timestamp) {
        self.wall.store(to.0, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.wall.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Monotonic {
        *self.monotonic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store, and what cases do with it all the time.
pub struct Bed<B> {
    /// The clock that the store goes by.
    pub clock: Arc<HandClock>,
    backend: B,
    stores: Stores,
}

impl<B> Deref for Bed<B> {
    type Target = Stores;
    fn deref(&self) -> &Stores {
        &self.stores
    }
}

impl<B: Backend> Bed<B> {
    /// A fresh store.
    pub async fn fresh() -> Self {
        Self::with(Setup::default()).await
    }

    /// A fresh store with a small dedupe window.
    pub async fn with_window(dedupe_entries: usize) -> Self {
        Self::with(Setup { dedupe_entries, ..Setup::default() }).await
    }

    async fn with(setup: Setup) -> Self {
        let clock = Arc::clone(&setup.clock);
        let backend = B::fresh(setup).await;
        Self { clock, stores: backend.stores(), backend }
    }

    /// The process ends and starts again.
    pub async fn reopen(self, end: End) -> Self {
        let Self { clock, backend, stores } = self;
        drop(stores);
        let backend = backend.reopen(end).await;
        Self { clock, stores: backend.stores(), backend }
    }

    /// A new term: the lease under a token of its own, released from whoever had it before by time.
    pub async fn term(&self, connection: &ConnectionId) -> Ground {
        self.clock.pass(TTL);
        let token = Token(u128::from(self.clock.now().0) << 64 | 0xfeed);
        match self.leases.acquire(connection, token, TTL).await.unwrap() {
            Acquire::Granted { epoch } => Ground { fence: Fence { epoch, token }, count: 0 },
            Acquire::Held { until } => panic!("{connection} is held until {until}, though every ttl has passed"),
        }
    }

    /// Commits, and says how that ended.
    pub async fn try_commit(&self, batch: Batch, ground: Option<Ground>) -> Commit {
        self.commits.commit(batch, ground).await.unwrap()
    }

    /// Commits under the ground, which is moved on.
    pub async fn commit(&self, batch: Batch, ground: &mut Ground) -> Receipt {
        let receipt = done(self.try_commit(batch, Some(*ground)).await);
        ground.count += 1;
        receipt
    }

    /// Commits without a fence.
    pub async fn commit_unbound(&self, settled: Vec<Settled>) -> Receipt {
        done(self.try_commit(sample::batch(&sample::connection(), settled), None).await)
    }

    /// The whole log.
    pub async fn log(&self) -> Vec<Record> {
        self.log_of(&Filter::default()).await
    }

    /// The whole log, filtered. A page may be shorter than asked for; only an empty one is the end.
    pub async fn log_of(&self, filter: &Filter) -> Vec<Record> {
        let mut log: Vec<Record> = Vec::new();
        loop {
            let after = log.last().map_or(0, |record| record.position);
            let page = self.events.page(filter, after, 100).await.unwrap();
            if page.is_empty() {
                return log;
            }
            log.extend(page);
        }
    }

    /// Keys of the whole log.
    pub async fn keys(&self) -> Vec<String> {
        self.log().await.into_iter().map(|record| record.event.key).collect()
    }
}

/// Longer than any case takes, in the time that it moves by hand.
pub(super) const TTL: Duration = Duration::from_secs(15);

/// What was committed.
pub(super) fn done(commit: Commit) -> Receipt {
    match commit {
        Commit::Done(receipt) => receipt,
        other => panic!("not committed: {other:?}"),
    }
}

/// A fence that nobody was granted.
pub(super) fn fence(epoch: u64, token: u128) -> Fence {
    Fence { epoch: Epoch(epoch), token: Token(token) }
}
