//! Up to where everything is settled: what a heartbeat may acknowledge.
//!
//! Dispatches settle in any order, since lanes run side by side. Kept are counts of what is outstanding, by sequence
//! number, and by ranges of them once there are many: the answer is then a little behind, never ahead, and the
//! memory stays bounded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Most ranges that are told apart. 1,024 of them are 12 KB in a checkpoint; with more outstanding, neighbours are
/// counted together.
const RANGES_MAX: usize = 1_024;

/// What of one Discord session is outstanding.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
pub struct Settled {
    /// Highest sequence number received.
    received: u64,
    /// A range is 2^this sequence numbers.
    shift: u32,
    /// Outstanding dispatches by range.
    outstanding: BTreeMap<u64, u32>,
}

impl Settled {
    /// A dispatch was received, and will be settled by itself: READY, or one that the host did not take.
    pub fn received(&mut self, seq: u64) {
        self.received = self.received.max(seq);
    }

    /// A dispatch was submitted.
    pub fn submitted(&mut self, seq: u64) {
        self.received(seq);
        *self.outstanding.entry(seq >> self.shift).or_default() += 1;
        while self.outstanding.len() > RANGES_MAX {
            self.coarsen();
        }
    }

    /// A dispatch is settled.
    pub fn settled(&mut self, seq: u64) {
        let range = seq >> self.shift;
        if let Some(count) = self.outstanding.get_mut(&range) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.outstanding.remove(&range);
            }
        }
        if self.outstanding.is_empty() {
            self.shift = 0;
        }
    }

    /// Everything outstanding is settled: so says a host that starts us from a stored checkpoint.
    pub fn all_settled(&mut self) {
        self.outstanding.clear();
        self.shift = 0;
    }

    /// The highest sequence number up to which everything is settled; `None` before the first.
    #[must_use]
    pub fn up_to(&self) -> Option<u64> {
        let below = match self.outstanding.first_key_value() {
            Some((range, _)) => (range << self.shift).saturating_sub(1).min(self.received),
            None => self.received,
        };
        (below > 0).then_some(below)
    }

    /// Highest sequence number received.
    #[must_use]
    pub fn highest(&self) -> u64 {
        self.received
    }

    fn coarsen(&mut self) {
        self.shift = self.shift.saturating_add(1);
        for (range, count) in std::mem::take(&mut self.outstanding) {
            *self.outstanding.entry(range >> 1).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    #[test]
    fn a_gap_holds_back_what_is_behind_it() {
        let mut marks = Settled::default();
        marks.received(1);
        (2..=5).for_each(|seq| marks.submitted(seq));
        assert_eq!(marks.up_to(), Some(1));
        marks.settled(3);
        marks.settled(5);
        assert_eq!(marks.up_to(), Some(1));
        marks.settled(2);
        assert_eq!(marks.up_to(), Some(3));
        marks.settled(4);
        assert_eq!(marks.up_to(), Some(5));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Never ahead of the truth, exact when little is outstanding, and exact again at the end.
        #[test]
        fn never_ahead(order in Just((1..=5_000_u64).collect::<Vec<_>>()).prop_shuffle()) {
            let mut marks = Settled::default();
            (1..=5_000).for_each(|seq| marks.submitted(seq));
            let mut outstanding: BTreeSet<u64> = (1..=5_000).collect();
            for seq in order {
                marks.settled(seq);
                outstanding.remove(&seq);
                let truth = outstanding.first().map_or(5_000, |first| first - 1);
                let said = marks.up_to().unwrap_or(0);
                prop_assert!(said <= truth);
                prop_assert!(marks.outstanding.len() <= RANGES_MAX);
            }
            prop_assert_eq!(marks.up_to(), Some(5_000));
        }
    }
}
