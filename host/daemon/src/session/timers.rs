//! Timers of a session, by label.

use std::collections::BTreeMap;
use std::time::Duration;

use jackfield_model::Monotonic;

/// Timers under way.
#[derive(Default)]
pub(super) struct Timers(BTreeMap<String, Monotonic>);

impl Timers {
    /// Sets a timer; one of this label is replaced.
    pub(super) fn set(&mut self, label: String, due: Monotonic) {
        self.0.insert(label, due);
    }

    /// Forgets a timer.
    pub(super) fn cancel(&mut self, label: &str) {
        self.0.remove(label);
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<Monotonic> {
        self.0.values().min().copied()
    }

    /// Takes those that are due, the longest due first.
    pub(super) fn due(&mut self, now: Monotonic) -> Vec<String> {
        let mut due: Vec<(Monotonic, String)> =
            self.0.iter().filter(|(_, at)| **at <= now).map(|(label, at)| (*at, label.clone())).collect();
        due.sort();
        for (_, label) in &due {
            self.0.remove(label);
        }
        due.into_iter().map(|(_, label)| label).collect()
    }

    /// Those under way and the time that each has left.
    pub(super) fn left(&self, now: Monotonic) -> Vec<(String, Duration)> {
        self.0.iter().map(|(label, at)| (label.clone(), at.saturating_duration_since(now))).collect()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
