//! Instances that turn dispatches into events: a pool for one generation of one connection.
//!
//! Promised: no import may be called, clocks and randomness are constant, an instance that failed is gone, and memory that
//! has seen one connection's payloads never serves another. Not promised: that equal input gives equal answers from a guest
//! that keeps state in its own memory.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jackfield_contract::{exports, translate};
use jackfield_model::event::Answer;
use jackfield_model::{Dispatch, Timestamp, Transport};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::cell::{Cell, bounded};
use crate::component::Component;
use crate::failure::CallFailure;
use crate::guest::Guest;
use crate::limits::GuestLimits;
use crate::log::LogSink;
use crate::phase::Phase;

const EXPORT: &str = "transform.transform";

/// A dispatch as `transform` is given it.
#[derive(Clone, Debug)]
pub struct Received {
    /// The dispatch.
    pub dispatch: Arc<Dispatch>,
    /// How it came.
    pub via: Transport,
    /// When it was first stored.
    pub received_at: Timestamp,
}

/// A pool of instances.
pub struct Pool {
    component: Component,
    limits: GuestLimits,
    log: LogSink,
    free: Semaphore,
    idle: Mutex<Vec<Instance>>,
}

struct Instance {
    cell: Cell,
    guest: exports::transform::Guest,
}

impl Pool {
    /// A pool of at most `size` instances at once; none is made before it is needed.
    #[must_use]
    pub fn new(component: &Component, limits: GuestLimits, size: usize, log: LogSink) -> Self {
        let (component, free) = (component.clone(), Semaphore::new(size.max(1)));
        Self { component, limits, log, free, idle: Mutex::default() }
    }

    /// One answer for each dispatch, in order.
    ///
    /// # Errors
    /// The batch failed as a whole and nothing is known of any dispatch of it. `Refused`: no instance got free within the
    /// time of a call, the engine has no room, or it is not healthy.
    pub async fn transform(&self, batch: &[Received]) -> Result<Vec<Answer>, CallFailure> {
        let limit = self.limits.call;
        let _permit = self.permit(limit).await?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut instance = match idle {
            Some(instance) => instance,
            None => self.instance(limit).await?,
        };
        let answers = instance.call(batch, limit).await?;
        if instance.cell.is_fit() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(instance);
        }
        Ok(answers)
    }

    async fn permit(&self, limit: Duration) -> Result<SemaphorePermit<'_>, CallFailure> {
        if let Ok(permit) = self.free.try_acquire() {
            return Ok(permit);
        }
        match tokio::time::timeout(limit, self.free.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(CallFailure::refused(EXPORT, format!("no instance got free within {} ms", limit.as_millis()))),
        }
    }

    async fn instance(&self, limit: Duration) -> Result<Instance, CallFailure> {
        let component = &self.component;
        let indices = component.0.indices.transform.as_ref();
        let indices = indices.ok_or_else(|| CallFailure::refused(EXPORT, "the component does not export it"))?;
        let clock = Arc::clone(component.engine().clock());
        let guest = Guest::pure(self.limits, clock, self.log.clone(), component.namespace());
        let mut cell = Cell::new(component, guest, limit).await?;
        let guest = cell.interface(|store, instance| indices.load(store, instance))?;
        Ok(Instance { cell, guest })
    }
}

impl Instance {
    async fn call(&mut self, batch: &[Received], limit: Duration) -> Result<Vec<Answer>, CallFailure> {
        let lent: Vec<_> =
            batch.iter().map(|item| translate::lent(&item.dispatch, item.via, item.received_at)).collect();
        self.cell.begin(EXPORT, Phase::Transform, limit)?;
        let returned = bounded(limit, self.guest.call_transform(&mut self.cell.store, &lent)).await;
        let answers = self.cell.end(EXPORT, returned)?;
        if answers.len() != batch.len() {
            self.cell.kill();
            let problem = format!("{} answers for {} dispatches", answers.len(), batch.len());
            return Err(CallFailure::trap(EXPORT, problem));
        }
        Ok(answers.into_iter().map(Answer::from).collect())
    }
}

#[cfg(test)]
#[path = "transform_tests.rs"]
mod tests;
