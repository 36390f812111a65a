//! A ceiling on what the platform refuses: platforms ban whoever goes on asking.
//!
//! Counted are answers that say "you may not" (401, 403) and "not so fast" (429), in the ten minutes before now. Kept in
//! memory: a host that starts anew begins at nothing, so the ceiling leaves room for that.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jackfield_model::Fault;
use jackfield_model::clock::{Monotonic, SharedClock};

/// How long an answer counts: the longest window that a platform is known to use.
const WINDOW: Duration = Duration::from_secs(10 * 60);

/// Answers of one second are one entry, so that a large ceiling costs little.
const GRAIN: Duration = Duration::from_secs(1);

/// The answers of one gate.
pub(super) struct Refusals {
    limit: u32,
    clock: SharedClock,
    counted: Mutex<VecDeque<(Monotonic, u32)>>,
}

impl Refusals {
    pub(super) fn new(limit: u32, clock: SharedClock) -> Self {
        Self { limit, clock, counted: Mutex::default() }
    }

    /// Whether anything may be sent now.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let now = self.clock.monotonic();
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        while counted.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) >= WINDOW) {
            counted.pop_front();
        }
        let sum: u64 = counted.iter().map(|(_, count)| u64::from(*count)).sum();
        if sum < u64::from(self.limit) {
            return Ok(());
        }
        let oldest = counted.front().map_or(now, |(at, _)| *at);
        let wait = WINDOW.saturating_sub(now.saturating_duration_since(oldest)).as_secs();
        let text = format!(
            "refusals: the platform refused {sum} requests within ten minutes, at most {} are risked; wait {wait} s, and \
             look for what it refuses",
            self.limit
        );
        Err(Fault::Exhausted(text))
    }

    /// Counts an answer with this status.
    pub(super) fn answered(&self, status: u16) {
        if !matches!(status, 401 | 403 | 429) {
            return;
        }
        let now = self.clock.monotonic();
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        match counted.back_mut() {
            Some((at, count)) if now.saturating_duration_since(*at) < GRAIN => *count = count.saturating_add(1),
            _ => counted.push_back((now, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jackfield_model::Timestamp;
    use jackfield_model::clock::{self, Clock};

    use super::*;

    /// A clock that is moved by hand.
    struct Hand {
        start: Monotonic,
        moved: Mutex<Duration>,
    }

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }
        fn monotonic(&self) -> Monotonic {
            self.start + *self.moved.lock().unwrap()
        }
    }

    #[test]
    fn refusals_are_counted_and_forgotten() {
        let hand = Arc::new(Hand { start: clock::system().monotonic(), moved: Mutex::default() });
        let refusals = Refusals::new(3, hand.clone());
        for status in [200, 401, 404, 500, 403, 302] {
            refusals.answered(status);
        }
        assert_eq!(refusals.check(), Ok(()));
        *hand.moved.lock().unwrap() = WINDOW / 2;
        refusals.answered(429);
        let fault = refusals.check().unwrap_err();
        assert!(matches!(&fault, Fault::Exhausted(text) if text.contains("wait 300 s")), "{fault}");
        *hand.moved.lock().unwrap() = WINDOW;
        assert_eq!(refusals.check(), Ok(()), "the first two are past");
    }
}
