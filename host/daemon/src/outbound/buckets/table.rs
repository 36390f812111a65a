//! All buckets of a connection, and what holds for all of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jackfield_model::Timestamp;
use jackfield_model::clock::Monotonic;
use tokio::sync::Notify;

use super::bucket::{Bucket, Look};
use super::limit::RESETS_MAX;
use super::queue::Key;
use super::{Busy, EVERYTHING, Level, Ticket};

/// Buckets that are kept. A connector has one for each route and place that it talks to; one that is not kept starts anew
/// with one request at a time.
pub(super) const BUCKETS_MAX: usize = 4_096;

/// Callers that wait at once, in all buckets. As many as an executor lets in, and some.
pub(super) const WAITERS_MAX: usize = 1_024;

/// A point in time, and in the order of what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) at: Monotonic,
    /// Larger than that of everything before.
    pub(super) order: u64,
    /// When the pause of everything is over, seen from here.
    pub(super) paused_until: Option<Monotonic>,
}

/// All buckets.
#[derive(Debug, Default)]
pub(super) struct Table {
    buckets: HashMap<Arc<str>, Bucket>,
    paused_until: Option<Monotonic>,
    waiting: usize,
    order: u64,
}

impl Table {
    /// The next moment.
    pub(super) fn moment(&mut self, at: Monotonic) -> Moment {
        self.order += 1;
        Moment { at, order: self.order, paused_until: self.paused_until }
    }

    /// Takes a place, if there is one.
    pub(super) fn take(&mut self, name: &str, ticket: Ticket, now: Moment) -> Result<(Arc<str>, Moment), Busy> {
        let bucket = self.bucket(name, now)?;
        Ok((bucket.name().clone(), bucket.take(ticket, now)?))
    }

    /// Somebody waits from now on.
    pub(super) fn enter(
        &mut self,
        name: &str,
        (ticket, until): (Ticket, Monotonic),
        bell: Arc<Notify>,
        now: Moment,
    ) -> Result<(Arc<str>, Key), Busy> {
        if self.waiting >= WAITERS_MAX {
            return Err(Busy { after: None });
        }
        let key = (ticket, now.order);
        let bucket = self.bucket(name, now)?;
        bucket.enter(key, until, bell, now);
        let name = bucket.name().clone();
        self.waiting += 1;
        Ok((name, key))
    }

    /// What a waiter sees.
    pub(super) fn look(&mut self, name: &str, key: Key, now: Moment) -> Look {
        let Some(bucket) = self.buckets.get_mut(name) else { return Look::Over(Busy { after: None }) };
        let before = bucket.waiting();
        let look = bucket.look(key, now);
        self.waiting -= before - bucket.waiting();
        self.tidy(name, now);
        look
    }

    /// A waiter is gone.
    pub(super) fn leave(&mut self, name: &str, key: Key, now: Moment) {
        if self.buckets.get_mut(name).is_some_and(|bucket| bucket.leave(key)) {
            self.waiting -= 1;
            self.tidy(name, now);
        }
    }

    /// A place comes back unused.
    pub(super) fn returned(&mut self, name: &str, now: Moment) {
        if let Some(bucket) = self.buckets.get_mut(name) {
            bucket.change(now, |limit| limit.returned());
            self.tidy(name, now);
        }
    }

    /// A request has no answer, and may have been counted.
    pub(super) fn lost(&mut self, name: &str, now: Moment) {
        if let Some(bucket) = self.buckets.get_mut(name) {
            bucket.change(now, |limit| limit.lost(now));
            self.tidy(name, now);
        }
    }

    /// The answer to the request of a place.
    pub(super) fn answered(&mut self, name: &str, granted: Moment, remaining: u32, resets_in: Duration, now: Moment) {
        if let Some(bucket) = self.buckets.get_mut(name) {
            bucket.change(now, |limit| limit.answered(granted, remaining, resets_in, now));
        }
    }

    /// Something that was said of a bucket besides. Where there is no room for one more it is not kept.
    pub(super) fn told(&mut self, name: &str, remaining: u32, resets_in: Duration, now: Moment) {
        if name == EVERYTHING {
            if remaining == 0 {
                self.pause(name, resets_in, now);
            }
        } else if let Ok(bucket) = self.bucket(name, now) {
            bucket.change(now, |limit| limit.overheard(remaining, resets_in, now));
        }
    }

    /// Nothing goes in this bucket, or in any, for so long. Where there is no room for one more it is not kept.
    pub(super) fn pause(&mut self, name: &str, after: Duration, now: Moment) {
        let until = now.at.checked_add(after.min(RESETS_MAX)).unwrap_or(now.at);
        if name == EVERYTHING {
            self.paused_until = self.paused_until.max(Some(until));
            let now = Moment { paused_until: self.paused_until, ..now };
            for bucket in self.buckets.values_mut() {
                bucket.roll(now);
                bucket.wake(now);
            }
        } else if let Ok(bucket) = self.bucket(name, now) {
            bucket.pause(until, now);
        }
    }

    /// What is known, most pressing first: who is waited for, who is blocked, who was used last.
    pub(super) fn levels(&mut self, most: usize, wall: Timestamp, now: Moment) -> Vec<Level> {
        self.tidy_all(now);
        let mut buckets: Vec<&Bucket> = self.buckets.values().collect();
        buckets.sort_by_key(|bucket| {
            let rank = (bucket.waiting(), bucket.blocked_until(now), bucket.used());
            (std::cmp::Reverse(rank), bucket.name().clone())
        });
        let mut levels: Vec<Level> = buckets.iter().take(most).map(|bucket| bucket.level(now, wall)).collect();
        if let Some(until) = self.paused_until.filter(|at| *at > now.at) {
            let until = wall.after(until.saturating_duration_since(now.at));
            match levels.iter_mut().find(|level| level.bucket == EVERYTHING) {
                Some(level) => level.paused_until = Some(until),
                None => levels.insert(0, Level { paused_until: Some(until), ..Level::of(EVERYTHING) }),
            }
            levels.truncate(most);
        }
        levels
    }

    /// The bucket of this name, a new one where there is room.
    fn bucket(&mut self, name: &str, now: Moment) -> Result<&mut Bucket, Busy> {
        if !self.buckets.contains_key(name) {
            self.make_room(now)?;
        }
        let name: Arc<str> = name.into();
        Ok(self.buckets.entry(name.clone()).or_insert_with(|| Bucket::new(name, now.at)))
    }

    /// Forgets what was not used for longest, never what somebody uses or what is blocked.
    fn make_room(&mut self, now: Moment) -> Result<(), Busy> {
        if self.buckets.len() < BUCKETS_MAX {
            return Ok(());
        }
        self.tidy_all(now);
        if self.buckets.len() < BUCKETS_MAX {
            return Ok(());
        }
        let idle = self.buckets.values().filter(|bucket| !bucket.is_in_use() && bucket.blocked_until(now).is_none());
        if let Some(name) = idle.min_by_key(|bucket| bucket.used()).map(|bucket| bucket.name().clone()) {
            self.buckets.remove(&name);
            return Ok(());
        }
        let blocked = self.buckets.values().filter(|bucket| !bucket.is_in_use());
        let soonest = blocked.filter_map(|bucket| bucket.blocked_until(now)).min();
        Err(Busy { after: soonest.map(|at| at.saturating_duration_since(now.at)) })
    }

    /// Brings all up to the time, and forgets those that say nothing.
    fn tidy_all(&mut self, now: Moment) {
        self.buckets.retain(|_, bucket| {
            bucket.roll(now);
            !bucket.is_blank(now)
        });
    }

    /// Forgets a bucket that nobody uses and of which nothing is known.
    fn tidy(&mut self, name: &str, now: Moment) {
        if self.buckets.get(name).is_some_and(|bucket| bucket.is_blank(now)) {
            self.buckets.remove(name);
        }
    }
}
