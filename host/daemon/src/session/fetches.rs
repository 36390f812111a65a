//! Requests of a session, by label. Each ends in exactly one signal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jackfield_engine::egress::Gate;
use jackfield_model::Fault;
use jackfield_model::session::Signal;
use jackfield_model::wire::{HttpRequest, HttpResponse};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use super::queue::Queue;
use crate::connection::facts::Facts;

type Outcome = Result<HttpResponse, Fault>;

/// Requests under way.
pub(super) struct Fetches {
    gate: Gate,
    tasks: JoinSet<Outcome>,
    labels: BTreeMap<String, AbortHandle>,
    facts: Arc<Facts>,
}

impl Fetches {
    /// None yet.
    pub(super) fn new(gate: Gate, facts: Arc<Facts>) -> Self {
        Self { gate, tasks: JoinSet::new(), labels: BTreeMap::new(), facts }
    }

    /// Sends a request. The contract refuses a second one of a label that is under way.
    pub(super) fn start(&mut self, label: String, request: HttpRequest) {
        let gate = self.gate.clone();
        let handle = self.tasks.spawn(async move { gate.send(request).await });
        self.labels.insert(label, handle);
    }

    /// Gives a request up, and says so. `false` where none is under way.
    pub(super) fn cancel(&mut self, label: &str, queue: &mut Queue) -> bool {
        let Some(handle) = self.labels.remove(label) else { return false };
        handle.abort();
        queue.push(Signal::Fetched { label: label.to_owned(), outcome: Err(Fault::Cancelled) });
        true
    }

    /// Waits for a request to end. Never ends while none is under way. Safe to give up and call again.
    pub(super) async fn next(&mut self) -> Signal {
        while let Some(joined) = self.tasks.join_next_with_id().await {
            if let Some(signal) = self.ended(joined) {
                return signal;
            }
        }
        std::future::pending().await
    }

    /// A request that has ended by now.
    pub(super) fn next_now(&mut self) -> Option<Signal> {
        while let Some(joined) = self.tasks.try_join_next_with_id() {
            if let Some(signal) = self.ended(joined) {
                return Some(signal);
            }
        }
        None
    }

    /// Lets requests end, and tells nobody.
    pub(super) async fn finish(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// Gives up all that is under way, and tells nobody.
    pub(super) fn abandon(&mut self) {
        self.labels.clear();
        self.tasks.abort_all();
    }

    /// One that ended; `None` when it was cancelled before.
    fn ended(&mut self, joined: Result<(Id, Outcome), JoinError>) -> Option<Signal> {
        match joined {
            Ok((id, outcome)) => {
                let label = self.label(id)?;
                if let Err(fault) = &outcome {
                    self.facts.trouble(format!("request {label}: {fault}"));
                }
                Some(Signal::Fetched { label, outcome })
            }
            Err(error) => {
                // Aborted ones have no label any more; what is left has panicked after it may have been sent.
                let outcome = Err(Fault::Unknown("the request was lost inside the host".to_owned()));
                self.label(error.id()).map(|label| Signal::Fetched { label, outcome })
            }
        }
    }

    fn label(&mut self, id: Id) -> Option<String> {
        let label = self.labels.iter().find(|(_, handle)| handle.id() == id).map(|(label, _)| label.clone())?;
        self.labels.remove(&label);
        Some(label)
    }

    /// Labels of those under way.
    pub(super) fn labels(&self) -> BTreeSet<String> {
        self.labels.keys().cloned().collect()
    }
}

#[cfg(test)]
#[path = "fetches_tests.rs"]
mod tests;
