//! Loads connectors and calls them: limits, pools, imports, and the door to the network.
//!
//! A component is checked, compiled in a child process, cached under a MAC and asked who it is ([`Engine::load`]); a
//! [`transform::Pool`] turns dispatches into events; a [`runtime::Instance`] is the guest of one session and answers with
//! effects that the session performs; an [`action::Pool`] makes calls of the platform. A guest can't take more time, memory or anything else than it is given, and nothing
//! that it does ends the host: every call comes back as a value or as a [`CallFailure`].
//!
//! Nothing here decides when a guest is called, stores what it says, or knows what a platform is.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

pub mod action;
mod cache;
pub mod capability;
mod cell;
mod compile;
mod component;
mod effects;
pub mod egress;
mod engine;
mod failure;
mod guest;
mod json;
mod limiter;
mod limits;
mod load;
pub mod log;
mod phase;
mod profile;
pub mod runtime;
pub mod secret;
#[cfg(test)]
mod testing;
mod ticker;
pub mod transform;
mod wasi;

pub use cache::CacheError;
pub use compile::{CompileLimits, Compiler, compile_child};
pub use component::{Component, Exports, Facts, Import};
pub use engine::{Engine, EngineError, Options};
pub use failure::{CallFailure, FailureKind};
pub use limits::{Ceilings, GuestLimits};
pub use load::{COMPONENT_BYTES_MAX, Inspection, LoadError, LoadErrorKind, inspect};
pub use log::LogSink;
pub use ticker::Health;
