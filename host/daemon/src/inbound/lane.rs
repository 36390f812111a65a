//! Lanes: dispatches of one conversation in order, one batch of a lane under way at a time, lanes taken in turn.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

#[derive(Default)]
struct Lane {
    waiting: VecDeque<u64>,
    busy: bool,
}

/// All lanes that have something waiting or under way. An idle lane costs nothing.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: HashMap<Arc<str>, Lane>,
    /// Lanes with something waiting and nothing under way, in the order in which they became so.
    ready: VecDeque<Arc<str>>,
}

impl Lanes {
    /// Puts a dispatch at the end of its lane.
    pub(super) fn push(&mut self, lane: &Arc<str>, number: u64) {
        let slot = self.lanes.entry(lane.clone()).or_default();
        slot.waiting.push_back(number);
        if !slot.busy && slot.waiting.len() == 1 {
            self.ready.push_back(lane.clone());
        }
    }

    /// Takes the front of the next ready lane for as long as `fits` agrees. The lane is busy until [`Lanes::done`].
    pub(super) fn take(&mut self, mut fits: impl FnMut(u64) -> bool) -> Option<(Arc<str>, Vec<u64>)> {
        let lane = self.ready.pop_front()?;
        let slot = self.lanes.get_mut(&lane)?;
        let mut taken = Vec::new();
        while let Some(number) = slot.waiting.front().copied() {
            if !fits(number) {
                break;
            }
            slot.waiting.pop_front();
            taken.push(number);
        }
        if taken.is_empty() {
            self.ready.push_front(lane);
            return None;
        }
        slot.busy = true;
        Some((lane, taken))
    }

    /// The batch of this lane is answered.
    pub(super) fn done(&mut self, lane: &Arc<str>) {
        let Some(slot) = self.lanes.get_mut(lane) else { return };
        slot.busy = false;
        if slot.waiting.is_empty() {
            self.lanes.remove(lane);
        } else {
            self.ready.push_back(lane.clone());
        }
    }

    /// Whatever waits behind the first `skip` of each lane.
    pub(super) fn behind(&self, skip: usize) -> impl Iterator<Item = u64> + '_ {
        self.lanes.values().flat_map(move |lane| lane.waiting.iter().skip(skip).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_batch_of_a_lane_at_a_time() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let mut lanes = Lanes::default();
        for (lane, number) in [(&a, 1), (&a, 2), (&b, 3)] {
            lanes.push(lane, number);
        }
        assert_eq!(lanes.take(|n| n < 2), Some((a.clone(), vec![1])));
        lanes.push(&a, 4);
        assert_eq!(lanes.take(|_| true), Some((b.clone(), vec![3])));
        assert_eq!(lanes.take(|_| true), None, "a is under way");
        lanes.done(&a);
        assert_eq!(lanes.take(|_| true), Some((a.clone(), vec![2, 4])));
        lanes.done(&a);
        lanes.done(&b);
        assert!(lanes.lanes.is_empty() && lanes.ready.is_empty());
    }

    #[test]
    fn a_lane_whose_front_does_not_fit_keeps_its_turn() {
        let a: Arc<str> = "a".into();
        let mut lanes = Lanes::default();
        lanes.push(&a, 1);
        assert_eq!(lanes.take(|_| false), None);
        assert_eq!(lanes.take(|_| true), Some((a, vec![1])));
    }
}
