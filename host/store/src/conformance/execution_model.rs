//! Random submissions against a small model of the rules: whatever order things happen in, a key runs again only where nothing
//! can be done twice.

use std::collections::HashMap;
use std::time::Duration;

use jackfield_model::action::{Ending, EndingKind};
use jackfield_model::limits::DEDUPE_ENTRIES_MAX;
use jackfield_model::{Clock as _, Digest, ExecutionId, Timestamp};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};

use crate::conformance::sample::{closing, execution, opening};
use crate::conformance::{Backend, Bed, End};
use crate::execution::{Closing, Filter, Opened, Opening, Repeats};
use crate::retention::Policy;

/// How long what has ended is kept.
const KEPT: Duration = Duration::from_secs(60);

/// Histories a run. Each takes some tens of flushes.
const HISTORIES: u32 = 24;

/// Submissions, endings and ends of the process, over a few keys.
pub async fn interleavings<B: Backend>() {
    let mut runner = TestRunner::new(Config::default());
    let histories = prop::collection::vec(step(), 1..60);
    for _ in 0..HISTORIES {
        let steps = histories.new_tree(&mut runner).unwrap().current();
        let mut history = History { bed: Bed::<B>::fresh().await, keys: HashMap::new(), written: Vec::new(), next: 1 };
        for (at, step) in steps.iter().enumerate() {
            history = history.take(step).await.unwrap_or_else(|wrong| panic!("step {at} of {steps:?}: {wrong}"));
        }
        history.check().await.unwrap_or_else(|wrong| panic!("at the end of {steps:?}: {wrong}"));
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Somebody submits.
    Open { key: u8, args: u8, repeats_unknown: bool, attempt: u32 },
    /// What runs under this key ends; what has ended ends once more.
    Close { key: u8, kind: EndingKind },
    /// The process ends, and the next one says so of what ran.
    End { killed: bool },
    /// Time passes, and what is too old is pruned.
    Prune { after: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = prop_oneof![
        2 => Just(EndingKind::Retry),
        2 => Just(EndingKind::Unknown),
        4 => prop::sample::select(EndingKind::ALL.to_vec()),
    ];
    let open = (0..3_u8, 0..8_u8, any::<bool>(), 0..4_u32);
    prop_oneof![
        6 => open.prop_map(|(key, args, repeats_unknown, attempt)| {
            // Mostly the same arguments, or nothing but conflicts would happen.
            Step::Open { key, args: args / 7, repeats_unknown, attempt }
        }),
        5 => (0..3_u8, kinds).prop_map(|(key, kind)| Step::Close { key, kind }),
        1 => any::<bool>().prop_map(|killed| Step::End { killed }),
        1 => (20..70_u64).prop_map(|after| Step::Prune { after }),
    ]
}

/// What happened under one key, whole.
struct Key {
    args: u8,
    /// Executions and how they ended and when, oldest first. Also what was pruned.
    runs: Vec<(ExecutionId, Option<(EndingKind, Timestamp)>)>,
    attempt: u32,
}

/// What the rules say of a submission.
#[derive(Debug, PartialEq)]
enum Wanted {
    New { attempt: u32, doubt: bool },
    Same { id: ExecutionId, attempt: u32, ending: Option<EndingKind> },
    Conflict { id: ExecutionId },
}

impl Key {
    /// Whether the newest execution ended by then.
    fn ended_by(&self, then: Timestamp) -> bool {
        self.runs.last().is_some_and(|(_, ended)| ended.is_some_and(|(_, at)| at <= then))
    }

    fn answer(&self, args: u8, repeats_unknown: bool, attempt: u32) -> Wanted {
        let &(id, last) = self.runs.last().unwrap();
        let last = last.map(|(kind, _)| kind);
        let nothing = |ending: Option<EndingKind>| matches!(ending, Some(EndingKind::Retry | EndingKind::Unauthorized));
        let unknown = |ending: Option<EndingKind>| ending == Some(EndingKind::Unknown);
        let endings = || self.runs.iter().map(|(_, ended)| ended.map(|(kind, _)| kind));
        let doubted = self.runs.iter().rev().skip(1).any(|(_, ended)| unknown(ended.map(|(kind, _)| kind)));
        // Refused is refused, unless one before it may have done it.
        let refused = |ending: Option<EndingKind>| doubted && ending == Some(EndingKind::Rejected);
        let harmless = endings().all(nothing)
            || (repeats_unknown && endings().all(|end| nothing(end) || unknown(end) || refused(end)));
        if args != self.args {
            Wanted::Conflict { id }
        } else if last.is_some() && harmless {
            Wanted::New { attempt: attempt.max(self.attempt.saturating_add(1)), doubt: endings().any(unknown) }
        } else if nothing(last) || refused(last) {
            Wanted::Same { id, attempt: self.attempt, ending: Some(EndingKind::Unknown) }
        } else {
            Wanted::Same { id, attempt: self.attempt, ending: last }
        }
    }
}

struct History<B> {
    bed: Bed<B>,
    keys: HashMap<u8, Key>,
    /// Rows that have to be in the ledger, oldest first.
    written: Vec<ExecutionId>,
    next: u64,
}

impl<B: Backend> History<B> {
    async fn take(mut self, step: &Step) -> Result<Self, String> {
        match *step {
            Step::Open { key, args, repeats_unknown, attempt } => {
                self.open(key, args, repeats_unknown, attempt).await?
            }
            Step::Close { key, kind } => self.close(key, kind).await?,
            Step::End { killed } => {
                self.bed = self.bed.reopen(if killed { End::Killed } else { End::Clean }).await;
                self.interrupt().await?;
            }
            Step::Prune { after } => self.prune(Duration::from_secs(after)).await?,
        }
        Ok(self)
    }

    async fn open(&mut self, key: u8, args: u8, repeats_unknown: bool, attempt: u32) -> Result<(), String> {
        let id = execution(self.next);
        self.next += 1;
        let sent = Opening {
            id,
            attempt,
            repeats: if repeats_unknown { Repeats::Always } else { Repeats::Never },
            args_digest: Digest::of(&[args]),
            ..opening(0, Some(&format!("key {key}")))
        };
        let opened = match self.bed.executions.open(sent).await.unwrap() {
            Opened::New { attempt, doubt } => Wanted::New { attempt, doubt: doubt.is_some() },
            Opened::Same { id, attempt, ending } => {
                Wanted::Same { id, attempt, ending: ending.as_ref().map(Ending::kind) }
            }
            Opened::Conflict { id } => Wanted::Conflict { id },
        };
        let known = self.keys.get(&key).map(|known| known.answer(args, repeats_unknown, attempt));
        let wanted = known.unwrap_or(Wanted::New { attempt: attempt.max(1), doubt: false });
        if opened != wanted {
            return Err(format!("answered {opened:?}, the rules say {wanted:?}"));
        }
        if let Wanted::New { attempt, .. } = wanted {
            let entry = self.keys.entry(key).or_insert(Key { args, runs: Vec::new(), attempt });
            entry.runs.push((id, None));
            entry.attempt = attempt;
            self.written.push(id);
        }
        Ok(())
    }

    async fn close(&mut self, key: u8, kind: EndingKind) -> Result<(), String> {
        let Some((id, ended)) = self.keys.get_mut(&key).and_then(|key| key.runs.last_mut()) else { return Ok(()) };
        let finished_at = self.bed.clock.now();
        let closed = self.bed.executions.close(*id, Closing { finished_at, ..closing(kind) }).await.unwrap();
        if closed == ended.is_some() {
            return Err(format!("{id} was closed: {closed}, and had ended as {ended:?}"));
        }
        ended.get_or_insert((kind, finished_at));
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), String> {
        let mut running = 0;
        for (_, ended) in self.keys.values_mut().flat_map(|key| &mut key.runs) {
            running += u64::from(ended.is_none());
            ended.get_or_insert((EndingKind::Unknown, self.bed.clock.now()));
        }
        let interrupted = self.bed.executions.interrupted("the process ended").await.unwrap();
        if interrupted == running {
            Ok(())
        } else {
            Err(format!("{interrupted} ended with the process, not {running}"))
        }
    }

    async fn prune(&mut self, after: Duration) -> Result<(), String> {
        self.bed.clock.pass(after);
        let then = self.bed.clock.now().before(KEPT);
        let policy = Policy { events: KEPT, dead_letters: KEPT, executions: KEPT, dedupe_entries: DEDUPE_ENTRIES_MAX };
        let pruned = self.bed.retention.prune(policy).await.unwrap().executions;
        let runs = self.keys.values().flat_map(|key| &key.runs);
        let old: Vec<ExecutionId> =
            runs.filter(|(_, ended)| ended.is_some_and(|(_, at)| at <= then)).map(|(id, _)| *id).collect();
        let before = self.written.len();
        self.written.retain(|id| !old.contains(id));
        self.keys.retain(|_, key| !key.ended_by(then));
        let gone = (before - self.written.len()) as u64;
        if pruned == gone { Ok(()) } else { Err(format!("{pruned} were pruned, not {gone}")) }
    }

    async fn check(&self) -> Result<(), String> {
        let rows = self.bed.executions.executions(&Filter::default(), None, 1000).await.unwrap();
        let mut found: Vec<ExecutionId> = rows.iter().map(|row| row.id).collect();
        found.reverse();
        if found != self.written {
            return Err(format!("the ledger has {found:?}, written was {:?}", self.written));
        }
        for (id, ended) in self.keys.values().flat_map(|key| &key.runs) {
            // What was pruned is no row: `written` has said so.
            let row = rows.iter().find(|row| row.id == *id);
            if row.is_some_and(|row| row.outcome != ended.map(|(kind, _)| kind)) {
                return Err(format!("{id} is {row:?} in the ledger, and ended as {ended:?}"));
            }
        }
        Ok(())
    }
}
