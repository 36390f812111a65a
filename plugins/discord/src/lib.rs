//! The Discord connector: the gateway as a state machine, what its payloads mean, and writing messages.
//!
//! [`describe`] says who this is and what it asks for. [`runtime`] keeps a gateway session alive across closed
//! sockets, new code and other hosts, and submits every dispatch as it came. [`transform`] reads a dispatch and
//! says what it means in the words that all platforms share. [`action`] writes to channels and people. All three are plain
//! Rust and run natively in tests; only this file, `runtime/host.rs` and `action/host.rs` know that a component is made
//! of them.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

pub mod action;
mod clock;
pub mod config;
pub mod describe;
pub mod rest;
pub mod runtime;
pub mod transform;
pub mod wire;

use jackfield_sdk::connector::Descriptor;
use jackfield_sdk::transform::{Answer, Received};

/// What the component exports.
#[derive(Debug)]
pub struct Discord;

impl jackfield_sdk::connector::Guest for Discord {
    fn describe() -> Descriptor {
        describe::descriptor()
    }
}

impl jackfield_sdk::transform::Guest for Discord {
    fn transform(batch: Vec<Received>) -> Vec<Answer> {
        batch.iter().map(transform::answer).collect()
    }
}

jackfield_sdk::export!(Discord: connector, transform, runtime, action);
