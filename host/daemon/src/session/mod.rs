//! The host's side of a `runtime`: it owns the sockets, timers and requests of one connection, and calls the guest with what
//! happened.
//!
//! Promises:
//! - One call at a time, signals in order, at most 64 and 1 MiB a call; marks come first, as one signal.
//! - What a call asked for takes effect in order when it returns. A trap or a timeout takes it all back.
//! - After every call the newest checkpoint is kept; after a trap a fresh instance goes on from it, on the live sockets, and the
//!   same signals come again one by one.
//! - The loop never waits for a socket, a request, the inbox or a commit; control is read first.
//! - A connector that always has something to do leaves its thread to others between two calls, and is told of all that happens
//!   beside.
//! - Whatever ends a session drops its sockets without a close frame, so that the platform's session can be resumed.
//!
//! It does not decide whether a session runs (`connection`), nor what a payload means (`inbound`).

mod actor;
mod fetches;
mod guest;
mod queue;
mod socket;
mod sockets;
mod starts;
mod timers;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use jackfield_model::clock::SharedClock;
use jackfield_model::session::{StartReason, StopReason};
use jackfield_model::{Blob, Fence};
use tokio::sync::oneshot;

use crate::connection::facts::Facts;
use crate::failpoint::Failpoint;
use crate::inbound::Inbound;
use crate::spec::Spec;
pub use starts::StartLedger;

/// What a session works with.
pub struct Setup {
    /// The connection.
    pub spec: Arc<Spec>,
    /// Where its dispatches go.
    pub inbound: Arc<Inbound>,
    /// Its start budget.
    pub starts: Arc<StartLedger>,
    /// The grant it runs under.
    pub fence: Fence,
    /// Time.
    pub clock: SharedClock,
    /// What status shows.
    pub facts: Arc<Facts>,
    /// For tests that kill the process.
    pub failpoint: Failpoint,
}

/// How a session begins.
pub struct Beginning {
    /// Why it starts: a cold reason.
    pub reason: StartReason,
    /// The newest stored checkpoint.
    pub checkpoint: Option<Blob>,
}

/// How a session ended. Its sockets are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// As it was told to.
    Stopped,
    /// There is nothing to run.
    NotConfigured(String),
    /// Nobody can go on until something is changed.
    Parked {
        /// Stable word.
        code: &'static str,
        /// What is the case.
        message: String,
        /// What somebody has to do.
        todo: String,
    },
    /// Trying again may help.
    Transient(String),
    /// The term is over.
    Fenced,
    /// The store can't be trusted any more.
    Broken(String),
}

/// Runs a session until it ends. `stop` asks it to end in order.
pub async fn run(setup: Setup, beginning: Beginning, stop: oneshot::Receiver<StopReason>) -> End {
    setup.inbound.listen();
    match guest::Guest::instantiate(&setup).await {
        Ok(guest) => actor::Actor::new(setup, stop).run(guest, beginning).await,
        Err(failure) => End::Transient(format!("no instance: {failure}")),
    }
}
