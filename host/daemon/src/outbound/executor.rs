//! Takes calls of one connection's actions, writes them down, has them made, and says how they ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jackfield_engine::action::Pool;
use jackfield_model::action::Ending;
use jackfield_model::clock::{Monotonic, SharedClock};
use jackfield_model::{ExecutionId, Timestamp};
use jackfield_store::Stores;
use jackfield_store::execution::{Closing, Opened, Opening, Repeats};
use rand::Rng as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::arrivals::{Arrival, Arrivals};
use super::buckets::Buckets;
use super::locks::HeldLocks;
use super::outcome;
use super::passage::Passage;
use super::policy;
use super::registry::{Action, Arguments};
use super::request::{Refused, Report, Request};
use super::running::{Entry, Running};
use super::tally::{LastAction, Tally};
use crate::spec::Spec;

/// Calls of one connection that run or wait. Each holds its arguments in memory.
const CALLS_MAX: usize = 1_000;

/// How long an ending that could not be written waits until it is tried again.
const CLOSE_PAUSE: Duration = Duration::from_secs(1);

/// The executor of one connection. Clones are the same one.
#[derive(Clone)]
pub struct Executor(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) spec: Arc<Spec>,
    pub(super) stores: Stores,
    pub(super) clock: SharedClock,
    pub(super) pool: Pool,
    pub(super) buckets: Buckets,
    /// Rows came into the inbox.
    pub(super) rows: Box<dyn Fn() + Send + Sync>,
    arrivals: Arrivals,
    calls: Arc<Semaphore>,
    running: Running,
    tally: Tally,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// A call that was taken.
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) args: Arguments,
    until: Monotonic,
    cancelled: CancellationToken,
    pub(super) arrival: Arrival,
    _permit: OwnedSemaphorePermit,
}

impl Executor {
    /// An executor for this connection. `rows` is called when something was put into its inbox.
    #[must_use]
    pub fn new(spec: Arc<Spec>, stores: Stores, clock: SharedClock, rows: impl Fn() + Send + Sync + 'static) -> Self {
        let pool = Pool::new(&spec.component, spec.guest_limits(), spec.limits.actions, spec.log.clone());
        Self(Arc::new(Inner {
            pool,
            buckets: Buckets::new(clock.clone()),
            rows: Box::new(rows),
            arrivals: Arrivals::default(),
            calls: Arc::new(Semaphore::new(CALLS_MAX)),
            running: Running::default(),
            tally: Tally::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            spec,
            stores,
            clock,
        }))
    }

    /// Runs an action and says how it ended. Whoever drops the future has left: nothing more is sent, and the ledger says
    /// what came of it.
    ///
    /// # Errors
    /// Why nothing was run.
    pub async fn run(&self, request: Request) -> Result<Report, Refused> {
        let inner = &self.0;
        if inner.stop.is_cancelled() {
            return Err(Refused::Stopping);
        }
        let action = inner.action(&request)?;
        let args = action
            .arguments(&request.args)
            .map_err(|problems| Refused::Arguments { action: request.action.clone(), problems })?;
        policy::check(action.spec(), &request)?;
        if request.key.as_deref().is_some_and(|key| inner.spec.gate.mask().text(key) != key) {
            return Err(Refused::Invalid(
                "the key has a secret of this connection in it, and keys are kept: use another".to_owned(),
            ));
        }
        let permit = Arc::clone(&inner.calls).try_acquire_owned().map_err(|_| Refused::Full(CALLS_MAX))?;
        let most = inner.spec.limits.action;
        let cancelled = inner.stop.child_token();
        let job = Job {
            until: inner.clock.monotonic() + request.timeout.map_or(most, |asked| asked.min(most)),
            arrival: inner.arrivals.arrive(),
            cancelled: cancelled.clone(),
            request,
            args,
            _permit: permit,
        };
        let left = cancelled.drop_guard();
        // A task of its own: what has begun is brought to an end that the ledger knows, whoever waits.
        let task = inner.tasks.spawn(Arc::clone(inner).execute(job));
        let report = task.await.unwrap_or_else(|error| Err(Refused::Failed(error.to_string())));
        drop(left);
        report
    }

    /// The last action, and how many ended how.
    #[must_use]
    pub fn known(&self) -> (Option<LastAction>, BTreeMap<&'static str, u64>) {
        self.0.tally.known()
    }

    /// Its rate limits.
    #[must_use]
    pub fn buckets(&self) -> &Buckets {
        &self.0.buckets
    }

    /// Takes no more calls, tells those that run that nobody waits, and waits until they have ended, at most so long.
    pub async fn stop(&self, grace: Duration) {
        let inner = &self.0;
        inner.stop.cancel();
        inner.tasks.close();
        if tokio::time::timeout(grace, inner.tasks.wait()).await.is_err() {
            tracing::warn!(connection = %inner.spec.id, running = inner.tasks.len(), "actions did not end in time");
        }
    }
}

impl Inner {
    fn action(&self, request: &Request) -> Result<&Action, Refused> {
        self.spec.actions.find(&request.action).map_err(|near| Refused::NoAction {
            connection: self.spec.id.clone(),
            name: request.action.clone(),
            near,
        })
    }

    async fn execute(self: Arc<Self>, job: Job) -> Result<Report, Refused> {
        let action = self.action(&job.request)?;
        let (entry, id, attempt, doubt) = match self.open(&job, action).await? {
            Begun::New { entry, id, attempt, doubt } => (entry, id, attempt, doubt),
            Begun::Recorded(report) => return Ok(report),
        };
        let spec = &self.spec;
        let locks = HeldLocks::new(spec.id.clone(), id, self.stores.locks.clone(), self.clock.clone());
        let passage = Arc::new(Passage::new(
            spec.gate.clone(),
            (self.buckets.clone(), job.arrival.ticket()),
            self.clock.clone(),
            (job.cancelled.clone(), self.until(&job, action, doubt)),
            Arc::new(locks),
        ));
        let mut notes = Vec::new();
        let started_at = self.clock.now();
        let ending = self.perform(&job, action, (id, attempt), &passage, &mut notes).await;
        let mask = spec.gate.mask();
        let ending = outcome::masked(ending, &mask);
        let notes: Vec<String> = notes.iter().map(|note| mask.text(note).into_owned()).collect();
        tracing::info!(
            connection = %spec.id, execution = %id, action = job.request.action, attempt,
            generation = spec.generation.0, outcome = ending.kind().as_str(), reason = ending.reason(), "action ended"
        );
        let (requests, more) = passage.journal.take();
        let mut kept = notes.clone();
        if doubt.is_some() {
            kept.push("an attempt before this one, under the same key, may have done it".to_owned());
        }
        if more > 0 {
            kept.push(format!("{more} more requests are not listed"));
        }
        let closing = Closing {
            result: outcome::shown(&ending),
            ending: ending.clone(),
            notes: kept,
            requests,
            waited_ms: u64::try_from(passage.places.waited().as_millis()).unwrap_or(u64::MAX),
            started_at: Some(started_at),
            finished_at: self.clock.now(),
        };
        self.tally.ended(LastAction {
            at: closing.finished_at,
            id,
            action: job.request.action.clone(),
            outcome: ending.kind(),
        });
        self.close(id, closing, entry).await;
        let ending = if doubt.is_some() { doubted(ending) } else { ending };
        Ok(Report { id, attempt, ending, recorded: false, notes })
    }

    /// Writes the row and takes the key, or finds what was recorded under it.
    async fn open(&self, job: &Job, action: &Action) -> Result<Begun, Refused> {
        let mut vanished = None;
        loop {
            let id = ExecutionId::new(self.clock.now(), rand::rng().random());
            let entry = self.running.enter(id);
            let opened = self.stores.executions.open(self.opening(id, job, action)).await;
            match opened.map_err(|error| Refused::Store(error.to_string()))? {
                Opened::New { attempt, doubt } => return Ok(Begun::New { entry, id, attempt, doubt }),
                Opened::Conflict { id } => return Err(Refused::Conflict { id }),
                Opened::Same { id, attempt, ending: Some(ending) } => {
                    return Ok(Begun::Recorded(Report { id, attempt, ending, recorded: true, notes: Vec::new() }));
                }
                Opened::Same { id, ending: None, .. } => {
                    drop(entry);
                    // As long as another one takes: nobody stands behind it meanwhile.
                    job.arrival.leave();
                    let wait = job.until.saturating_duration_since(self.clock.monotonic());
                    let ended = tokio::select! {
                        biased;
                        () = job.cancelled.cancelled() => return Err(Refused::Running { id }),
                        ended = tokio::time::timeout(wait, self.running.ended(id)) => ended,
                    };
                    let ran = ended.map_err(|_| Refused::Running { id })?;
                    // It ended between two looks; seen twice, its ending could not be written.
                    if !ran && vanished.replace(id) == Some(id) {
                        return Err(Refused::Running { id });
                    }
                }
            }
        }
    }

    /// How long it may go on. What may have been done already is done again only while that does no harm, also when it has
    /// to wait for its place first.
    fn until(&self, job: &Job, action: &Action, doubt: Option<Timestamp>) -> Monotonic {
        match (doubt, action.repeats()) {
            (Some(since), Repeats::Within(window)) => {
                let left = since.after(window).since(self.clock.now());
                job.until.min(self.clock.monotonic() + left)
            }
            _ => job.until,
        }
    }

    fn opening(&self, id: ExecutionId, job: &Job, action: &Action) -> Opening {
        let (spec, request, semantics) = (&self.spec, &job.request, action.spec().semantics);
        let approved = semantics.needs_approval() && request.approve;
        Opening {
            id,
            connection: spec.id.clone(),
            generation: spec.generation,
            digest: spec.component.digest(),
            action: request.action.clone(),
            surface: request.surface,
            caller: request.caller.clone(),
            args: outcome::kept(spec.gate.mask().text(&job.args.redacted).into_owned()),
            args_digest: job.args.digest,
            key: request.key.clone(),
            attempt: request.attempt,
            approved: approved.then(|| request.caller.clone()),
            submitted_at: self.clock.now(),
            repeats: action.repeats(),
        }
    }

    /// Writes the ending. One that can't be written now is tried again in the background: as long as the row is open, its key
    /// reads as running.
    async fn close(self: Arc<Self>, id: ExecutionId, closing: Closing, entry: Entry) {
        let Err(error) = self.stores.executions.close(id, closing.clone()).await else { return };
        tracing::error!(connection = %self.spec.id, execution = %id, %error, "the ending could not be written");
        let inner = Arc::clone(&self);
        self.tasks.spawn(async move {
            let _entry = entry;
            loop {
                tokio::select! {
                    () = inner.stop.cancelled() => {}
                    () = tokio::time::sleep(CLOSE_PAUSE) => {}
                }
                if inner.stores.executions.close(id, closing.clone()).await.is_ok() || inner.stop.is_cancelled() {
                    return;
                }
            }
        });
    }
}

enum Begun {
    New { entry: Entry, id: ExecutionId, attempt: u32, doubt: Option<Timestamp> },
    Recorded(Report),
}

/// An ending of an attempt behind one that may have done it: that this one did nothing is not all that there is to say.
fn doubted(ending: Ending) -> Ending {
    if !ending.kind().claims_nothing() {
        return ending;
    }
    let why = ending.reason().unwrap_or("not done");
    Ending::Unknown {
        reason: format!("this attempt did nothing ({why}), and one before it under this key may have done it"),
    }
}

/// What an ending is when nothing was done and it may work later.
pub(super) fn retry(reason: impl Into<String>, after: Option<Duration>) -> Ending {
    let after_ms = after.map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
    Ending::Retry { reason: reason.into(), after_ms }
}
