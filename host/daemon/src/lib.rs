//! The plugin host as a library: configuration, sessions, the way in, administration and the command line.
//!
//! The binary `jackfield` is a few lines around [`cli`]. Another program can embed the host with its own stores.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

pub mod config;
pub mod connection;
pub mod failpoint;
pub mod guest_log;
pub mod host;
pub mod inbound;
mod retention;
pub mod session;
pub mod spec;
pub mod status;
pub mod text;
