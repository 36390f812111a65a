//! The locks of one execution. Its owner is the execution itself: no connector chooses one.
//!
//! A lock that lapses while its call goes on protects nothing any more: from then on the call may send nothing, and what it
//! asked for at its end is not done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jackfield_engine::capability::lease::{Held, Locks};
use jackfield_model::clock::{Monotonic, SharedClock};
use jackfield_model::{ConnectionId, ExecutionId, Fault};
use jackfield_store::StoreError;

/// The locks of one execution.
pub(super) struct HeldLocks {
    holder: Arc<Holder>,
    guards: Mutex<Vec<Arc<Guard>>>,
}

struct Holder {
    connection: ConnectionId,
    owner: ExecutionId,
    store: Arc<dyn jackfield_store::Locks>,
    clock: SharedClock,
    /// The key of the first lock that was over before its guard was dropped.
    lost: Mutex<Option<String>>,
    /// Something was asked of the store. Whoever asked may have been dropped before the answer, and hold a lock without a guard.
    asked: AtomicBool,
}

struct Guard {
    holder: Arc<Holder>,
    key: String,
    fence: u64,
    /// Not ours from here on, as far as this process can know.
    until: Mutex<Monotonic>,
    freed: AtomicBool,
}

impl HeldLocks {
    pub(super) fn new(
        connection: ConnectionId,
        owner: ExecutionId,
        store: Arc<dyn jackfield_store::Locks>,
        clock: SharedClock,
    ) -> Self {
        let holder = Holder { connection, owner, store, clock, lost: Mutex::default(), asked: AtomicBool::new(false) };
        Self { holder: Arc::new(holder), guards: Mutex::default() }
    }

    /// The key of a lock that is over although its guard is not, or was not when it lapsed.
    pub(super) fn lapsed(&self) -> Option<String> {
        let now = self.holder.clock.monotonic();
        let lost = self.holder.lost.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if lost.is_some() {
            return lost;
        }
        let guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        guards.iter().find(|guard| guard.is_over(now)).map(|guard| guard.key.clone())
    }

    /// When the first of those that are held is over.
    pub(super) fn next_end(&self) -> Option<Monotonic> {
        let guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        let held = guards.iter().filter(|guard| !guard.freed.load(Ordering::Acquire));
        held.map(|guard| *guard.until.lock().unwrap_or_else(PoisonError::into_inner)).min()
    }

    /// Frees all of them: the export has ended, however.
    pub(super) async fn free(&self) {
        let guards = std::mem::take(&mut *self.guards.lock().unwrap_or_else(PoisonError::into_inner));
        for guard in guards {
            guard.freed.store(true, Ordering::Release);
        }
        let Holder { connection, owner, store, asked, .. } = &*self.holder;
        // The store does one thing after the other: what was asked for before is done by then.
        if !asked.swap(false, Ordering::AcqRel) {
            return;
        }
        if let Err(error) = store.release(connection, *owner).await {
            // It lapses by itself.
            tracing::warn!(%connection, execution = %owner, %error, "release locks failed");
        }
    }
}

impl Guard {
    fn is_over(&self, now: Monotonic) -> bool {
        !self.freed.load(Ordering::Acquire) && now >= *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holder {
    fn unavailable(&self, error: &StoreError) -> Fault {
        tracing::warn!(connection = %self.connection, execution = %self.owner, %error, "lock failed");
        match error {
            StoreError::TooMany { max, .. } => Fault::Exhausted(format!("lease: at most {max} locks at once")),
            _ => Fault::Unavailable(None),
        }
    }
}

#[async_trait]
impl Locks for HeldLocks {
    async fn try_acquire(&self, key: &str, ttl: Duration) -> Result<Option<Arc<dyn Held>>, Fault> {
        let holder = &self.holder;
        // From before it was asked for: the store's time began no earlier.
        let until = holder.clock.monotonic() + ttl;
        holder.asked.store(true, Ordering::Release);
        let taken = holder.store.try_lock(&holder.connection, key, holder.owner, ttl).await;
        let Some(fence) = taken.map_err(|error| holder.unavailable(&error))? else { return Ok(None) };
        let guard = Arc::new(Guard {
            holder: Arc::clone(holder),
            key: key.to_owned(),
            fence,
            until: Mutex::new(until),
            freed: AtomicBool::new(false),
        });
        self.guards.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&guard));
        Ok(Some(guard))
    }
}

#[async_trait]
impl Held for Guard {
    fn fence(&self) -> u64 {
        self.fence
    }

    async fn renew(&self, ttl: Duration) -> Result<(), Fault> {
        let Holder { connection, owner, store, clock, .. } = &*self.holder;
        if self.freed.load(Ordering::Acquire) {
            return Err(Fault::Unavailable(None));
        }
        let until = clock.monotonic() + ttl;
        let renewed = store.renew(connection, &self.key, *owner, self.fence, ttl).await;
        if !renewed.map_err(|error| self.holder.unavailable(&error))? {
            return Err(Fault::Unavailable(None));
        }
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        Ok(())
    }

    async fn free(&self) {
        let Holder { connection, owner, store, clock, lost, .. } = &*self.holder;
        if self.is_over(clock.monotonic()) {
            lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| self.key.clone());
        }
        if self.freed.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Err(error) = store.unlock(connection, &self.key, *owner, self.fence).await {
            // It lapses by itself.
            tracing::warn!(%connection, execution = %owner, %error, "unlock failed");
        }
    }
}
