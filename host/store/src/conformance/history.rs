//! Random histories: whatever order things happen in, nothing committed is lost, nothing is doubled inside the window, and
//! every lane is in order.

use std::collections::HashMap;

use jackfield_model::ConnectionId;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};

use crate::commit::{Commit, Ground, Outcome};
use crate::conformance::sample::{admitted, batch, connection, ended, event};
use crate::conformance::{Backend, Bed, End};
use crate::event::Filter;

/// Histories a run. Each takes some tens of flushes.
const HISTORIES: u32 = 24;

/// A lost reply: the batch goes again with the same count, and the session goes on from there.
pub async fn replies_are_lost<B: Backend>() {
    let mut bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut ground = bed.term(&id).await;
    for (at, end) in [None, Some(End::Killed), None, Some(End::Clean)].into_iter().enumerate() {
        let sent = batch(&id, vec![said("lane", at as u64)]);
        bed.try_commit(sent.clone(), Some(ground)).await;
        if let Some(end) = end {
            bed = bed.reopen(end).await;
        }
        assert_eq!(bed.try_commit(sent, Some(ground)).await, Commit::Repeated);
        ground.count += 1;
    }
    assert_eq!(bed.keys().await, ["lane/0", "lane/1", "lane/2", "lane/3"]);
}

/// Two connections, several lanes; sends, sends again, lost replies, stale terms, new terms, ends of the process.
pub async fn interleavings<B: Backend>() {
    let mut runner = TestRunner::new(Config::default());
    let histories = prop::collection::vec(step(), 1..40);
    for _ in 0..HISTORIES {
        let steps = histories.new_tree(&mut runner).unwrap().current();
        let mut history = History { bed: Bed::<B>::fresh().await, sides: HashMap::new() };
        for (at, step) in steps.iter().enumerate() {
            if let Step::End { killed } = step {
                history.bed = history.bed.reopen(if *killed { End::Killed } else { End::Clean }).await;
            }
            history.take(step).await.unwrap_or_else(|wrong| panic!("step {at} of {steps:?}: {wrong}"));
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// New dispatches, one a lane named, in one batch; then as many more times as the reply is lost.
    Send { side: bool, lanes: Vec<u8>, lost: u8 },
    /// What was sent before, under the newest ground: the platform repeats itself.
    Replay { side: bool, back: u64 },
    /// A batch under the term before this one.
    Stale { side: bool },
    /// Another term begins.
    Term { side: bool },
    /// The process ends and starts again.
    End { killed: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let lanes = prop::collection::vec(0..3_u8, 1..5);
    prop_oneof![
        6 => (any::<bool>(), lanes, 0..3_u8).prop_map(|(side, lanes, lost)| Step::Send { side, lanes, lost }),
        2 => (any::<bool>(), 1..6_u64).prop_map(|(side, back)| Step::Replay { side, back }),
        1 => any::<bool>().prop_map(|side| Step::Stale { side }),
        1 => any::<bool>().prop_map(|side| Step::Term { side }),
        1 => any::<bool>().prop_map(|killed| Step::End { killed }),
    ]
}

/// One connection, as its session sees it.
#[derive(Default)]
struct Side {
    ground: Option<Ground>,
    before: Option<Ground>,
    /// What has to be in the log: lane and number, in order.
    sent: Vec<(String, u64)>,
}

struct History<B> {
    bed: Bed<B>,
    sides: HashMap<ConnectionId, Side>,
}

impl<B: Backend> History<B> {
    async fn take(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Send { side, lanes, lost } => self.send(*side, lanes, *lost).await,
            Step::Replay { side, back } => self.replay(*side, *back).await,
            Step::Stale { side } => self.stale(*side).await?,
            Step::Term { side } => self.term(*side).await,
            Step::End { .. } => {}
        }
        self.check().await
    }

    async fn ground(&mut self, side: bool) -> (ConnectionId, Ground) {
        let id = name(side);
        if self.sides.entry(id.clone()).or_default().ground.is_none() {
            self.term(side).await;
        }
        let ground = self.sides[&id].ground.unwrap();
        (id, ground)
    }

    async fn term(&mut self, side: bool) {
        let id = name(side);
        let ground = self.bed.term(&id).await;
        let side = self.sides.entry(id).or_default();
        side.before = side.ground.replace(ground);
    }

    async fn send(&mut self, side: bool, lanes: &[u8], lost: u8) {
        let (id, ground) = self.ground(side).await;
        let sent = &mut self.sides.get_mut(&id).unwrap().sent;
        let mut settled = Vec::new();
        for lane in lanes {
            let number = sent.len() as u64;
            sent.push((format!("lane {lane}"), number));
            settled.push(said(&format!("lane {lane}"), number));
        }
        let batch = batch(&id, settled);
        assert!(matches!(self.bed.try_commit(batch.clone(), Some(ground)).await, Commit::Done(_)));
        for _ in 0..lost {
            assert_eq!(self.bed.try_commit(batch.clone(), Some(ground)).await, Commit::Repeated);
        }
        self.moved_on(&id);
    }

    async fn replay(&mut self, side: bool, back: u64) {
        let (id, ground) = self.ground(side).await;
        let sent = &self.sides[&id].sent;
        let from = sent.len().saturating_sub(back as usize);
        let again = sent[from..].iter().map(|(lane, number)| said(lane, *number)).collect();
        assert!(matches!(self.bed.try_commit(batch(&id, again), Some(ground)).await, Commit::Done(_)));
        self.moved_on(&id);
    }

    async fn stale(&mut self, side: bool) -> Result<(), String> {
        let id = name(side);
        let Some(before) = self.sides.get(&id).and_then(|side| side.before) else { return Ok(()) };
        match self.bed.try_commit(batch(&id, vec![said("never", 0)]), Some(before)).await {
            Commit::Fenced => Ok(()),
            other => Err(format!("a term that is over was answered {other:?}")),
        }
    }

    fn moved_on(&mut self, id: &ConnectionId) {
        if let Some(ground) = self.sides.get_mut(id).and_then(|side| side.ground.as_mut()) {
            ground.count += 1;
        }
    }

    async fn check(&self) -> Result<(), String> {
        for (id, side) in &self.sides {
            let log = self.bed.log_of(&Filter { connection: Some(id.clone()), name: None }).await;
            let found: Vec<String> = log.into_iter().map(|record| record.event.key).collect();
            let wanted: Vec<String> = side.sent.iter().map(|(lane, number)| format!("{lane}/{number}")).collect();
            if found != wanted {
                return Err(format!("{id}: the log has {found:?}, sent was {wanted:?}"));
            }
        }
        Ok(())
    }
}

fn name(side: bool) -> ConnectionId {
    if side { "left" } else { "right" }.parse().unwrap()
}

fn said(lane: &str, number: u64) -> crate::commit::Settled {
    let key = format!("{lane}/{number}");
    ended(lane, &key, Outcome::Events(vec![admitted(event(&key))]))
}
