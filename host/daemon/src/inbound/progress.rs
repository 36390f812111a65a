//! What the session learns of its inbound, coalesced: a slow listener finds one list of marks, never a queue of messages.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::pressure::HANDED_BYTES_MAX;

/// Why an inbound ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A newer grant exists, or commits are missing: the term is over.
    Fenced,
    /// The store can't be trusted any more: the process must restart.
    Broken(String),
}

/// What is new since the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Marks of dispatches that are settled.
    pub marks: Vec<String>,
    /// The inbound has ended.
    pub ended: Option<Ended>,
}

#[derive(Default)]
struct Progress {
    /// Number of the session that listens. Marks of an earlier one are nobody's.
    session: u64,
    marks: Vec<String>,
    /// Everything submitted below this number is settled.
    settled_below: u64,
    /// Checkpoints handed over, counted.
    taken: u64,
    /// The checkpoint of this count, or a newer one, is stored.
    stored: u64,
    /// What was in the inbox at the start and is not settled; `None` until that is known.
    leftovers: Option<usize>,
    ended: Option<Ended>,
}

/// Between an inbound and its session.
#[derive(Default)]
pub(super) struct Shared {
    progress: Mutex<Progress>,
    pressure: AtomicBool,
    overload: AtomicBool,
    /// Bytes of what was handed over and not looked at yet.
    handed: AtomicUsize,
    /// For the session's loop.
    news: Notify,
    /// For those who wait for a state of things.
    moved: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn pressure(&self) -> bool {
        self.pressure.load(Ordering::Relaxed)
    }

    pub(super) fn set_pressure(&self, on: bool) {
        if self.pressure.swap(on, Ordering::Relaxed) != on {
            self.news.notify_one();
        }
    }

    /// A new session listens from now on. Its number.
    pub(super) fn listen(&self) -> u64 {
        let mut progress = self.lock();
        progress.marks.clear();
        progress.session += 1;
        progress.session
    }

    pub(super) fn overload(&self) -> bool {
        // In this order: what is not in the one any more is in the other.
        self.handed.load(Ordering::Acquire) >= HANDED_BYTES_MAX || self.overload.load(Ordering::Relaxed)
    }

    /// So many bytes wait to be looked at.
    pub(super) fn handed_over(&self, bytes: usize) {
        self.handed.fetch_add(bytes, Ordering::Relaxed);
    }

    /// They were looked at, and count as whatever became of them.
    pub(super) fn looked_at(&self, bytes: usize) {
        let before = self.handed.fetch_sub(bytes, Ordering::Release);
        if before >= HANDED_BYTES_MAX && before - bytes < HANDED_BYTES_MAX {
            self.news.notify_one();
        }
    }

    pub(super) fn set_overload(&self, on: bool) {
        if self.overload.swap(on, Ordering::Relaxed) != on {
            self.news.notify_one();
        }
    }

    pub(super) fn settle(&self, marks: Vec<(u64, String)>, settled_below: u64) {
        let mut progress = self.lock();
        let (session, before) = (progress.session, progress.marks.len());
        progress.marks.extend(marks.into_iter().filter(|(of, _)| *of == session).map(|(_, mark)| mark));
        progress.settled_below = settled_below;
        let more = progress.marks.len() != before;
        drop(progress);
        if more {
            self.news.notify_one();
        }
        self.moved.notify_waiters();
    }

    /// A checkpoint is handed over. Its count.
    pub(super) fn checkpoint_taken(&self) -> u64 {
        let mut progress = self.lock();
        progress.taken += 1;
        progress.taken
    }

    pub(super) fn checkpoint_stored(&self, count: u64) {
        self.lock().stored = count;
        self.moved.notify_waiters();
    }

    pub(super) fn leftovers(&self, count: usize) {
        self.lock().leftovers = Some(count);
        self.moved.notify_waiters();
    }

    pub(super) fn end(&self, ended: Ended) {
        self.lock().ended = Some(ended);
        self.news.notify_one();
        self.moved.notify_waiters();
    }

    pub(super) async fn news(&self) -> News {
        self.news.notified().await;
        let mut progress = self.lock();
        News { marks: std::mem::take(&mut progress.marks), ended: progress.ended.clone() }
    }

    pub(super) async fn drained(&self) -> Result<(), Ended> {
        self.until(|progress| progress.leftovers == Some(0)).await
    }

    pub(super) async fn settled(&self, below: u64) -> Result<(), Ended> {
        self.until(|progress| progress.settled_below >= below && progress.stored == progress.taken).await
    }

    async fn until(&self, holds: impl Fn(&Progress) -> bool) -> Result<(), Ended> {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            {
                let progress = self.lock();
                if let Some(ended) = &progress.ended {
                    return Err(ended.clone());
                }
                if holds(&progress) {
                    return Ok(());
                }
            }
            moved.await;
        }
    }
}
