//! What waits for the next commit, and the batch that is made of it.

use std::collections::VecDeque;
use std::sync::Arc;

use jackfield_model::Dispatch;
use jackfield_model::limits::{COMMIT_BYTES_MAX, COMMIT_DISPATCHES_MAX};
use jackfield_store::commit::{Outcome, Reception};
use jackfield_store::inbox::RowId;
use jackfield_store::state::Write;

/// A dispatch whose outcome is known.
#[derive(Debug)]
pub(super) struct Ready {
    /// Its number.
    pub number: u64,
    /// The dispatch.
    pub dispatch: Arc<Dispatch>,
    /// How it came.
    pub reception: Reception,
    /// Out of its lane's order.
    pub late: bool,
    /// How it ended.
    pub outcome: Outcome,
}

/// Everything that waits for the next commit, each in its order.
#[derive(Default)]
pub(super) struct Waiting {
    /// Outcomes.
    pub ready: VecDeque<Ready>,
    /// Bytes of their dispatches.
    pub ready_bytes: usize,
    /// Dispatches to write to the inbox.
    pub parks: VecDeque<u64>,
    /// Attempts to remember.
    pub attempts: Vec<(RowId, u32)>,
    /// Changes of the session's map.
    pub state: VecDeque<(u64, Write)>,
}

/// What one commit takes of it.
#[derive(Default)]
pub(super) struct Cut {
    /// Outcomes.
    pub ready: Vec<Ready>,
    /// Dispatches to write to the inbox.
    pub parks: Vec<u64>,
    /// Attempts to remember.
    pub attempts: Vec<(RowId, u32)>,
    /// Changes of the session's map.
    pub state: Vec<(u64, Write)>,
}

impl Cut {
    /// There is nothing to commit.
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.parks.is_empty() && self.attempts.is_empty() && self.state.is_empty()
    }
}

impl Waiting {
    /// An outcome is known.
    pub(super) fn push(&mut self, ready: Ready) {
        self.ready_bytes += ready.dispatch.weight();
        self.ready.push_back(ready);
    }

    /// Takes what fits into one commit: outcomes first, since sessions wait for them, then rows. `weight` says what a row weighs;
    /// `None` when there is no need to write it any more.
    pub(super) fn cut(&mut self, weight: impl Fn(u64) -> Option<usize>) -> Cut {
        let mut bytes = 0;
        let mut room = |count: usize, more: usize| {
            bytes += more;
            count == 0 || (count < COMMIT_DISPATCHES_MAX && bytes <= COMMIT_BYTES_MAX)
        };
        let mut cut = Cut { attempts: std::mem::take(&mut self.attempts), ..Cut::default() };
        while let Some(ready) = self.ready.front() {
            if !room(cut.ready.len(), ready.dispatch.weight()) {
                break;
            }
            self.ready_bytes -= ready.dispatch.weight();
            cut.ready.extend(self.ready.pop_front());
        }
        while cut.state.len() < COMMIT_DISPATCHES_MAX
            && let Some(write) = self.state.pop_front()
        {
            cut.state.push(write);
        }
        while let Some(number) = self.parks.front().copied() {
            match weight(number) {
                None => {}
                Some(weight) if room(cut.ready.len() + cut.parks.len(), weight) => cut.parks.push(number),
                Some(_) => break,
            }
            self.parks.pop_front();
        }
        cut
    }

    /// Puts back what could not be committed.
    pub(super) fn restore(&mut self, cut: Cut) {
        for ready in cut.ready.into_iter().rev() {
            self.ready_bytes += ready.dispatch.weight();
            self.ready.push_front(ready);
        }
        for write in cut.state.into_iter().rev() {
            self.state.push_front(write);
        }
        for number in cut.parks.into_iter().rev() {
            self.parks.push_front(number);
        }
        self.attempts.splice(0..0, cut.attempts);
    }
}

#[cfg(test)]
mod tests {
    use jackfield_model::{Generation, Timestamp, Transport};

    use super::*;

    fn ready(number: u64, bytes: usize) -> Ready {
        Ready {
            number,
            dispatch: Arc::new(Dispatch {
                kind: String::new(),
                payload: "x".repeat(bytes).into(),
                lane: String::new(),
                context: String::new(),
            }),
            reception: Reception { at: Timestamp(0), via: Transport::Socket, by: Generation(1) },
            late: false,
            outcome: Outcome::Ignored,
        }
    }

    fn waiting(all: impl IntoIterator<Item = Ready>) -> Waiting {
        let mut waiting = Waiting::default();
        all.into_iter().for_each(|ready| waiting.push(ready));
        waiting
    }

    #[test]
    fn a_cut_keeps_order_and_ceilings() {
        let mut waiting = waiting((0..100).map(|n| ready(n, 10)));
        waiting.parks = (100..110).collect();
        let cut = waiting.cut(|_| Some(10));
        assert_eq!(cut.ready.iter().map(|r| r.number).collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
        assert!(cut.parks.is_empty(), "outcomes come first");
        let rest = waiting.cut(|n| (n % 2 == 0).then_some(10));
        assert_eq!((rest.ready.len(), rest.parks), (36, vec![100, 102, 104, 106, 108]));
        assert!(waiting.cut(|_| Some(10)).is_empty());
    }

    #[test]
    fn one_large_dispatch_goes_alone() {
        let mut waiting = waiting([ready(0, COMMIT_BYTES_MAX + 1), ready(1, 1)]);
        assert_eq!(waiting.cut(|_| None).ready.len(), 1);
    }

    #[test]
    fn what_failed_goes_back_in_order() {
        let mut waiting = waiting((0..70).map(|n| ready(n, 1)));
        let cut = waiting.cut(|_| None);
        waiting.restore(cut);
        assert!(waiting.ready.iter().map(|r| r.number).eq(0..70));
        assert_eq!(waiting.ready_bytes, 70);
    }
}
