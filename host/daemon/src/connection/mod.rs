//! Keeps one connection served: takes its lease, drains what was left, runs its session, and decides what follows an end.
//!
//! | a session ends | then |
//! | --- | --- |
//! | stopped | the lease is released |
//! | not configured | nothing runs until somebody asks |
//! | fatal, frame limit | parked in the store: no start until component, configuration or secrets differ, or somebody says so |
//! | transient | a wait with jitter, or until the start budget allows the next start |
//! | fenced | a new term: new token, new epoch |
//! | store broken | the process ends |
//!
//! The inbound lives as long as the term, so that redrives are settled while no session runs.

pub mod backoff;
pub mod facts;
mod parking;
mod term;

use std::sync::Arc;
use std::time::Duration;

use jackfield_engine::transform::Pool;
use jackfield_model::clock::SharedClock;
use jackfield_model::session::{StartReason, StopReason};
use jackfield_store::Stores;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::failpoint::Failpoint;
use crate::inbound::{self, Inbound};
use crate::session::{self, Beginning, End, StartLedger};
use crate::spec::Spec;
use crate::status::State;
use backoff::Backoff;
use facts::Facts;
use term::Term;

/// What a connection is kept served with.
#[derive(Clone)]
pub struct Setup {
    /// The connection.
    pub spec: Arc<Spec>,
    /// Where everything durable is.
    pub stores: Stores,
    /// Time.
    pub clock: SharedClock,
    /// For tests that kill the process.
    pub failpoint: Failpoint,
    /// Told once when the store can't be trusted any more.
    pub broken: mpsc::UnboundedSender<String>,
}

enum Order {
    Stop(StopReason),
    Unpark,
    Rows,
}

/// One connection that is being kept served.
pub struct Connection {
    orders: mpsc::UnboundedSender<Order>,
    facts: Arc<Facts>,
    spec: Arc<Spec>,
    task: JoinHandle<()>,
}

impl Connection {
    /// Begins to serve it.
    #[must_use]
    pub fn serve(setup: Setup) -> Self {
        let (orders, received) = mpsc::unbounded_channel();
        let facts = Arc::new(Facts::new(setup.clock.clone()));
        let spec = setup.spec.clone();
        let keeper =
            Keeper { facts: facts.clone(), orders: received, backoff: Backoff::default(), stopping: false, setup };
        Self { orders, facts, spec, task: tokio::spawn(keeper.run()) }
    }

    /// What is known about it.
    #[must_use]
    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// What it runs.
    #[must_use]
    pub fn spec(&self) -> &Arc<Spec> {
        &self.spec
    }

    /// Lets it start again if it is parked, and forgets its back-off.
    pub fn unpark(&self) {
        let _ = self.orders.send(Order::Unpark);
    }

    /// Rows came into its inbox by another way.
    pub fn rows(&self) {
        let _ = self.orders.send(Order::Rows);
    }

    /// Does the same as `rows`, for whoever outlives this handle.
    pub fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        let orders = self.orders.clone();
        move || drop(orders.send(Order::Rows))
    }

    /// Ends it in order; after `grace` by force.
    pub async fn stop(mut self, reason: StopReason, grace: Duration) {
        let _ = self.orders.send(Order::Stop(reason));
        if tokio::time::timeout(grace, &mut self.task).await.is_err() {
            tracing::warn!(connection = %self.spec.id, grace_ms = grace.as_millis(), "stop took too long, dropped");
            self.task.abort();
        }
        self.facts.state(State::Stopped, format!("stopped: {reason:?}").to_lowercase(), None);
    }
}

struct Keeper {
    setup: Setup,
    facts: Arc<Facts>,
    orders: mpsc::UnboundedReceiver<Order>,
    backoff: Backoff,
    /// A session was told to stop: whatever becomes of it, no other follows.
    stopping: bool,
}

/// What a term came to.
enum After {
    /// Over for good.
    Stopped,
    /// A new one is needed.
    Fenced,
}

impl Keeper {
    async fn run(mut self) {
        loop {
            let term = match self.acquire().await {
                Some(term) => term,
                None => return,
            };
            self.facts.update(|known| known.epoch = Some(term.fence().epoch));
            let inbound = Arc::new(Inbound::start(self.inbound(&term)));
            let after = self.serve(&term, &inbound).await;
            drop(inbound);
            match after {
                After::Fenced if !self.stopping => {
                    tracing::warn!(connection = %self.setup.spec.id, epoch = %term.fence().epoch, "term is over, taking a new one");
                }
                // A lease that is somebody else's by now stays theirs.
                After::Stopped | After::Fenced => {
                    term.release().await;
                    return;
                }
            }
        }
    }

    /// The lease of a new term; `None` when told to stop before.
    async fn acquire(&mut self) -> Option<Term> {
        loop {
            let stores = &self.setup.stores;
            match Term::acquire(&self.setup.spec.id, stores.leases.clone()).await {
                Ok(term) => return Some(term),
                Err(term::Missed::Held { until }) => {
                    self.facts.state(State::Standby, format!("another process holds the lease until {until}"), None);
                }
                Err(term::Missed::Store(error)) => {
                    self.facts.state(State::Waiting, format!("no lease: {error}"), None);
                }
            }
            if self.pause(term::RETRY).await.is_some() {
                return None;
            }
        }
    }

    fn inbound(&self, term: &Term) -> inbound::Setup {
        let Setup { spec, stores, clock, failpoint, .. } = &self.setup;
        let pool = Pool::new(&spec.component, spec.guest_limits(), spec.limits.transforms, spec.log.clone());
        inbound::Setup {
            connection: spec.id.clone(),
            space: spec.space.clone(),
            namespace: spec.component.descriptor().id.clone(),
            stores: stores.clone(),
            pool: Arc::new(pool),
            transforms: spec.limits.transforms,
            generation: spec.generation,
            digest: spec.component.digest(),
            fence: term.fence(),
            inbox_bytes_max: spec.limits.inbox,
            clock: clock.clone(),
            facts: self.facts.clone(),
            failpoint: failpoint.clone(),
        }
    }

    /// Sessions, one after another, under one term.
    async fn serve(&mut self, term: &Term, inbound: &Arc<Inbound>) -> After {
        self.facts.state(State::Connecting, "settling what was left in the inbox", None);
        loop {
            tokio::select! {
                biased;
                drained = inbound.drained() => match drained {
                    Ok(()) => break,
                    Err(ended) => return self.inbound_ended(ended).await,
                },
                order = self.orders.recv() => match order {
                    Some(Order::Stop(_)) | None => return After::Stopped,
                    Some(Order::Rows) => inbound.rows(),
                    Some(Order::Unpark) => self.unpark().await,
                },
            }
        }
        loop {
            if let Some(record) = self.parked().await {
                self.facts.state(State::Parked, record.message, Some(record.todo));
                if let Some(after) = self.rest(inbound, None).await {
                    return after;
                }
                continue;
            }
            if !self.setup.spec.component.exports().runtime {
                self.facts.state(State::Idle, "the connector has no session to run", None);
                if let Some(after) = self.rest(inbound, None).await {
                    return after;
                }
                continue;
            }
            let starts = Arc::new(self.starts());
            let began = self.setup.clock.monotonic();
            let end = match self.session(term, inbound, starts.clone()).await {
                Ok(end) => end,
                Err(after) => return after,
            };
            let lived = self.setup.clock.monotonic().duration_since(began);
            tracing::info!(connection = %self.setup.spec.id, ?end, lived_ms = lived.as_millis(), "session ended");
            let wait = match end {
                End::Stopped => return After::Stopped,
                End::Fenced => return After::Fenced,
                End::Broken(error) => return self.inbound_ended(inbound::Ended::Broken(error)).await,
                End::NotConfigured(message) => {
                    self.facts.state(State::Idle, format!("not configured: {message}"), None);
                    None
                }
                End::Parked { code, message, todo } => {
                    if self.park(term, code, message, todo).await.is_some() {
                        return After::Stopped;
                    }
                    continue;
                }
                End::Transient(message) => Some(self.wait(&message, lived, &starts)),
            };
            if let Some(after) = self.rest(inbound, wait).await {
                return after;
            }
        }
    }

    /// How long to wait after a session that failed.
    fn wait(&mut self, message: &str, lived: Duration, starts: &StartLedger) -> Duration {
        let now = self.setup.clock.now();
        let pause = self.backoff.after(lived);
        let (wait, cause) = match starts.refused_until() {
            Some(until) => (pause.max(until.since(now)), format!("start budget used up until {until}; {message}")),
            None => (pause, message.to_owned()),
        };
        self.facts.state(State::Waiting, cause, None);
        self.facts.update(|known| known.next_start = Some(now.after(wait)));
        wait
    }

    fn starts(&self) -> StartLedger {
        let Setup { spec, stores, .. } = &self.setup;
        StartLedger::new(stores.starts.clone(), spec.start_key.clone(), spec.start_budget)
    }

    /// One session, from its stored checkpoint to its end.
    async fn session(&mut self, term: &Term, inbound: &Arc<Inbound>, starts: Arc<StartLedger>) -> Result<End, After> {
        let Setup { spec, stores, clock, failpoint, .. } = self.setup.clone();
        // What an earlier session left unsettled is given time, so that less comes twice.
        inbound.settled(FLUSH_PATIENCE).await;
        let checkpoint = match stores.checkpoints.load(&spec.id).await {
            Ok(checkpoint) => checkpoint,
            Err(error) => return Ok(End::Transient(format!("no checkpoint: {error}"))),
        };
        let descriptor = spec.component.descriptor();
        if let Some(stored) = &checkpoint
            && !descriptor.reads_checkpoints.contains(&stored.format)
        {
            return Ok(End::Parked {
                code: "checkpoint-format",
                message: format!(
                    "the stored checkpoint has format {}, this connector reads {:?}",
                    stored.format, descriptor.reads_checkpoints
                ),
                todo: "run a version of the connector that reads this format".to_owned(),
            });
        }
        let reason = if checkpoint.is_some() { StartReason::Restart } else { StartReason::Fresh };
        self.facts.counters(|counters| counters.sessions += 1);
        self.facts.state(State::Connecting, "session started", None);
        let beginning = Beginning { reason, checkpoint: checkpoint.map(|stored| stored.bytes) };
        let (stop, stopped) = oneshot::channel();
        let mut stop = Some(stop);
        let setup = session::Setup {
            spec,
            inbound: inbound.clone(),
            starts,
            fence: term.fence(),
            clock,
            facts: self.facts.clone(),
            failpoint,
        };
        let mut running = Box::pin(session::run(setup, beginning, stopped));
        let end = loop {
            tokio::select! {
                biased;
                order = self.orders.recv() => match order {
                    Some(Order::Rows) => inbound.rows(),
                    Some(Order::Unpark) => {}
                    Some(Order::Stop(reason)) => {
                        self.stopping = true;
                        if let Some(stop) = stop.take() {
                            let _ = stop.send(reason);
                        }
                    }
                    None => return Err(After::Stopped),
                },
                () = term.lost() => return Err(After::Fenced),
                end = &mut running => break end,
            }
        };
        if self.stopping
            && let End::Parked { code, message, todo } = end
        {
            self.park(term, code, message, todo).await;
            return Err(After::Stopped);
        }
        if end == End::Stopped || (self.stopping && !matches!(end, End::Fenced | End::Broken(_))) {
            // However it ended: it was told to.
            inbound.settled(FLUSH_PATIENCE).await;
            return Ok(End::Stopped);
        }
        Ok(end)
    }

    /// Waits for this long, or until somebody asks; `Some` when the term ends meanwhile.
    async fn rest(&mut self, inbound: &Arc<Inbound>, wait: Option<Duration>) -> Option<After> {
        let over = async {
            match wait {
                Some(wait) => tokio::time::sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(over);
        loop {
            tokio::select! {
                biased;
                order = self.orders.recv() => match order {
                    Some(Order::Stop(_)) | None => {
                        inbound.settled(FLUSH_PATIENCE).await;
                        return Some(After::Stopped);
                    }
                    Some(Order::Rows) => inbound.rows(),
                    Some(Order::Unpark) => {
                        self.unpark().await;
                        return None;
                    }
                },
                news = inbound.news() => if let Some(ended) = news.ended {
                    return Some(self.inbound_ended(ended).await);
                },
                () = &mut over => return None,
            }
        }
    }

    /// Waits while no term is held; `Some` when told to stop.
    async fn pause(&mut self, wait: Duration) -> Option<()> {
        let over = tokio::time::sleep(wait);
        tokio::pin!(over);
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(Order::Stop(_)) | None => return Some(()),
                    Some(Order::Rows | Order::Unpark) => {}
                },
                () = &mut over => return None,
            }
        }
    }

    async fn inbound_ended(&mut self, ended: inbound::Ended) -> After {
        match ended {
            inbound::Ended::Fenced => After::Fenced,
            inbound::Ended::Broken(error) => {
                let todo = "restart the process; look at the disk first".to_owned();
                self.facts.state(State::Stopped, error.clone(), Some(todo));
                let _ = self.setup.broken.send(error);
                // The process ends; until then nothing more can be done here.
                while !self.stopping {
                    self.stopping = matches!(self.orders.recv().await, Some(Order::Stop(_)) | None);
                }
                After::Stopped
            }
        }
    }
}

/// How long an orderly end waits for what is unsettled and the last checkpoint.
const FLUSH_PATIENCE: Duration = Duration::from_secs(3);
