//! The plugin host as a library: configuration, sessions, the way in, administration and the command line.
//!
//! The binary `jackfield` is a few lines around [`cli`]. Another program can embed the host with its own stores.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

pub mod admin;
pub mod cli;
pub mod config;
pub mod connection;
#[cfg(feature = "demo")]
mod demo;
pub mod failpoint;
pub mod guest_log;
pub mod host;
pub mod inbound;
pub mod outbound;
mod redact;
mod retention;
pub mod serve;
pub mod session;
pub mod spec;
pub mod status;
pub mod text;
