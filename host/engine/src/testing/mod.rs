//! What the unit tests of this crate share: small components written by hand, an engine that compiles inline, and a
//! connection made of fakes.

mod guest;
mod host;

use std::time::Duration;

pub(crate) use self::guest::{Descriptor, component, described};
pub(crate) use self::host::Fakes;
use crate::compile::Compiler;
use crate::component::Component;
use crate::engine::{Engine, Options};
use crate::limits::{Ceilings, GuestLimits};

/// An engine without a cache, small enough to make many.
pub(crate) fn engine() -> Engine {
    engine_with(None, Compiler::Inline)
}

pub(crate) fn engine_with(cache: Option<std::path::PathBuf>, compiler: Compiler) -> Engine {
    let ceilings = Ceilings { instances: 16, memory: 64 << 20 };
    Engine::new(Options { cache, compiler, ceilings, clock: jackfield_model::clock::system() }).unwrap()
}

/// Loads a component made from this core module.
pub(crate) async fn load(wat: &str) -> Component {
    engine().load(component(wat)).await.unwrap()
}

/// Limits that a test reaches soon.
pub(crate) fn limits() -> GuestLimits {
    GuestLimits { memory: 4 << 20, call: Duration::from_millis(200), ..GuestLimits::default() }
}

/// One dispatch that nobody reads.
pub(crate) fn received() -> crate::transform::Received {
    crate::transform::Received {
        dispatch: std::sync::Arc::new(jackfield_model::Dispatch {
            kind: "KIND".to_owned(),
            payload: "payload".into(),
            lane: "lane".to_owned(),
            context: "{}".to_owned(),
        }),
        via: jackfield_model::Transport::Socket,
        received_at: jackfield_model::Timestamp(1),
    }
}
