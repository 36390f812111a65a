//! The numbered dispatches of one session: what is still to be sent, and what can be sent again.
//!
//! Promises: numbers start at 1 and have no gaps; a resume sends what followed, under the original numbers; what a heartbeat
//! acknowledged is gone. Whoever resumes before the acknowledged number is refused rather than given a hole.

use std::collections::VecDeque;
use std::sync::Arc;

use super::dispatch::Dispatch;

/// A dispatch with the number it has in this session.
#[derive(Debug, Clone)]
pub(crate) struct Numbered {
    pub(crate) seq: u64,
    pub(crate) dispatch: Arc<Dispatch>,
    /// Whether it was sent before.
    pub(crate) again: bool,
}

/// Why a resume was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The client names a number that was never sent. Close code 4007.
    Ahead,
    /// What followed that number was acknowledged or dropped. Opcode 9.
    Trimmed,
}

/// How the next replay is to be spoilt. Real gateways were seen doing both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spoil {
    /// So many of the replayed dispatches come twice.
    pub(crate) duplicate: usize,
    /// The replayed dispatches come in another order.
    pub(crate) reorder: bool,
}

#[derive(Debug)]
pub(crate) struct Replay {
    /// Contiguous; the first has the number `first`.
    kept: VecDeque<Arc<Dispatch>>,
    first: u64,
    /// The next number to send.
    cursor: u64,
    /// The highest number given to a socket.
    sent: u64,
    /// READY and RESUMED below this number belong to an earlier connection and are passed over.
    fresh_from: u64,
    /// Sent before anything at the cursor: a spoilt replay.
    detour: VecDeque<Numbered>,
    max: usize,
}

impl Replay {
    pub(crate) fn new(max: usize) -> Self {
        Self { kept: VecDeque::new(), first: 1, cursor: 1, sent: 0, fresh_from: 1, detour: VecDeque::new(), max }
    }

    /// Appends, and returns the number. Beyond the maximum the oldest is let go if it was sent: a resume from before it is then
    /// refused. What was not sent yet is let go only with the whole session (see `overflowed`).
    pub(crate) fn push(&mut self, dispatch: Arc<Dispatch>) -> u64 {
        self.kept.push_back(dispatch);
        if self.kept.len() > self.max && self.first < self.cursor {
            self.kept.pop_front();
            self.first += 1;
        }
        self.first + self.kept.len() as u64 - 1
    }

    /// More unsent dispatches wait than may be kept.
    pub(crate) fn overflowed(&self) -> bool {
        self.kept.len() > self.max
    }

    pub(crate) fn unsent(&self) -> usize {
        let end = self.first + self.kept.len() as u64;
        usize::try_from(end.saturating_sub(self.cursor)).unwrap_or(usize::MAX).saturating_add(self.detour.len())
    }

    /// The next dispatches to send, at most `most`. They count as sent.
    pub(crate) fn take(&mut self, most: usize) -> Vec<Numbered> {
        let detour = self.detour.len().min(most);
        let mut taken: Vec<Numbered> = self.detour.drain(..detour).collect();
        while taken.len() < most {
            let Some(dispatch) = self.at(self.cursor) else { break };
            if dispatch.replayable || self.cursor >= self.fresh_from {
                let again = self.cursor <= self.sent;
                taken.push(Numbered { seq: self.cursor, dispatch: Arc::clone(dispatch), again });
            }
            self.cursor += 1;
        }
        self.sent = taken.iter().map(|numbered| numbered.seq).fold(self.sent, u64::max);
        taken
    }

    /// Lets go of everything up to `seq`, which a heartbeat carried: strictly, what a client acknowledged is not replayed.
    pub(crate) fn acknowledge(&mut self, seq: u64) {
        let through = seq.min(self.cursor - 1);
        while self.first <= through && self.kept.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// Makes everything after `seq` due again, and appends `resumed` behind it. Returns how many are replayed.
    pub(crate) fn resume(&mut self, seq: u64, resumed: Arc<Dispatch>, spoil: Spoil) -> Result<usize, Refusal> {
        if seq > self.sent {
            return Err(Refusal::Ahead);
        }
        if seq + 1 < self.first {
            return Err(Refusal::Trimmed);
        }
        self.detour.clear();
        self.cursor = seq + 1;
        let missed: Vec<Numbered> = self.missed().collect();
        if spoil != Spoil::default() {
            self.cursor = self.first + self.kept.len() as u64;
            self.detour = spoiled(missed.clone(), spoil).into();
        }
        self.fresh_from = self.push(resumed);
        Ok(missed.len())
    }

    /// What is due before the RESUMED of a resume.
    fn missed(&self) -> impl Iterator<Item = Numbered> {
        let numbers = self.cursor..self.first + self.kept.len() as u64;
        let numbered = |seq| Some(Numbered { seq, dispatch: Arc::clone(self.at(seq)?), again: seq <= self.sent });
        numbers.filter_map(numbered).filter(|numbered| numbered.dispatch.replayable)
    }

    fn at(&self, seq: u64) -> Option<&Arc<Dispatch>> {
        let index = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        self.kept.get(index)
    }
}

/// Reordered: the second half before the first. Doubled: the last `duplicate` dispatches again at the end.
fn spoiled(missed: Vec<Numbered>, spoil: Spoil) -> Vec<Numbered> {
    let repeated = missed.iter().rev().take(spoil.duplicate).rev();
    let repeated: Vec<Numbered> = repeated.map(|numbered| Numbered { again: true, ..numbered.clone() }).collect();
    let mut order = missed;
    if spoil.reorder {
        let middle = order.len() / 2;
        order.rotate_left(middle);
    }
    order.extend(repeated);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discord::dispatch::Scope;

    fn dispatch() -> Arc<Dispatch> {
        Arc::new(Dispatch::new("MESSAGE_CREATE".into(), "{}".to_owned(), Scope::default()))
    }

    fn resumed() -> Arc<Dispatch> {
        Arc::new(Dispatch::control("RESUMED", "{}".to_owned()))
    }

    fn sent(count: usize) -> Replay {
        let mut replay = Replay::new(100);
        for _ in 0..count {
            replay.push(dispatch());
        }
        assert_eq!(replay.take(count).len(), count);
        replay
    }

    fn numbers(taken: &[Numbered]) -> Vec<u64> {
        taken.iter().map(|numbered| numbered.seq).collect()
    }

    #[test]
    fn numbers_start_at_one_and_have_no_gaps() {
        let mut replay = Replay::new(100);
        assert_eq!((replay.push(dispatch()), replay.push(dispatch())), (1, 2));
        assert_eq!(numbers(&replay.take(10)), [1, 2]);
        assert_eq!((replay.push(dispatch()), replay.unsent()), (3, 1));
        assert_eq!(numbers(&replay.take(10)), [3]);
    }

    #[test]
    fn a_resume_replays_under_the_original_numbers_and_resumed_comes_next() {
        let mut replay = sent(5);
        replay.push(dispatch());
        assert_eq!(replay.resume(2, resumed(), Spoil::default()), Ok(4));
        let taken = replay.take(100);
        assert_eq!(numbers(&taken), [3, 4, 5, 6, 7]);
        assert_eq!(taken.iter().map(|numbered| numbered.again).collect::<Vec<_>>(), [true, true, true, false, false]);
        assert_eq!(&*taken.last().unwrap().dispatch.kind, "RESUMED");
    }

    #[test]
    fn a_second_resume_does_not_replay_the_first_resumed() {
        let mut replay = sent(2);
        assert_eq!(replay.resume(2, resumed(), Spoil::default()), Ok(0));
        assert_eq!(numbers(&replay.take(10)), [3]);
        assert_eq!(replay.resume(2, resumed(), Spoil::default()), Ok(0));
        assert_eq!(numbers(&replay.take(10)), [4]);
    }

    #[test]
    fn a_resumed_that_never_got_out_is_replaced() {
        let mut replay = sent(2);
        assert_eq!(replay.resume(1, resumed(), Spoil::default()), Ok(1));
        assert_eq!(replay.resume(1, resumed(), Spoil::default()), Ok(1));
        assert_eq!(numbers(&replay.take(10)), [2, 4]);
    }

    #[test]
    fn what_a_heartbeat_acknowledged_is_gone() {
        let mut replay = sent(5);
        replay.acknowledge(3);
        assert_eq!(replay.resume(2, resumed(), Spoil::default()), Err(Refusal::Trimmed));
        assert_eq!(replay.resume(3, resumed(), Spoil::default()), Ok(2));
        assert_eq!(numbers(&replay.take(10)), [4, 5, 6]);
    }

    #[test]
    fn an_acknowledgement_of_the_unsent_takes_nothing_unsent() {
        let mut replay = sent(2);
        replay.push(dispatch());
        replay.acknowledge(900);
        assert_eq!(numbers(&replay.take(10)), [3]);
    }

    #[test]
    fn a_number_that_was_never_sent_is_refused() {
        let mut replay = sent(2);
        replay.push(dispatch());
        assert_eq!(replay.resume(3, resumed(), Spoil::default()), Err(Refusal::Ahead));
    }

    #[test]
    fn beyond_the_maximum_the_oldest_sent_go() {
        let mut replay = Replay::new(3);
        for _ in 0..5 {
            replay.push(dispatch());
            replay.take(1);
        }
        assert!(!replay.overflowed());
        assert_eq!(replay.resume(1, resumed(), Spoil::default()), Err(Refusal::Trimmed));
        assert_eq!(replay.resume(2, resumed(), Spoil::default()), Ok(3));
    }

    #[test]
    fn beyond_the_maximum_the_unsent_stay_and_the_session_is_over() {
        let mut replay = Replay::new(3);
        for _ in 0..4 {
            replay.push(dispatch());
        }
        assert!(replay.overflowed());
        assert_eq!(numbers(&replay.take(10)), [1, 2, 3, 4]);
    }

    #[test]
    fn a_spoilt_replay_doubles_and_reorders_but_misses_nothing() {
        let mut replay = sent(6);
        let spoil = Spoil { duplicate: 2, reorder: true };
        assert_eq!(replay.resume(1, resumed(), spoil), Ok(5));
        let mut taken = numbers(&replay.take(100));
        assert_eq!(taken, [4, 5, 6, 2, 3, 5, 6, 7]);
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken, [2, 3, 4, 5, 6, 7]);
    }
}
