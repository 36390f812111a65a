//! A platform that counts in fixed windows, each of which begins with its first request.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Done {
        remaining: u32,
        resets_in: Duration,
    },
    /// 429.
    Refused {
        after: Duration,
        everything: bool,
    },
}

/// Its limits, and what it counted.
#[derive(Default)]
pub(super) struct Platform {
    limits: BTreeMap<String, (u32, Duration)>,
    counts: RefCell<BTreeMap<String, (u32, Duration)>>,
    /// What is on the wire, from callers that have left.
    wire: RefCell<BTreeSet<(Duration, u64, String)>>,
    /// While this lasts everything is refused.
    closed: Option<(Duration, Duration)>,
}

impl Platform {
    pub(super) fn limit(mut self, bucket: &str, capacity: u32, window: Duration) -> Self {
        self.limits.insert(bucket.to_owned(), (capacity, window));
        self
    }

    pub(super) fn closed(mut self, from: Duration, to: Duration) -> Self {
        self.closed = Some((from, to));
        self
    }

    /// A request will arrive, and nobody waits for its answer.
    pub(super) fn arrives_later(&self, bucket: &str, at: Duration) {
        let mut wire = self.wire.borrow_mut();
        let nth = wire.len() as u64;
        wire.insert((at, nth, bucket.to_owned()));
    }

    /// A request arrives.
    pub(super) fn request(&self, bucket: &str, now: Duration) -> Answer {
        loop {
            let mut wire = self.wire.borrow_mut();
            let Some((at, ..)) = wire.first().filter(|(at, ..)| *at <= now) else { break };
            let at = *at;
            let Some((.., bucket)) = wire.pop_first() else { break };
            drop(wire);
            self.count(&bucket, at);
        }
        self.count(bucket, now)
    }

    fn count(&self, bucket: &str, now: Duration) -> Answer {
        if let Some((_, to)) = self.closed.filter(|(from, to)| (*from..*to).contains(&now)) {
            return Answer::Refused { after: to - now, everything: true };
        }
        let (capacity, window) = self.limits[bucket];
        let mut counts = self.counts.borrow_mut();
        let (count, ends) = counts.entry(bucket.to_owned()).or_default();
        if now >= *ends {
            (*count, *ends) = (0, now + window);
        }
        if *count >= capacity {
            return Answer::Refused { after: *ends - now, everything: false };
        }
        *count += 1;
        Answer::Done { remaining: capacity - *count, resets_in: *ends - now }
    }
}
