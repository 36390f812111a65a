//! What a connector written in Rust links.
//!
//! The contract itself (`wit/v0`) is in [`bindings`]; this crate re-exports it under short names, adds what every
//! author would otherwise write again (readable bytes, request builders, secrets in their places, descriptions of
//! actions and how one ended, log lines) and the one macro that turns a type into the exports of a component:
//!
//! ```ignore
//! struct Acme;
//! impl jackfield_sdk::connector::Guest for Acme { /* describe */ }
//! impl jackfield_sdk::transform::Guest for Acme { /* transform */ }
//! jackfield_sdk::export!(Acme: connector, transform);
//! ```
//!
//! It promises that a component exports exactly what the macro names, and imports only what its code calls. It
//! starts no thread, keeps no state and hides no call: whatever reaches the host is a function of the contract.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

// The generated macros name this crate from outside and from inside.
extern crate self as jackfield_sdk;

pub mod bindings;
mod blob;
mod describe;
mod ending;
mod event;
mod export;
mod fault;
mod http;
pub mod log;
mod socket;
mod spec;

#[doc(hidden)]
pub use wit_bindgen::rt as __rt;

pub use bindings::supplied::jackfield::connector::types::{
    Blob, Dispatch, Event, Fault, HttpMethod, HttpRequest, HttpResponse, Location, Place, PlatformId, Recurrence,
    SecretUse, Sender, Subject, Transport,
};
pub use http::secret;

/// Imports: what a connector may call, by interface.
pub use bindings::supplied::jackfield::connector::{
    connection, contacts, http as egress, ingest, lease, session, signatures, state,
};

/// `connector`: who this is and what it asks for.
pub mod connector {
    pub use crate::bindings::connector::exports::jackfield::connector::connector::{
        Ask, Descriptor, Exclusive, Guest, SecretAsk, StartBudget,
    };
}

/// `transform`: what payloads mean. Pure.
pub mod transform {
    pub use crate::bindings::transform::exports::jackfield::connector::transform::{Answer, Guest, Received};
}

/// `runtime`: a long-lived connection as a state machine.
pub mod runtime {
    pub use crate::bindings::runtime::exports::jackfield::connector::runtime::{
        Cause, Closure, Fetched, Guest, Incoming, PeerClose, PendingTimer, SessionFault, Signal, SocketState,
        StartContext, StartFault, StartReason, StopReason,
    };
    pub use crate::bindings::supplied::jackfield::connector::session::{Condition, Notice, SocketRequest};
}

/// `webhook`: requests from the platform.
pub mod webhook {
    pub use crate::bindings::webhook::exports::jackfield::connector::webhook::{Guest, WebhookRequest};
}

/// `action`: what can be done on the platform.
pub mod action {
    pub use crate::bindings::action::exports::jackfield::connector::action::{
        ActionFault, ActionSpec, Call, DestructiveClass, Effect, EffectClass, EffectOp, Guest, IdempotencyKind,
        MutationScope, Outcome, Pause, RetrySafety, Semantics,
    };
}
