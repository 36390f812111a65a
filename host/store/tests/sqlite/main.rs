//! The embedded backend: the conformance suites, and what is true of files and processes only.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod bed;
mod child;
mod crash;
mod disk;
mod files;
mod migration;
mod numbering;
mod submit;

use bed::Embedded;

jackfield_store::conformance!(Embedded);
