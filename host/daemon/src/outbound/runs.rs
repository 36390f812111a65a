//! The runs of one execution: the guest is called until it says how it ended, and waits outside for places in buckets.

use std::sync::Arc;
use std::time::Duration;

use jackfield_engine::action::{Done, Outbound, Slot};
use jackfield_engine::capability::lease::Locks;
use jackfield_engine::runtime::{Host, Rights};
use jackfield_engine::{CallFailure, FailureKind};
use jackfield_model::action::{ActionFault, Call, Ending, Outcome, Pause};
use jackfield_model::session::Effect;
use jackfield_model::{ExecutionId, Transport};
use jackfield_store::commit::{Batch, Commit, Reception};
use jackfield_store::inbox::Row;
use jackfield_store::state::Write;

use super::buckets::{Busy, EVERYTHING};
use super::executor::{Inner, Job, retry};
use super::outcome;
use super::passage::Passage;
use super::people::People;
use super::registry::Action;
use crate::inbound::StateMap;

/// How long a guest may go on after its caller has left: to undo, or to end what it began.
const CLEANUP: Duration = Duration::from_secs(2);

/// Runs that asked to wait for a bucket and then did not reserve a place in it. One may lose a race; more are a loop.
const UNUSED_TURNS_MAX: u32 = 3;

/// What is waited at least when a request of this execution was refused: a platform that names no time, or none to speak of, is not
/// asked as fast as it answers. Twice as long each time.
const REFUSED_WAIT_MIN: Duration = Duration::from_millis(100);
/// And at most so long, where the platform names less.
const REFUSED_WAIT_MAX: Duration = Duration::from_secs(30);

/// What a run could not have in its time.
enum Missing<'a> {
    Instance,
    Place(&'a str, Busy),
}

impl Missing<'_> {
    fn ending(self, passage: &Passage, notes: &mut Vec<String>) -> Ending {
        match self {
            _ if passage.cancelled.is_cancelled() => stopped(passage),
            Self::Place(bucket, Busy { after }) => {
                retry(format!("the rate limit `{bucket}` has no place within the time given"), after)
            }
            Self::Instance => {
                notes.push("no instance got free in its time".to_owned());
                stopped(passage)
            }
        }
    }
}

impl Inner {
    /// Calls the guest until there is an ending.
    pub(super) async fn perform(
        &self,
        job: &Job,
        action: &Action,
        (id, attempt): (ExecutionId, u32),
        passage: &Arc<Passage>,
        notes: &mut Vec<String>,
    ) -> Ending {
        let (mut unused_turns, mut waited_for_all, mut refusals) = (0, false, 0);
        let mut wanted: Option<String> = None;
        loop {
            let sent = passage.journal.count();
            let slot = match self.room(job, passage, wanted.as_deref()).await {
                Ok(slot) => slot,
                Err(missing) => return missing.ending(passage, notes),
            };
            let limit = action.spec().timeout.min(passage.remaining());
            if limit.is_zero() || passage.cancelled.is_cancelled() {
                return stopped(passage);
            }
            let ran = self.once(slot, &call(job, id, attempt, passage, self.clock.now()), passage, limit).await;
            let lapsed = passage.locks.lapsed();
            let keeps = lapsed.is_none() && matches!(&ran, Ok(Done { result: Ok(_), .. }));
            if !keeps {
                passage.locks.free().await;
            }
            refusals = if passage.journal.count() > sent { refusals + 1 } else { refusals };
            // Before its place is given back: whoever waits for it must not run into the same refusal.
            if let Ok(Done { result: Err(ActionFault::Retry(Pause { after, bucket: Some(bucket) })), .. }) = &ran
                && passage.places.is_news(bucket)
            {
                let wait = after.unwrap_or_default().max(least(refusals));
                if after.is_some() || !wait.is_zero() {
                    self.buckets.pause(bucket, wait);
                }
            }
            let used = passage.places.run_ended();
            let done = match ran {
                Ok(done) => done,
                Err(failure) => return failed(&failure, passage, notes),
            };
            if let Some(key) = lapsed {
                return lost(&key, &done, passage, notes);
            }
            let pause = match done.result {
                Ok(outcome) => {
                    let ending = self.done(outcome, done.effects, action, notes).await;
                    // Whoever takes a lock next reads what was written under it.
                    passage.locks.free().await;
                    return ending;
                }
                Err(ActionFault::Retry(pause)) => pause,
                Err(fault) => return faulted(fault, action, notes),
            };
            let Pause { after, bucket: Some(bucket) } = pause else {
                return retry("the connector says that it was not done and may work later", pause.after);
            };
            // The place of everything is for nobody: waiting for it is waiting for a pause to end.
            unused_turns = if used || waited_for_all { 0 } else { unused_turns + 1 };
            waited_for_all = bucket == EVERYTHING && after.is_some_and(|after| !after.is_zero());
            // By its own account nothing was done: what comes next begins anew.
            passage.journal.begin_anew();
            if unused_turns >= UNUSED_TURNS_MAX {
                notes.push(format!("the connector asked for `{bucket}` and then did not reserve a place in it"));
                return retry("the connector waits for a place that it does not take", after);
            }
            wanted = Some(bucket);
        }
    }

    /// Waits until the guest can run: for an instance, and for a place in the bucket that it wants. Whoever waits for the one
    /// does not hold the other: a call that has begun waits for its places on its instance, perhaps for just that place.
    async fn room<'a>(
        &'a self,
        job: &Job,
        passage: &Passage,
        wanted: Option<&'a str>,
    ) -> Result<Slot<'a>, Missing<'a>> {
        let Some(bucket) = wanted else { return self.slot(job, passage).await };
        let missing = |busy| Missing::Place(bucket, busy);
        let places = &passage.places;
        loop {
            let place = places.turn(bucket).await.map_err(missing)?;
            if let Some(slot) = self.pool.try_slot() {
                places.grant(place);
                return Ok(slot);
            }
            drop(place);
            let slot = self.slot(job, passage).await?;
            if let Ok(place) = places.at_once(bucket) {
                places.grant(place);
                return Ok(slot);
            }
        }
    }

    /// Waits for an instance: of those that have not begun, whoever was taken first has the first one.
    async fn slot<'a>(&'a self, job: &Job, passage: &Passage) -> Result<Slot<'a>, Missing<'a>> {
        let slot = async {
            job.arrival.first().await;
            self.pool.slot().await
        };
        let slot = tokio::select! {
            biased;
            () = passage.cancelled.cancelled() => Err(Missing::Instance),
            slot = tokio::time::timeout(passage.remaining(), slot) => slot.map_err(|_| Missing::Instance),
        };
        job.arrival.leave();
        slot
    }

    /// One run. A guest whose caller has left is given a little time.
    async fn once(
        &self,
        slot: Slot<'_>,
        call: &Call,
        passage: &Arc<Passage>,
        limit: Duration,
    ) -> Result<Done, CallFailure> {
        let spec = &self.spec;
        let host = Host {
            connection: spec.id.clone(),
            config: spec.config.clone(),
            gate: spec.gate.clone(),
            state: Arc::new(StateMap::new(spec.id.clone(), self.stores.state.clone())),
            rights: Rights { state_bytes: spec.state_bytes },
            log: spec.log.clone(),
            generation: spec.generation,
        };
        let people = People { space: spec.space.clone(), store: self.stores.contacts.clone() };
        let outbound = Outbound {
            client: passage.clone(),
            directory: if spec.contacts { Some(Arc::new(people)) } else { None },
            locks: if spec.lease { Some(passage.locks.clone() as Arc<dyn Locks>) } else { None },
        };
        let run = slot.run(call, host, outbound, limit);
        tokio::pin!(run);
        tokio::select! {
            biased;
            done = &mut run => done,
            () = passage.cancelled.cancelled() => {
                let rest = tokio::time::timeout(CLEANUP, &mut run).await;
                rest.unwrap_or_else(|_| {
                    let message = format!("not back {} s after its caller had left", CLEANUP.as_secs());
                    Err(CallFailure { kind: FailureKind::Deadline, export: "action.run", message })
                })
            }
        }
    }

    /// It is done. What it asked for of the host's own stores is one transaction.
    async fn done(&self, outcome: Outcome, effects: Vec<Effect>, action: &Action, notes: &mut Vec<String>) -> Ending {
        let outcome = outcome::bounded(outcome, action, notes);
        let Some(batch) = self.batch(effects) else { return Ending::Done(outcome) };
        let parked = !batch.parked.is_empty();
        match self.stores.commits.commit(batch, None).await {
            Ok(Commit::Done(_) | Commit::Repeated) => {
                if parked {
                    (self.rows)();
                }
                Ending::Done(outcome)
            }
            Ok(Commit::Fenced | Commit::Gap) => unstored("the store refused it", &outcome, notes),
            Err(error) => unstored(&error.to_string(), &outcome, notes),
        }
    }

    fn batch(&self, effects: Vec<Effect>) -> Option<Batch> {
        let spec = &self.spec;
        let reception = Reception { at: self.clock.now(), via: Transport::Action, by: spec.generation };
        let (mut parked, mut state) = (Vec::new(), Vec::new());
        for effect in effects {
            match effect {
                Effect::Submit { dispatch, mark: _ } => {
                    parked.push(Row { dispatch: Arc::new(dispatch), reception, attempts: 0, late: false });
                }
                Effect::StateSet { key, value } => state.push(Write::Set { key, value }),
                Effect::StateDelete { key } => state.push(Write::Delete { key }),
                // The engine lets an action ask for nothing else.
                _ => {}
            }
        }
        if parked.is_empty() && state.is_empty() {
            return None;
        }
        Some(Batch {
            connection: spec.id.clone(),
            space: spec.space.clone(),
            namespace: spec.component.descriptor().id.clone(),
            settled: Vec::new(),
            parked,
            attempts: Vec::new(),
            state,
        })
    }
}

/// The least wait after so many refusals of one execution. The first one is believed.
fn least(refusals: u32) -> Duration {
    match refusals {
        0 | 1 => Duration::ZERO,
        more => REFUSED_WAIT_MIN.saturating_mul(1 << (more - 2).min(16)).min(REFUSED_WAIT_MAX),
    }
}

fn call(job: &Job, id: ExecutionId, attempt: u32, passage: &Passage, now: jackfield_model::Timestamp) -> Call {
    Call {
        name: job.request.action.clone(),
        args: job.args.text.clone(),
        execution: id,
        idempotency_key: job.request.key.clone(),
        attempt,
        deadline: now.after(passage.remaining()),
        annotations: "{}".to_owned(),
    }
}

/// Whether it happened, when nobody can say.
fn uncertain(passage: &Passage, reason: String) -> Ending {
    if passage.journal.left() { Ending::Unknown { reason } } else { retry(reason, None) }
}

/// Its time is over, or its caller has left, between two runs.
fn stopped(passage: &Passage) -> Ending {
    let why = if passage.cancelled.is_cancelled() { "the caller left before it was done" } else { "its time was over" };
    // Between runs the guest has said that nothing was done.
    retry(why, None)
}

/// The call did not return.
fn failed(failure: &CallFailure, passage: &Passage, notes: &mut Vec<String>) -> Ending {
    if failure.kind == FailureKind::Refused {
        notes.push(failure.to_string());
        return retry("the host could not run it now", None);
    }
    notes.push(failure.to_string());
    uncertain(passage, format!("the connector failed ({})", failure.kind.as_str()))
}

/// A lock that protected the call was over before it returned.
fn lost(key: &str, done: &Done, passage: &Passage, notes: &mut Vec<String>) -> Ending {
    notes.push(format!(
        "lost lease: `{key}` lapsed while the action ran, so what it asked the host for was not done{}",
        if done.result.is_ok() { "; by its own account it was done" } else { "" }
    ));
    let made = match &done.result {
        Ok(outcome) | Err(ActionFault::Partial(outcome)) if !outcome.provider_ids.is_empty() => {
            format!(" (the platform's ids of what it made: {})", outcome.provider_ids.join(", "))
        }
        _ => String::new(),
    };
    uncertain(passage, format!("the lease on `{key}` lapsed before it had ended; another may have done the same{made}"))
}

fn faulted(fault: ActionFault, action: &Action, notes: &mut Vec<String>) -> Ending {
    match fault {
        ActionFault::Rejected(reason) => Ending::Rejected { reason },
        ActionFault::Retry(pause) => retry("not done", pause.after),
        ActionFault::Unauthorized(reason) => Ending::Unauthorized { reason },
        ActionFault::Partial(outcome) => Ending::Partial(outcome::bounded(outcome, action, notes)),
        ActionFault::Unknown(reason) => Ending::Unknown { reason },
    }
}

/// Done on the platform, and not in the host.
fn unstored(error: &str, outcome: &Outcome, notes: &mut Vec<String>) -> Ending {
    notes.push(format!("what it asked the host to keep was not stored: {error}"));
    let ids = outcome.provider_ids.join(", ");
    let made = if ids.is_empty() { String::new() } else { format!(" (the platform's ids: {ids})") };
    Ending::Unknown {
        reason: format!("done on the platform{made}, and not recorded by the connector: the store failed"),
    }
}
