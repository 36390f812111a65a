//! The host: every configured connection, kept served until it is stopped.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jackfield_engine::Engine;
use jackfield_model::clock::SharedClock;
use jackfield_model::session::StopReason;
use jackfield_model::{ConnectionId, Timestamp};
use jackfield_store::retention::Policy;
use jackfield_store::{StoreError, Stores};
use tokio::sync::{Mutex as Shared, mpsc};
use tokio::task::JoinHandle;

use crate::config::nearest;
use crate::connection::{self, Connection};
use crate::failpoint::Failpoint;
use crate::outbound::{self, Executor};
use crate::retention;
use crate::spec::Spec;
use crate::status;

/// What the ledger says of an action whose process ended.
const INTERRUPTED: &str = "the host ended while it ran";

/// What a host works with.
pub struct Options {
    /// Where everything durable is.
    pub stores: Stores,
    /// What runs guests.
    pub engine: Engine,
    /// Time.
    pub clock: SharedClock,
    /// Where the data lies, for status.
    pub data: PathBuf,
    /// How long what is kept.
    pub retention: Policy,
    /// For tests that kill the process.
    pub failpoint: Failpoint,
}

struct Inner {
    options: Options,
    started_at: Timestamp,
    connections: Mutex<BTreeMap<ConnectionId, Connection>>,
    executors: BTreeMap<ConnectionId, (Arc<Spec>, Executor)>,
    broken: Shared<mpsc::UnboundedReceiver<String>>,
    pruning: JoinHandle<()>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.pruning.abort();
    }
}

/// A running host. Clones are the same host.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

impl Host {
    /// Starts every connection. None waits for another.
    ///
    /// # Errors
    /// What an earlier process left open in the ledger can't be ended.
    pub async fn start(options: Options, specs: Vec<Spec>) -> Result<Self, StoreError> {
        let interrupted = options.stores.executions.interrupted(INTERRUPTED).await?;
        if interrupted > 0 {
            tracing::warn!(
                interrupted,
                "actions were under way when the host ended: whether they were done is not known"
            );
        }
        let (tell, broken) = mpsc::unbounded_channel();
        let serve = |spec: Spec| {
            let setup = connection::Setup {
                spec: Arc::new(spec),
                stores: options.stores.clone(),
                clock: options.clock.clone(),
                failpoint: options.failpoint.clone(),
                broken: tell.clone(),
            };
            (setup.spec.id.clone(), Connection::serve(setup))
        };
        let connections: BTreeMap<_, _> = specs.into_iter().map(serve).collect();
        let executors = connections.iter().map(|(id, connection)| {
            let (spec, rows) = (connection.spec().clone(), connection.waker());
            let executor = Executor::new(spec.clone(), options.stores.clone(), options.clock.clone(), rows);
            (id.clone(), (spec, executor))
        });
        let executors = executors.collect();
        let pruning = tokio::spawn(retention::run(options.stores.retention.clone(), options.retention));
        Ok(Self(Arc::new(Inner {
            started_at: options.clock.now(),
            connections: Mutex::new(connections),
            executors,
            broken: Shared::new(broken),
            pruning,
            options,
        })))
    }

    /// Runs an action, whether or not its connection has a session, and says how it ended. Whoever drops the future has left:
    /// nothing more is sent for it.
    ///
    /// # Errors
    /// Why nothing was run.
    pub async fn run(&self, request: outbound::Request) -> Result<outbound::Report, outbound::Refused> {
        match self.0.executors.get(&request.connection) {
            Some((_, executor)) => executor.run(request).await,
            None => {
                let known = self.0.executors.keys().map(ConnectionId::as_str);
                let near = nearest::word(request.connection.as_str(), known).map(str::to_owned);
                Err(outbound::Refused::NoConnection { name: request.connection, near })
            }
        }
    }

    /// What can be done, on one connection or on all.
    #[must_use]
    pub fn actions(&self, connection: Option<&ConnectionId>) -> Vec<outbound::Listed> {
        let mut listed = Vec::new();
        for (id, (spec, _)) in &self.0.executors {
            if connection.is_none_or(|only| only == id) {
                listed.extend(spec.actions.specs().map(|action| outbound::Listed {
                    connection: id.clone(),
                    generation: spec.generation,
                    spec: action.clone(),
                }));
            }
        }
        listed
    }

    /// The stores, for reading.
    #[must_use]
    pub fn stores(&self) -> &Stores {
        &self.0.options.stores
    }

    /// How long what is kept.
    #[must_use]
    pub fn retention(&self) -> Policy {
        self.0.options.retention
    }

    /// Waits until the store can't be trusted any more, and says why. The process must then end.
    pub async fn broken(&self) -> String {
        match self.0.broken.lock().await.recv().await {
            Some(error) => error,
            None => std::future::pending().await,
        }
    }

    /// Rows came into this connection's inbox by another way: a redrive. `false` when there is no such connection.
    #[must_use]
    pub fn inbox_changed(&self, id: &ConnectionId) -> bool {
        self.with(id, Connection::rows)
    }

    /// Lets a parked connection start again. `false` when there is no such connection.
    #[must_use]
    pub fn unpark(&self, id: &ConnectionId) -> bool {
        self.with(id, Connection::unpark)
    }

    fn with(&self, id: &ConnectionId, order: impl FnOnce(&Connection)) -> bool {
        let connections = self.0.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.get(id).map(order).is_some()
    }

    /// Everything known, as of now.
    pub async fn status(&self) -> status::Host {
        let known: Vec<_> = {
            let connections = self.0.connections.lock().unwrap_or_else(PoisonError::into_inner);
            connections.values().map(|connection| (connection.spec().clone(), connection.facts().known())).collect()
        };
        let mut connections = Vec::with_capacity(known.len());
        for (spec, known) in known {
            let executor = self.0.executors.get(&spec.id).map(|(_, executor)| executor);
            connections.push(status::connection(self.stores(), &spec, known, executor).await);
        }
        status::Host {
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            started_at: self.0.started_at,
            engine_healthy: self.0.options.engine.health().is_healthy(),
            data: self.0.options.data.display().to_string(),
            connections,
        }
    }

    /// Ends every connection in order, side by side; what takes longer than `grace` is dropped. What was not settled by then
    /// comes again after the next start.
    pub async fn stop(&self, grace: Duration) {
        let connections = {
            let mut connections = self.0.connections.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *connections)
        };
        let mut stopping = tokio::task::JoinSet::new();
        for connection in connections.into_values() {
            stopping.spawn(connection.stop(StopReason::Shutdown, grace));
        }
        for (_, executor) in self.0.executors.values() {
            let executor = executor.clone();
            stopping.spawn(async move { executor.stop(grace).await });
        }
        while stopping.join_next().await.is_some() {}
    }
}
