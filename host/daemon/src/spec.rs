//! What it takes to run one connection, after configuration, component, grants and secrets have been brought together.

use std::sync::Arc;
use std::time::Duration;

use jackfield_engine::egress::Gate;
use jackfield_engine::secret::Secrets;
use jackfield_engine::{Component, GuestLimits, LogSink};
use jackfield_model::session::StartBudget;
use jackfield_model::{ConnectionId, Generation, Space, limits};

use crate::outbound::registry::Registry;

/// One connection, ready to run. Built by the configuration; nothing here is read from the environment any more.
#[derive(Clone)]
pub struct Spec {
    /// Its name.
    pub id: ConnectionId,
    /// The code.
    pub component: Component,
    /// The number of that code on this connection.
    pub generation: Generation,
    /// The connector's configuration: a JSON object, valid against the descriptor's schema.
    pub config: Arc<str>,
    /// Where its contacts live.
    pub space: Space,
    /// Its door to the world: effective grants, `connect` map, secrets.
    pub gate: Gate,
    /// Its secrets.
    pub secrets: Arc<Secrets>,
    /// Bytes of durable state that it may keep; 0 when not granted.
    pub state_bytes: u64,
    /// It may look up people of its contact space.
    pub contacts: bool,
    /// It may take locks.
    pub lease: bool,
    /// What can be done with it.
    pub actions: Arc<Registry>,
    /// Names the credential that the start budget belongs to; never the credential itself.
    pub start_key: String,
    /// What is counted against that key.
    pub start_budget: Option<StartBudget>,
    /// Component, configuration, grants and secrets in one hash: a parked connection is tried again when it changes.
    pub fingerprint: String,
    /// The operator's limits.
    pub limits: Limits,
    /// Where its code's lines go: one sink, so that instances share one rate. See [`crate::guest_log`].
    pub log: LogSink,
}

/// The operator's limits for one connection. Defaults are the ceilings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of one guest instance, over all its memories, in bytes.
    pub memory: usize,
    /// Longest guest call.
    pub call: Duration,
    /// Longest frame, in bytes.
    pub frame: usize,
    /// Bytes of dispatches that may wait in the inbox before the session stops reading.
    pub inbox: u64,
    /// Instances of `transform` that run side by side.
    pub transforms: usize,
    /// Longest action, waiting for rate limits included.
    pub action: Duration,
    /// Actions that run side by side.
    pub actions: usize,
    /// Requests that the platform may refuse within ten minutes before no more are sent.
    pub refusals: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 * 1024 * 1024,
            call: limits::CALL_TIME_MAX,
            frame: limits::FRAME_BYTES_MAX,
            inbox: 256 * 1024 * 1024,
            transforms: 2,
            action: Duration::from_secs(60),
            actions: 8,
            refusals: jackfield_engine::egress::Ceilings::default().refusals,
        }
    }
}

impl Spec {
    /// What one instance of its code may use.
    #[must_use]
    pub fn guest_limits(&self) -> GuestLimits {
        let Limits { memory, call, frame, .. } = self.limits;
        GuestLimits { memory, call, frame, ..GuestLimits::default() }
    }
}
