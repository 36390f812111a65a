//! What a gate has done so far, for status and metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one gate. They only grow, but for the two that say what is open now.
#[derive(Debug, Default)]
pub struct Tally {
    /// Requests and sockets that ended as asked.
    pub(super) allowed: AtomicU64,
    /// Refused by policy, before anything left.
    pub(super) denied: AtomicU64,
    /// Failed before anything left.
    pub(super) unavailable: AtomicU64,
    /// Failed after the request had left.
    pub(super) unknown: AtomicU64,
    /// Bytes of bodies and messages sent.
    pub(super) sent: AtomicU64,
    /// Bytes of bodies and messages received.
    pub(super) received: AtomicU64,
    /// Answers and messages in which a secret was masked.
    pub(super) masked: AtomicU64,
    /// Requests under way now.
    pub(super) requests: AtomicU64,
    /// Sockets open now.
    pub(super) sockets: AtomicU64,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests and sockets that ended as asked.
    pub allowed: u64,
    /// Refused by policy, before anything left.
    pub denied: u64,
    /// Failed before anything left.
    pub unavailable: u64,
    /// Failed after the request had left.
    pub unknown: u64,
    /// Bytes of bodies and messages sent.
    pub sent: u64,
    /// Bytes of bodies and messages received.
    pub received: u64,
    /// Answers and messages in which a secret was masked.
    pub masked: u64,
    /// Requests under way now.
    pub requests: u64,
    /// Sockets open now.
    pub sockets: u64,
}

impl Tally {
    /// All counters. Each is exact; together they may be a moment apart.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            allowed: read(&self.allowed),
            denied: read(&self.denied),
            unavailable: read(&self.unavailable),
            unknown: read(&self.unknown),
            sent: read(&self.sent),
            received: read(&self.received),
            masked: read(&self.masked),
            requests: read(&self.requests),
            sockets: read(&self.sockets),
        }
    }
}

pub(super) fn add(counter: &AtomicU64, amount: usize) {
    counter.fetch_add(u64::try_from(amount).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Counts one more of what is there now, until dropped.
pub(super) struct Present<'a>(&'a AtomicU64);

impl<'a> Present<'a> {
    pub(super) fn new(counter: &'a AtomicU64) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
