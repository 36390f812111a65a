//! What one bucket has left, by all that the platform said.
//!
//! The platform counts in windows. What an answer says is true of the moment at which its request was counted, and comes late
//! and out of order; so a place counts as free only if it is free whatever the truth is among those that fit:
//!
//! - An answer that has not come yet is held against the window, since those that came may not have counted it.
//! - Within a window the smallest number counts, and the latest end.
//! - As much left as before, or more, said of a request that set out after all other answers were here, is a new window.
//! - A window that is over by our clock is over on the platform too: that one ended before its answer was here. A new one is
//!   presumed, as large as the last, and no more is given out than that until an answer says when it ends.
//! - An answer to a request that set out before the presumed window may be of the old one or of the new one. It is believed
//!   where it says less, and held against the window as well, until somebody who set out later was answered, or the window is
//!   over that it speaks of.

use std::time::Duration;

use jackfield_model::clock::Monotonic;

use super::doubtful::Doubtful;
use super::lost::Lost;
use super::table::Moment;

/// Longest time that the platform is believed. A longer one is asked again: one request an hour costs nothing, and a number
/// that was mistaken (milliseconds for seconds) stops nobody for ever.
pub(super) const RESETS_MAX: Duration = Duration::from_secs(60 * 60);

/// Most places that a window is believed to have. More than can be on the way at once: beyond, it is no limit.
const REMAINING_MAX: u32 = 10_000;

/// One bucket's count.
#[derive(Debug)]
pub(super) struct Limit {
    window: Window,
    /// How many a window has, by the last one of which something was said; one where nothing was.
    capacity: u32,
    /// The largest of these so far: nobody is told that his place comes too late unless it would with this many.
    best: u32,
    /// How long a window is; zero where nothing was said.
    length: Duration,
    /// Places given out that are neither answered nor returned.
    outstanding: u32,
    lost: Lost,
    doubtful: Doubtful,
    /// Answers to requests that set out before are not believed: the platform has refused since.
    refused: u64,
}

#[derive(Debug)]
struct Window {
    /// Places that it has, as told or as presumed, before what is out is taken off.
    remaining: u32,
    /// When the last answer came, once there was one from somebody who surely was counted in it. `None`: presumed.
    told: Option<u64>,
    /// Places given out from here on are not of the window before.
    opened: u64,
    /// When it is over at the latest, where somebody said so.
    ends: Option<Monotonic>,
}

impl Window {
    fn presumed(capacity: u32, opened: u64) -> Self {
        Self { remaining: capacity, told: None, opened, ends: None }
    }
}

impl Limit {
    /// Nothing is known.
    pub(super) fn unknown() -> Self {
        Self {
            window: Window::presumed(1, 0),
            capacity: 1,
            best: 1,
            length: Duration::ZERO,
            outstanding: 0,
            lost: Lost::default(),
            doubtful: Doubtful::default(),
            refused: 0,
        }
    }

    /// Presumes a new window where the last one is over. Before everything else.
    pub(super) fn roll(&mut self, now: Moment) {
        self.doubtful.pass(now.at);
        if let Some(ends) = self.window.ends.filter(|ends| *ends <= now.at) {
            // An end that may be the old window's says nothing of when the lost ones are over.
            if self.window.told.is_some() {
                self.lost.settle(ends);
            }
            self.window = Window::presumed(self.capacity, now.order);
        }
    }

    /// Places that can be given out now.
    pub(super) fn free(&self) -> u32 {
        let held = [self.outstanding, self.lost.count(), self.doubtful.count()];
        let free = held.into_iter().fold(self.window.remaining, u32::saturating_sub);
        // With nothing out and no end in sight nothing would ever change: ask with one.
        if self.window.ends.is_none() && self.outstanding == 0 { free.max(1) } else { free }
    }

    /// When the one that has so many before it can go, as far as it is known. Nobody goes before `opens`.
    pub(super) fn expected(&self, ahead: u32, opens: Monotonic) -> Option<Monotonic> {
        let free = self.free();
        if ahead < free {
            return Some(opens);
        }
        let windows = (ahead - free) / self.best.max(self.capacity).max(1);
        self.window.ends?.max(opens).checked_add(self.length.checked_mul(windows)?)
    }

    /// When the window is over, where that is known.
    pub(super) fn ends(&self) -> Option<Monotonic> {
        self.window.ends
    }

    /// When there may be more places although nothing happens.
    pub(super) fn changes(&self) -> Option<Monotonic> {
        [self.window.ends, self.doubtful.ends()].into_iter().flatten().min()
    }

    /// Places that wait for an answer.
    pub(super) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Whether the platform ever said anything that still counts.
    pub(super) fn is_known(&self) -> bool {
        self.capacity > 1 || !self.length.is_zero() || self.window.ends.is_some()
    }

    /// Whether one that begins anew would know as much.
    pub(super) fn is_blank(&self, now: Moment) -> bool {
        !self.is_known() && self.outstanding == 0 && self.doubtful.count() == 0 && self.lost.is_over(now.at)
    }

    /// A place is given out.
    pub(super) fn granted(&mut self) {
        self.outstanding = self.outstanding.saturating_add(1);
    }

    /// It comes back: its request was not sent.
    pub(super) fn returned(&mut self) {
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    /// Its request may have been counted, and there is no answer.
    pub(super) fn lost(&mut self, now: Moment) {
        self.outstanding = self.outstanding.saturating_sub(1);
        self.lost.add(now.at);
    }

    /// Its answer says this.
    pub(super) fn answered(&mut self, granted: Moment, remaining: u32, resets_in: Duration, now: Moment) {
        self.outstanding = self.outstanding.saturating_sub(1);
        if granted.order < self.refused {
            return;
        }
        let (remaining, resets_in) = (remaining.min(REMAINING_MAX), resets_in.min(RESETS_MAX));
        let surely_newer = match self.window.told {
            None => granted.order >= self.window.opened,
            Some(told) => granted.order > told && remaining >= self.window.remaining,
        };
        // Whoever was given up long before this one set out is counted in what it says.
        self.lost.settle(granted.at);
        self.doubtful.settle(granted);
        if surely_newer {
            self.open(remaining, resets_in, now);
            return;
        }
        let ends = later(now.at, resets_in);
        self.capacity = self.capacity.max(remaining.saturating_add(1));
        self.best = self.best.max(self.capacity);
        self.length = self.length.max(resets_in);
        if self.window.told.is_some() {
            self.lower(remaining, now);
        } else {
            // In the presumed window it has taken a place, and in the one before it has not: both fit.
            self.doubtful.add(resets_in, now);
            let with_it = remaining.saturating_add(1);
            let first = self.window.ends.is_none();
            self.window.remaining = if first { with_it } else { self.window.remaining.min(with_it) };
        }
        self.window.ends = self.window.ends.max(Some(ends));
    }

    /// Somebody without a place heard this. Where it stands in the order nobody knows: within a window it takes, and never
    /// gives.
    pub(super) fn overheard(&mut self, remaining: u32, resets_in: Duration, now: Moment) {
        let (remaining, resets_in) = (remaining.min(REMAINING_MAX), resets_in.min(RESETS_MAX));
        if self.window.ends.is_none() {
            self.open(remaining, resets_in, now);
        } else {
            self.lower(remaining, now);
        }
    }

    /// The platform refused: what was believed is wrong.
    pub(super) fn refused(&mut self, now: Moment) {
        self.window = Window::presumed(1, now.order);
        (self.capacity, self.length, self.refused) = (1, Duration::ZERO, now.order);
        self.doubtful = Doubtful::default();
    }

    fn open(&mut self, remaining: u32, resets_in: Duration, now: Moment) {
        let ends = Some(later(now.at, resets_in));
        self.window = Window { remaining, told: Some(now.order), opened: now.order, ends };
        (self.capacity, self.length) = (remaining.saturating_add(1), resets_in);
        self.best = self.best.max(self.capacity);
    }

    fn lower(&mut self, remaining: u32, now: Moment) {
        self.window.remaining = self.window.remaining.min(remaining);
        self.window.told = Some(now.order);
    }
}

fn later(at: Monotonic, wait: Duration) -> Monotonic {
    at.checked_add(wait).unwrap_or(at)
}
