//! One batch through `transform`, and what happens when that fails.
//!
//! After a trap or timeout the batch is repeated one by one, each dispatch in an instance of its own; what fails twice more is
//! given up. A refusal of the engine (no clock thread, no free slot) is nobody's fault and counts for nothing.

use std::sync::Arc;
use std::time::Duration;

use jackfield_engine::transform::{Pool, Received};
use jackfield_engine::{CallFailure, FailureKind};
use jackfield_model::event::Answer;
use jackfield_model::{ConnectionId, Dispatch};
use jackfield_store::Inbox;
use jackfield_store::commit::Reception;
use jackfield_store::inbox::RowId;
use tokio::sync::mpsc;

use super::entry::Body;
use crate::connection::facts::Facts;

/// How often a dispatch may fail, the batch included.
pub(super) const ATTEMPTS_MAX: u32 = 3;

/// Pause before a refused call is tried again: the engine's clock thread is given a second to recover, tables free up sooner.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// A dispatch of a batch.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its number.
    pub number: u64,
    /// Its bytes.
    pub body: Body,
    /// How it came.
    pub reception: Reception,
    /// How often it failed before.
    pub attempts: u32,
}

/// How a dispatch came out.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The guest answered.
    Answer(Answer),
    /// It failed as often as it may.
    GivenUp {
        /// The last failure.
        error: String,
        /// How often.
        attempts: u32,
    },
}

/// A batch that is through.
#[derive(Debug)]
pub(super) struct Done {
    /// The lanes that it held up.
    pub lanes: Vec<Arc<str>>,
    /// Every dispatch of it, in order.
    pub verdicts: Vec<(u64, Arc<Dispatch>, Verdict)>,
}

/// What a batch is transformed with.
#[derive(Clone)]
pub(super) struct Bench {
    /// Whose.
    pub connection: ConnectionId,
    /// The instances.
    pub pool: Arc<Pool>,
    /// Where spilled bodies are.
    pub inbox: Arc<dyn Inbox>,
    /// What status shows.
    pub facts: Arc<Facts>,
    /// Hears of every failure of a dispatch: its number, and how often it has failed now.
    pub failures: mpsc::UnboundedSender<(u64, u32)>,
}

impl Bench {
    /// Transforms a batch.
    pub(super) async fn run(self, lanes: Vec<Arc<str>>, items: Vec<Item>) -> Done {
        let mut batch = Vec::with_capacity(items.len());
        for item in items {
            let dispatch = self.load(&item.body).await;
            batch.push((item, dispatch));
        }
        let received: Vec<Received> = batch.iter().map(|(item, dispatch)| received(item, dispatch)).collect();
        let untried = batch.iter().all(|(item, _)| item.attempts == 0);
        let verdicts = match if untried { Some(self.call(&received).await) } else { None } {
            Some(Ok(answers)) => batch
                .into_iter()
                .zip(answers)
                .map(|((item, dispatch), answer)| (item.number, dispatch, Verdict::Answer(answer)))
                .collect(),
            failed => {
                // Alone it is its own failure; in company everybody gets another chance, whoever it was.
                let failed = failed.is_some();
                let mut verdicts = Vec::with_capacity(batch.len());
                for ((mut item, dispatch), received) in batch.into_iter().zip(received) {
                    if failed {
                        item.attempts += 1;
                        let _ = self.failures.send((item.number, item.attempts));
                    }
                    verdicts.push((item.number, dispatch, self.alone(item, received).await));
                }
                verdicts
            }
        };
        Done { lanes, verdicts }
    }

    async fn alone(&self, item: Item, received: Received) -> Verdict {
        let mut attempts = item.attempts;
        let mut last = "it failed as often as it may before this process started".to_owned();
        while attempts < ATTEMPTS_MAX {
            match self.call(std::slice::from_ref(&received)).await.map(|answers| answers.into_iter().next()) {
                Ok(Some(answer)) => return Verdict::Answer(answer),
                Ok(None) => "transform returned no answer".clone_into(&mut last),
                Err(failure) => last = failure.to_string(),
            }
            attempts += 1;
            let _ = self.failures.send((item.number, attempts));
        }
        Verdict::GivenUp { error: last, attempts }
    }

    /// One call; a wrong number of answers is a failure like any other.
    async fn call(&self, batch: &[Received]) -> Result<Vec<Answer>, Failure> {
        loop {
            match self.pool.transform(batch).await {
                Ok(answers) if answers.len() == batch.len() => return Ok(answers),
                Ok(answers) => {
                    let error = format!("transform returned {} answers for {} dispatches", answers.len(), batch.len());
                    return Err(self.failed(Failure::Count(error)));
                }
                Err(failure) if failure.kind == FailureKind::Refused => {
                    tracing::warn!(connection = %self.connection, error = %failure, "transform refused, trying again");
                    tokio::time::sleep(REFUSED_PAUSE).await;
                }
                Err(failure) => return Err(self.failed(Failure::Call(failure))),
            }
        }
    }

    fn failed(&self, failure: Failure) -> Failure {
        self.facts.counters(|counters| counters.transform_traps += 1);
        tracing::warn!(connection = %self.connection, error = %failure, "transform failed");
        failure
    }

    /// The bytes of a dispatch. A row can't vanish while its dispatch is unsettled; the store being away is waited for.
    async fn load(&self, body: &Body) -> Arc<Dispatch> {
        let row = match body {
            Body::Memory(dispatch) => return dispatch.clone(),
            Body::Stored(row) => *row,
        };
        loop {
            match self.inbox.waiting(&self.connection, RowId(row.0.saturating_sub(1)), 1).await {
                Ok(rows) => match rows.into_iter().next() {
                    Some((found, waiting)) if found == row => return waiting.dispatch,
                    _ => tracing::error!(connection = %self.connection, row = row.0, "inbox row is missing"),
                },
                Err(error) => tracing::warn!(connection = %self.connection, %error, "read inbox row failed"),
            }
            tokio::time::sleep(REFUSED_PAUSE).await;
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Count(String),
    #[error(transparent)]
    Call(CallFailure),
}

fn received(item: &Item, dispatch: &Arc<Dispatch>) -> Received {
    Received { dispatch: dispatch.clone(), via: item.reception.via, received_at: item.reception.at }
}
