//! The Discord connector: the gateway as a state machine, and what its payloads mean.
//!
//! [`describe`] says who this is and what it asks for. [`runtime`] keeps a gateway session alive across closed
//! sockets, new code and other hosts, and submits every dispatch as it came. [`transform`] reads a dispatch and
//! says what it means in the words that all platforms share. Both are plain Rust and run natively in tests; only
//! this file and `runtime/host.rs` know that a component is made of them.
//!
//! Not here: sending anything to Discord. That is what actions are for.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

pub mod config;
pub mod describe;
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

jackfield_sdk::export!(Discord: connector, transform, runtime);
