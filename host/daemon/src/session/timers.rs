//! Timers of a session, by label.

use std::collections::BTreeMap;
use std::time::Duration;

use jackfield_model::Monotonic;

/// Timers under way.
#[derive(Default)]
pub struct Timers(BTreeMap<String, Monotonic>);

impl Timers {
    /// Sets a timer; one of this label is replaced.
    pub fn set(&mut self, label: String, due: Monotonic) {
        self.0.insert(label, due);
    }

    /// Forgets a timer.
    pub fn cancel(&mut self, label: &str) {
        self.0.remove(label);
    }

    /// When the next one is due.
    pub fn next(&self) -> Option<Monotonic> {
        self.0.values().min().copied()
    }

    /// Takes those that are due, the longest due first.
    pub fn due(&mut self, now: Monotonic) -> Vec<String> {
        let mut due: Vec<(Monotonic, String)> =
            self.0.iter().filter(|(_, at)| **at <= now).map(|(label, at)| (*at, label.clone())).collect();
        due.sort();
        for (_, label) in &due {
            self.0.remove(label);
        }
        due.into_iter().map(|(_, label)| label).collect()
    }

    /// Those under way and the time that each has left.
    pub fn left(&self, now: Monotonic) -> Vec<(String, Duration)> {
        self.0.iter().map(|(label, at)| (label.clone(), at.saturating_duration_since(now))).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
