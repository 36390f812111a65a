//! The guest of a session: one instance, and calls that can be waited for beside everything else.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use jackfield_engine::runtime::{Done, Host, Instance, Rights, View};
use jackfield_engine::{CallFailure, GuestLimits};
use jackfield_model::session::{SessionFault, Signal, StartContext, StartFault};

use super::Setup;

/// One instance of the connector.
pub(super) struct Guest(Box<Instance>);

/// A call that has ended. The instance is there unless it died.
pub(super) enum Ended {
    /// `start`.
    Started(Guest, Result<Done<Result<(), StartFault>>, CallFailure>),
    /// `handle`, with what it was told.
    Handled(Guest, Arc<[Signal]>, Result<Done<Result<(), SessionFault>>, CallFailure>),
    /// There was no instance to call.
    Missing(CallFailure),
}

/// A call under way.
pub(super) type Call = Pin<Box<dyn Future<Output = Ended> + Send>>;

impl Guest {
    /// A fresh instance.
    pub(super) async fn instantiate(setup: &Setup) -> Result<Self, CallFailure> {
        let (host, limits) = surroundings(setup);
        Instance::new(&setup.spec.component, host, setup.starts.clone(), limits)
            .await
            .map(|instance| Self(Box::new(instance)))
    }

    /// Whether it leaks handles and comes close to its ceiling.
    pub(super) fn is_worn(&mut self) -> bool {
        self.0.is_worn()
    }

    /// Calls `start`.
    pub(super) fn start(mut self, context: StartContext, view: View) -> Call {
        Box::pin(async move {
            let done = self.0.start(context, view).await;
            Ended::Started(self, done)
        })
    }

    /// Calls `handle`.
    pub(super) fn handle(mut self, signals: Arc<[Signal]>, view: View) -> Call {
        Box::pin(async move {
            let done = self.0.handle(signals.clone(), view).await;
            Ended::Handled(self, signals, done)
        })
    }

    /// A fresh instance, and `start` on it.
    pub(super) fn restart(setup: &Setup, context: StartContext, view: View) -> Call {
        let (host, limits) = surroundings(setup);
        let (component, starts) = (setup.spec.component.clone(), setup.starts.clone());
        Box::pin(async move {
            match Instance::new(&component, host, starts, limits).await {
                Ok(mut instance) => {
                    let done = instance.start(context, view).await;
                    Ended::Started(Self(Box::new(instance)), done)
                }
                Err(failure) => Ended::Missing(failure),
            }
        })
    }
}

fn surroundings(setup: &Setup) -> (Host, GuestLimits) {
    let spec = &setup.spec;
    let host = Host {
        connection: spec.id.clone(),
        config: spec.config.clone(),
        gate: spec.gate.clone(),
        state: setup.inbound.state().clone(),
        rights: Rights { state_bytes: spec.state_bytes },
        log: spec.log.clone(),
        generation: spec.generation,
    };
    (host, spec.guest_limits())
}
