//! One bucket: its count, its pause, and who waits for it.

use std::sync::Arc;
use std::time::Duration;

use jackfield_model::Timestamp;
use jackfield_model::clock::Monotonic;
use tokio::sync::Notify;

use super::limit::Limit;
use super::queue::{Key, Queue};
use super::table::Moment;
use super::{Busy, EVERYTHING, Level, Ticket};

/// What a waiter sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Its turn; the place is taken.
    Go(Moment),
    /// Too late.
    Over(Busy),
    /// Not yet. Look again by then.
    Wait(Monotonic),
}

/// One bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    name: Arc<str>,
    /// None for [`EVERYTHING`], which has no places of its own.
    limit: Option<Limit>,
    paused_until: Option<Monotonic>,
    queue: Queue,
    used: Monotonic,
}

impl Bucket {
    pub(super) fn new(name: Arc<str>, at: Monotonic) -> Self {
        let limit = (*name != *EVERYTHING).then(Limit::unknown);
        Self { name, limit, paused_until: None, queue: Queue::default(), used: at }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Takes a place, if there is one and nobody waits before.
    pub(super) fn take(&mut self, ticket: Ticket, now: Moment) -> Result<Moment, Busy> {
        self.touch(now);
        if self.queue.is_before(ticket) || !self.can_go(now) {
            return Err(self.busy((ticket, 0), now));
        }
        self.grant();
        self.wake_late(now);
        Ok(now)
    }

    /// Somebody waits from now on.
    pub(super) fn enter(&mut self, key: Key, until: Monotonic, bell: Arc<Notify>, now: Moment) {
        self.touch(now);
        if self.queue.insert(key, until, bell, now.at) {
            self.wake_late(now);
        }
    }

    /// Whether it is this waiter's turn. After anything but `Wait` it is no waiter any more.
    pub(super) fn look(&mut self, key: Key, now: Moment) -> Look {
        self.touch(now);
        let Some(until) = self.queue.until(key) else { return Look::Over(Busy { after: None }) };
        let is_first = self.queue.is_first(key);
        if now.at < until && is_first && self.can_go(now) {
            self.grant();
            self.queue.remove(key);
            return Look::Go(now);
        }
        let expected = self.expected(self.ahead(key, now), now);
        if now.at >= until || expected.is_some_and(|at| at >= until) {
            let busy = self.busy(key, now);
            self.queue.remove(key);
            return Look::Over(busy);
        }
        let wakes = if is_first { self.changes(now).map_or(until, |at| at.min(until)) } else { until };
        self.queue.sleeps(key, wakes);
        Look::Wait(wakes)
    }

    /// A waiter is gone. Says whether it was there.
    pub(super) fn leave(&mut self, key: Key) -> bool {
        self.queue.remove(key)
    }

    /// Something happened to the count.
    pub(super) fn change(&mut self, now: Moment, what: impl FnOnce(&mut Limit)) {
        self.touch(now);
        if let Some(limit) = &mut self.limit {
            what(limit);
        }
        self.wake(now);
    }

    /// Nothing goes before `until`.
    pub(super) fn pause(&mut self, until: Monotonic, now: Moment) {
        self.paused_until = self.paused_until.max(Some(until));
        self.change(now, |limit| limit.refused(now));
    }

    /// Wakes whoever has to know what changed: the first one if it can go, or go sooner; and those that are too late by it.
    pub(super) fn wake(&mut self, now: Moment) {
        if self.queue.is_empty() {
            return;
        }
        if self.can_go(now) {
            self.queue.wake_first(now.at);
        } else if let Some(at) = self.changes(now) {
            self.queue.wake_first(at);
        }
        self.wake_late(now);
    }

    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn used(&self) -> Monotonic {
        self.used
    }

    /// Somebody has a place, or waits for one.
    pub(super) fn is_in_use(&self) -> bool {
        !self.queue.is_empty() || self.outstanding() > 0
    }

    /// Until when nothing goes, where that is known.
    pub(super) fn blocked_until(&self, now: Moment) -> Option<Monotonic> {
        let full = self.limit.as_ref().filter(|limit| limit.free() == 0).and_then(Limit::ends);
        self.paused_until.max(full).filter(|at| *at > now.at)
    }

    /// Nobody uses it, and to forget it changes nothing.
    pub(super) fn is_blank(&self, now: Moment) -> bool {
        let knows = self.limit.as_ref().is_some_and(|limit| !limit.is_blank(now));
        !knows && !self.is_in_use() && self.blocked_until(now).is_none()
    }

    /// For people.
    pub(super) fn level(&self, now: Moment, wall: Timestamp) -> Level {
        let stamp = |at: Monotonic| wall.after(at.saturating_duration_since(now.at));
        let known = self.limit.as_ref().filter(|limit| limit.is_known());
        Level {
            bucket: self.name.to_string(),
            remaining: known.map(Limit::free),
            resets_at: known.and_then(Limit::ends).map(stamp),
            paused_until: self.paused_until.filter(|at| *at > now.at).map(stamp),
            outstanding: self.outstanding(),
            waiting: self.queue.len(),
        }
    }

    /// Brings it up to the time.
    pub(super) fn roll(&mut self, now: Moment) {
        if let Some(limit) = &mut self.limit {
            limit.roll(now);
        }
    }

    fn touch(&mut self, now: Moment) {
        self.used = now.at;
        self.roll(now);
    }

    fn outstanding(&self) -> u32 {
        self.limit.as_ref().map_or(0, Limit::outstanding)
    }

    fn grant(&mut self) {
        if let Some(limit) = &mut self.limit {
            limit.granted();
        }
    }

    /// When pauses are over; now, where there is none.
    fn opens(&self, now: Moment) -> Monotonic {
        [self.paused_until, now.paused_until].into_iter().flatten().fold(now.at, Monotonic::max)
    }

    fn can_go(&self, now: Moment) -> bool {
        self.opens(now) <= now.at && self.limit.as_ref().is_none_or(|limit| limit.free() > 0)
    }

    /// When it may look different although nothing happens.
    fn changes(&self, now: Moment) -> Option<Monotonic> {
        let opens = self.opens(now);
        if opens > now.at { Some(opens) } else { self.limit.as_ref().and_then(Limit::changes) }
    }

    /// When the one that has so many before it can go, as far as it is known.
    fn expected(&self, ahead: u32, now: Moment) -> Option<Monotonic> {
        let opens = self.opens(now);
        let Some(limit) = &self.limit else { return Some(opens) };
        limit.expected(ahead, opens).or_else(|| (opens > now.at).then_some(opens))
    }

    fn ahead(&self, key: Key, now: Moment) -> u32 {
        self.queue.ahead(key, |ahead| self.expected(ahead, now))
    }

    fn busy(&self, key: Key, now: Moment) -> Busy {
        let at = self.expected(self.ahead(key, now), now);
        Busy { after: at.map(|at| at.saturating_duration_since(now.at)).filter(|after| *after > Duration::ZERO) }
    }

    fn wake_late(&self, now: Moment) {
        self.queue.wake_late(|ahead| self.expected(ahead, now));
    }
}
