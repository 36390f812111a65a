//! Timers of a session, by label.
//!
//! Promised: a timer elapses no earlier than asked, and behind everything that the sockets had received when it came due. What
//! they receive later does not hold it up, so that a heartbeat waits for what is in the house and for nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jackfield_model::Monotonic;

use super::sockets::Received;

/// Timers under way.
#[derive(Default)]
pub(super) struct Timers {
    running: BTreeMap<String, Monotonic>,
    /// Those that came due, in that order, each with what has to be told before it.
    due: VecDeque<(String, Arc<Received>)>,
}

impl Timers {
    /// Sets a timer; one of this label is replaced.
    pub(super) fn set(&mut self, label: String, due: Monotonic) {
        self.due.retain(|(other, _)| *other != label);
        self.running.insert(label, due);
    }

    /// Forgets a timer.
    pub(super) fn cancel(&mut self, label: &str) {
        self.due.retain(|(other, _)| other != label);
        self.running.remove(label);
    }

    /// When the next one comes due.
    pub(super) fn next(&self) -> Option<Monotonic> {
        self.running.values().min().copied()
    }

    /// Those whose time has come wait for what was received by now, the longest due first.
    pub(super) fn come_due(&mut self, now: Monotonic, received: Received) {
        let mut due: Vec<(Monotonic, String)> =
            self.running.iter().filter(|(_, at)| **at <= now).map(|(label, at)| (*at, label.clone())).collect();
        due.sort();
        let received = Arc::new(received);
        for (_, label) in due {
            self.running.remove(&label);
            self.due.push_back((label, received.clone()));
        }
    }

    /// The next one that came due and has nothing before it any more.
    pub(super) fn elapse(&mut self, is_taken: impl FnOnce(&Received) -> bool) -> Option<String> {
        let (_, received) = self.due.front()?;
        if !is_taken(received) {
            return None;
        }
        self.due.pop_front().map(|(label, _)| label)
    }

    /// Those under way and the time that each has left.
    pub(super) fn left(&self, now: Monotonic) -> Vec<(String, Duration)> {
        let running = self.running.iter().map(|(label, at)| (label.clone(), at.saturating_duration_since(now)));
        running.chain(self.due.iter().map(|(label, _)| (label.clone(), Duration::ZERO))).collect()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.running.len() + self.due.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Monotonic, millis: u64) -> Monotonic {
        start + Duration::from_millis(millis)
    }

    #[test]
    fn a_timer_waits_for_what_was_received_before_it() {
        let start = jackfield_model::clock::system().monotonic();
        let mut timers = Timers::default();
        timers.set("late".into(), at(start, 2));
        timers.set("early".into(), at(start, 1));
        timers.set("later".into(), at(start, 3));
        timers.come_due(at(start, 2), Received::default());
        assert_eq!(timers.next(), Some(at(start, 3)));
        assert_eq!(timers.elapse(|_| false), None);
        assert_eq!((timers.len(), timers.left(at(start, 2)).len()), (3, 3), "what is due is still under way");
        let elapsed: Vec<String> = std::iter::from_fn(|| timers.elapse(|_| true)).collect();
        assert_eq!(elapsed, ["early", "late"]);
    }

    #[test]
    fn what_is_set_again_or_cancelled_does_not_elapse() {
        let start = jackfield_model::clock::system().monotonic();
        let mut timers = Timers::default();
        for label in ["again", "never", "due"] {
            timers.set(label.into(), start);
        }
        timers.come_due(start, Received::default());
        timers.set("again".into(), at(start, 1));
        timers.cancel("never");
        let elapsed: Vec<String> = std::iter::from_fn(|| timers.elapse(|_| true)).collect();
        assert_eq!((elapsed, timers.len()), (vec!["due".to_owned()], 1));
    }
}
