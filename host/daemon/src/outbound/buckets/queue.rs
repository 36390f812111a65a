//! Who waits in a bucket, in order.
//!
//! Only the first one takes places and watches the clock. The others sleep until they are first, or are known to be too late.

use std::collections::BTreeMap;
use std::sync::Arc;

use jackfield_model::clock::Monotonic;
use tokio::sync::Notify;

use super::Ticket;

/// One waiter: its ticket, and a number of its own.
pub(super) type Key = (Ticket, u64);

/// The waiters of one bucket.
#[derive(Debug, Default)]
pub(super) struct Queue(BTreeMap<Key, Waiter>);

#[derive(Debug)]
struct Waiter {
    until: Monotonic,
    /// When it looks by itself.
    wakes: Monotonic,
    bell: Arc<Notify>,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether somebody with a smaller ticket waits.
    pub(super) fn is_before(&self, ticket: Ticket) -> bool {
        self.0.first_key_value().is_some_and(|((first, _), _)| *first < ticket)
    }

    pub(super) fn is_first(&self, key: Key) -> bool {
        self.0.first_key_value().is_some_and(|(first, _)| *first == key)
    }

    /// Adds one that will look at once. Says whether others wait behind it.
    pub(super) fn insert(&mut self, key: Key, until: Monotonic, bell: Arc<Notify>, now: Monotonic) -> bool {
        self.0.insert(key, Waiter { until, wakes: now, bell });
        self.0.last_key_value().is_some_and(|(last, _)| *last != key)
    }

    /// Takes one out, and wakes the one that is first by that. Says whether it was there.
    pub(super) fn remove(&mut self, key: Key) -> bool {
        let was_first = self.is_first(key);
        let was_there = self.0.remove(&key).is_some();
        if was_first && let Some((_, first)) = self.0.first_key_value() {
            first.bell.notify_one();
        }
        was_there
    }

    /// When a waiter gives up, if it is still there.
    pub(super) fn until(&self, key: Key) -> Option<Monotonic> {
        self.0.get(&key).map(|waiter| waiter.until)
    }

    /// It will look by itself then.
    pub(super) fn sleeps(&mut self, key: Key, wakes: Monotonic) {
        if let Some(waiter) = self.0.get_mut(&key) {
            waiter.wakes = wakes;
        }
    }

    /// Wakes the first one, if it would look later than `at`.
    pub(super) fn wake_first(&self, at: Monotonic) {
        if let Some((_, first)) = self.0.first_key_value().filter(|(_, first)| first.wakes > at) {
            first.bell.notify_one();
        }
    }

    /// How many of those before `key` will have a place in time, where the one that has so many before it has it at
    /// `expected`. The others leave, so they don't count.
    pub(super) fn ahead(&self, key: Key, expected: impl Fn(u32) -> Option<Monotonic>) -> u32 {
        self.0.range(..key).fold(0, |ahead, (_, waiter)| ahead + u32::from(waiter.can_make(expected(ahead))))
    }

    /// Wakes those that will be too late.
    pub(super) fn wake_late(&self, expected: impl Fn(u32) -> Option<Monotonic>) {
        let mut ahead = 0;
        for waiter in self.0.values() {
            if waiter.can_make(expected(ahead)) {
                ahead += 1;
            } else {
                waiter.bell.notify_one();
            }
        }
    }
}

impl Waiter {
    fn can_make(&self, expected: Option<Monotonic>) -> bool {
        expected.is_none_or(|at| at < self.until)
    }
}
