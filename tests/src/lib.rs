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

pub mod account;
pub mod canary;
pub mod desk;
pub mod discord;
pub mod embedded;
pub mod faults;
pub mod guest;
pub mod kill;
pub mod platform;
pub mod processes;
pub mod sabotage;
pub mod sandbox;
pub mod way_in;
pub mod web;

use std::path::PathBuf;

/// A folder for what tests may share: below the target folder, kept between runs.
#[must_use]
pub fn scratch() -> PathBuf {
    let executable = std::env::current_exe().expect("a process knows its own file");
    let profile = executable.ancestors().find(|folder| folder.join("deps").is_dir()).expect("cargo's layout");
    profile.with_file_name("suite")
}

/// In a file of the suite: demands that it has a test of this name.
#[macro_export]
macro_rules! has_test {
    ($name:ident) => {
        const _: fn() = || {
            let _ = $name;
        };
    };
}
