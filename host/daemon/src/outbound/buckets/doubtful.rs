//! Answered requests of which nobody knows in which window they were counted: the one that is presumed, or one before.
//!
//! Each is held against the presumed window until an answer to somebody who set out later speaks for it, or until the window
//! is over that it was counted in: the end of that one is in its answer, whichever it was.

use std::collections::VecDeque;
use std::time::Duration;

use jackfield_model::clock::Monotonic;

use super::table::Moment;

/// The doubtful ones, in the order of their answers. Never more than a window has places: each of them had one.
#[derive(Debug, Default)]
pub(super) struct Doubtful(VecDeque<Answer>);

#[derive(Debug)]
struct Answer {
    order: u64,
    /// By then its window is over.
    ends: Monotonic,
}

impl Doubtful {
    /// One more.
    pub(super) fn add(&mut self, resets_in: Duration, now: Moment) {
        let ends = now.at.checked_add(resets_in).unwrap_or(now.at);
        self.0.push_back(Answer { order: now.order, ends });
    }

    /// Forgets those that were answered before somebody set out, whose answer is here now: if it was counted in the same
    /// window, they are in what it says.
    pub(super) fn settle(&mut self, granted: Moment) {
        while self.0.pop_front_if(|answer| answer.order < granted.order).is_some() {}
    }

    /// Forgets those whose window is over.
    pub(super) fn pass(&mut self, at: Monotonic) {
        self.0.retain(|answer| answer.ends > at);
    }

    /// When the next one is over.
    pub(super) fn ends(&self) -> Option<Monotonic> {
        self.0.iter().map(|answer| answer.ends).min()
    }

    /// How many are held against the window.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}
