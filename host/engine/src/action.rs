//! Instances that make calls of the platform: a pool for one generation of one connection.
//!
//! Promised: what a call asks for of the host's own stores is returned when it returns and never when it fails, nor after a
//! fault; an instance that failed is gone. Not promised: that nothing has happened when a call fails. What it sent over
//! its way out stays sent, and the caller's [`Client`] knows whether there was something.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jackfield_contract::{exports, translate};
use jackfield_model::action::{ActionFault, Call, Outcome, Pause};
use jackfield_model::session::Effect;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::capability::contacts::Directory;
use crate::capability::http::Client;
use crate::capability::lease::Locks;
use crate::cell::{Cell, bounded};
use crate::component::Component;
use crate::effects::label;
use crate::failure::{CallFailure, FailureKind};
use crate::guest::Guest;
use crate::limits::GuestLimits;
use crate::log::LogSink;
use crate::phase::Phase;
use crate::runtime::Host;

const EXPORT: &str = "action.run";

/// The ways out of one call. Made for the call, so that whoever made them knows what it did.
#[derive(Clone)]
pub struct Outbound {
    /// Requests and their buckets.
    pub client: Arc<dyn Client>,
    /// People. `None`: not granted.
    pub directory: Option<Arc<dyn Directory>>,
    /// Short critical sections. `None`: not granted.
    pub locks: Option<Arc<dyn Locks>>,
}

/// A call that returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// What the guest returned.
    pub result: Result<Outcome, ActionFault>,
    /// What it asked for, in order: dispatches and changes of its map. Empty after a fault.
    pub effects: Vec<Effect>,
}

/// A pool of instances.
pub struct Pool {
    component: Component,
    limits: GuestLimits,
    log: LogSink,
    free: Semaphore,
    idle: Mutex<Vec<Instance>>,
}

/// Room for one call in a pool.
#[must_use = "it keeps others waiting"]
pub struct Slot<'p> {
    pool: &'p Pool,
    _permit: Option<SemaphorePermit<'p>>,
}

struct Instance {
    cell: Cell,
    guest: exports::action::Guest,
}

impl Pool {
    /// A pool of at most `size` calls at once; no instance is made before it is needed.
    #[must_use]
    pub fn new(component: &Component, limits: GuestLimits, size: usize, log: LogSink) -> Self {
        let (component, free) = (component.clone(), Semaphore::new(size.max(1)));
        Self { component, limits, log, free, idle: Mutex::default() }
    }

    /// Waits for room for one call, in the order of asking, for as long as it takes: whoever asks knows how long that may be.
    pub async fn slot(&self) -> Slot<'_> {
        // Nobody closes it.
        Slot { pool: self, _permit: self.free.acquire().await.ok() }
    }

    /// Room for one call, where there is some now and nobody waits for it.
    pub fn try_slot(&self) -> Option<Slot<'_>> {
        let permit = self.free.try_acquire().ok()?;
        Some(Slot { pool: self, _permit: Some(permit) })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Instance>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn instance(&self, limit: Duration) -> Result<Instance, CallFailure> {
        let component = &self.component;
        let indices = component.0.indices.action.as_ref();
        let indices = indices.ok_or_else(|| CallFailure::refused(EXPORT, "the component does not export `action`"))?;
        let clock = Arc::clone(component.engine().clock());
        let guest = Guest::action(self.limits, clock, self.log.clone(), component.namespace());
        let mut cell = Cell::new(component, guest, self.limits.call.min(limit)).await?;
        let guest = cell.interface(|store, instance| indices.load(store, instance))?;
        Ok(Instance { cell, guest })
    }
}

impl Slot<'_> {
    /// Runs one call, for at most `limit` by the wall clock, what an instance takes that has to be made first included. What
    /// the guest computes itself is bounded by the connection's limit of a call besides.
    ///
    /// # Errors
    /// The call failed. `Refused`: nothing was called, since the engine has no room or is not healthy.
    pub async fn run(self, call: &Call, host: Host, outbound: Outbound, limit: Duration) -> Result<Done, CallFailure> {
        let pool = self.pool;
        let clock = pool.component.engine().clock();
        let until = clock.monotonic() + limit;
        let idle = pool.idle().pop();
        let mut instance = match idle {
            Some(instance) => instance,
            None => pool.instance(limit).await?,
        };
        let left = until.saturating_duration_since(clock.monotonic());
        let done = instance.call(call, host, outbound, left).await?;
        if instance.cell.is_fit() {
            pool.idle().push(instance);
        }
        Ok(done)
    }
}

impl Instance {
    async fn call(
        &mut self,
        call: &Call,
        host: Host,
        outbound: Outbound,
        limit: Duration,
    ) -> Result<Done, CallFailure> {
        self.cell.begin(EXPORT, Phase::Action, limit)?;
        let guest = self.cell.store.data_mut();
        guest.host = Some(host);
        guest.outbound = Some(outbound);
        let call = translate::ActionCall::new(call);
        let returned = bounded(limit, self.guest.call_run(&mut self.cell.store, call.lend())).await;
        let result = self.cell.end(EXPORT, returned);
        let guest = self.cell.store.data_mut();
        // Whatever is left of the call must not be reached by the next one.
        (guest.host, guest.outbound) = (None, None);
        let effects = guest.effects.take();
        match result?.map(Outcome::from).map_err(ActionFault::from) {
            Ok(outcome) => Ok(Done { result: Ok(outcome), effects }),
            // Buckets are kept by name, so a name may be no longer than where it is reserved.
            Err(ActionFault::Retry(Pause { bucket: Some(bucket), .. })) if label("bucket", &bucket).is_err() => {
                let message = format!("the bucket of its pause has {} bytes", bucket.len());
                Err(CallFailure { kind: FailureKind::Trap, export: EXPORT, message })
            }
            Err(fault) => Ok(Done { result: Err(fault), effects: Vec::new() }),
        }
    }
}

#[cfg(test)]
#[path = "action_tests.rs"]
mod tests;
