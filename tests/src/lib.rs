//! What the integration suite is made with: guests, hosts, processes, platforms, and the checks that need no process.
//!
//! The suite itself is `suite/main.rs`, one binary. Nothing here is linked by the host or by a connector.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "this is test code: what goes wrong here fails a test"
)]

pub mod guest;

/// In a file of the suite: demands that it has a test of this name.
#[macro_export]
macro_rules! has_test {
    ($name:ident) => {
        const _: fn() = || {
            let _ = $name;
        };
    };
}
