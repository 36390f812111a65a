//! Places of requests that may have been counted, while no answer said so.
//!
//! A request whose answer never came (its caller left, the connection broke) may have been counted before, or may be
//! counted in a moment. Until that is over and done with, it has to be held against the window.

use std::collections::VecDeque;
use std::time::Duration;

use jackfield_model::clock::Monotonic;

/// How long after it was given up a request can still reach the platform's counter. What is on the wire then is there within
/// a second, or never.
pub(super) const IN_FLIGHT: Duration = Duration::from_secs(1);

/// Losses so close to each other are kept as one, with the time of the last that it can hold.
const STEP: Duration = Duration::from_millis(100);

/// Groups that are kept: more than [`IN_FLIGHT`] has room for. Beyond, the newest one grows.
const GROUPS_MAX: usize = 16;

/// The lost ones, oldest first.
#[derive(Debug, Default)]
pub(super) struct Lost(VecDeque<Group>);

#[derive(Debug)]
struct Group {
    /// By then all of it had been given up.
    by: Monotonic,
    count: u32,
}

impl Lost {
    /// One more.
    pub(super) fn add(&mut self, at: Monotonic) {
        let full = self.0.len() >= GROUPS_MAX;
        match self.0.back_mut() {
            Some(group) if at <= group.by => group.count = group.count.saturating_add(1),
            Some(group) if full => *group = Group { by: at, count: group.count.saturating_add(1) },
            _ => self.0.push_back(Group { by: at.checked_add(STEP).unwrap_or(at), count: 1 }),
        }
    }

    /// Forgets those that can't be counted at `at` or later.
    pub(super) fn settle(&mut self, at: Monotonic) {
        while let Some(group) = self.0.front() {
            if at.saturating_duration_since(group.by) < IN_FLIGHT {
                return;
            }
            self.0.pop_front();
        }
    }

    /// Whether none of them can be counted at `at` or later.
    pub(super) fn is_over(&self, at: Monotonic) -> bool {
        self.0.back().is_none_or(|group| at.saturating_duration_since(group.by) >= IN_FLIGHT)
    }

    /// How many are held against the window.
    pub(super) fn count(&self) -> u32 {
        self.0.iter().fold(0, |sum, group| sum.saturating_add(group.count))
    }
}
