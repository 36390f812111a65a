//! The guest of one session: a single instance, called one call at a time.
//!
//! Promised: what a call asks for is returned when the call returns, in order, and never when it fails; after a failure or
//! a fault of its own the instance is gone and further calls are refused. Not promised here: that anything is done. That is
//! the session's part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jackfield_contract::{exports, translate};
use jackfield_model::session::{Effect, SessionFault, Signal, StartContext, StartFault};
use jackfield_model::wire::SocketRequest;
use jackfield_model::{Blob, ConnectionId, Generation};

use crate::capability::session::{Seen, Starts};
use crate::capability::state::Map;
use crate::cell::{Cell, bounded};
use crate::component::Component;
use crate::egress::Gate;
use crate::failure::{CallFailure, FailureKind};
use crate::guest::Guest;
use crate::limits::{CHECKPOINT_BYTES_MAX, GuestLimits};
use crate::log::LogSink;
use crate::phase::Phase;

const START: &str = "runtime.start";
const HANDLE: &str = "runtime.handle";
const CHECKPOINT: &str = "runtime.checkpoint";

/// The connection behind a call.
#[derive(Clone)]
pub struct Host {
    /// Its name.
    pub connection: ConnectionId,
    /// Its configuration, valid against the connector's schema.
    pub config: Arc<str>,
    /// Its door to the network, which also holds its secrets.
    pub gate: Gate,
    /// Its durable map.
    pub state: Arc<dyn Map>,
    /// What else it may do.
    pub rights: Rights,
    /// Where its lines go.
    pub log: LogSink,
    /// Which generation of its code this is.
    pub generation: Generation,
}

/// Rights that are numbers; those on the network are the gate's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Bytes of durable state. 0: not granted.
    pub state_bytes: u64,
}

/// What the session has, as far as a call may see it.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Sockets, by label.
    pub sockets: BTreeMap<String, SocketView>,
    /// Labels of requests under way.
    pub fetches: BTreeSet<String>,
    /// How many timers run.
    pub timers: usize,
}

/// One socket of a session.
#[derive(Clone, Debug)]
pub struct SocketView {
    /// What was asked for.
    pub request: Arc<SocketRequest>,
    /// It is open, rather than on its way.
    pub open: bool,
}

/// A call that returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done<T> {
    /// What the guest returned.
    pub result: T,
    /// What it asked for, in order. Empty after a fault of `start`: that takes everything back.
    pub effects: Vec<Effect>,
    /// All that a successor needs; `None` after a fault.
    pub checkpoint: Option<Blob>,
}

/// One instance.
pub struct Instance {
    cell: Cell,
    guest: exports::runtime::Guest,
    limit: Duration,
}

impl Instance {
    /// Makes an instance of this connection, whose credential has this start budget. Nothing of the contract is called yet.
    ///
    /// # Errors
    /// Its initialisers failed; or `Refused`: no `runtime`, no room, or the engine is not healthy.
    pub async fn new(
        component: &Component,
        host: Host,
        starts: Arc<dyn Starts>,
        limits: GuestLimits,
    ) -> Result<Self, CallFailure> {
        let indices = component.0.indices.runtime.as_ref();
        let indices = indices.ok_or_else(|| CallFailure::refused(START, "the component does not export `runtime`"))?;
        let clock = Arc::clone(component.engine().clock());
        let guest = Guest::session(limits, clock, component.namespace(), host, starts);
        let mut cell = Cell::new(component, guest, limits.call).await?;
        let guest = cell.interface(|store, instance| indices.load(store, instance))?;
        Ok(Self { cell, guest, limit: limits.call })
    }

    /// Calls `start`, and `checkpoint` after it.
    ///
    /// # Errors
    /// The call, or the checkpoint after it, failed; nothing that it asked for is known.
    pub async fn start(
        &mut self,
        context: StartContext,
        view: View,
    ) -> Result<Done<Result<(), StartFault>>, CallFailure> {
        self.cell.begin(START, Phase::Runtime, self.limit)?;
        self.cell.store.data_mut().seen = Seen::from(view);
        let context = translate::StartContext::new(&context);
        let returned = bounded(self.limit, self.guest.call_start(&mut self.cell.store, context.lend())).await;
        let result = self.cell.end(START, returned)?.map_err(StartFault::from);
        let effects = self.cell.store.data_mut().effects.take();
        match result {
            Ok(()) => Ok(Done { result: Ok(()), effects, checkpoint: Some(self.checkpoint().await?) }),
            Err(fault) => {
                self.cell.kill();
                Ok(Done { result: Err(fault), effects: Vec::new(), checkpoint: None })
            }
        }
    }

    /// Calls `handle` with what happened, and `checkpoint` after it.
    ///
    /// # Errors
    /// As `start`.
    pub async fn handle(
        &mut self,
        signals: impl Into<Arc<[Signal]>>,
        view: View,
    ) -> Result<Done<Result<(), SessionFault>>, CallFailure> {
        let signals = signals.into();
        self.cell.begin(HANDLE, Phase::Runtime, self.limit)?;
        let guest = self.cell.store.data_mut();
        guest.seen = Seen::from(view);
        guest.signals = Arc::clone(&signals);
        let lent = translate::Signals::new(&signals);
        let lent = lent.lend();
        let returned = bounded(self.limit, self.guest.call_handle(&mut self.cell.store, &lent)).await;
        let result = self.cell.end(HANDLE, returned)?.map_err(SessionFault::from);
        let effects = self.cell.store.data_mut().effects.take();
        let checkpoint = match result {
            Ok(()) => Some(self.checkpoint().await?),
            Err(_) => {
                self.cell.kill();
                None
            }
        };
        Ok(Done { result, effects, checkpoint })
    }

    /// Whether it leaks handles and comes close to its ceiling: start a successor from the checkpoint before it gets there.
    pub fn is_worn(&mut self) -> bool {
        self.cell.is_worn()
    }

    async fn checkpoint(&mut self) -> Result<Blob, CallFailure> {
        self.cell.begin(CHECKPOINT, Phase::Checkpoint, self.limit)?;
        let returned = bounded(self.limit, self.guest.call_checkpoint(&mut self.cell.store)).await;
        let checkpoint = Blob::from(self.cell.end(CHECKPOINT, returned)?);
        if checkpoint.len() > CHECKPOINT_BYTES_MAX {
            self.cell.kill();
            let message = format!("checkpoint of {} bytes, at most {CHECKPOINT_BYTES_MAX}", checkpoint.len());
            return Err(CallFailure { kind: FailureKind::Budget { which: "checkpoint" }, export: CHECKPOINT, message });
        }
        Ok(checkpoint)
    }
}

#[cfg(test)]
#[path = "runtime_tests.rs"]
mod tests;
