//! The contract as the host sees it: the generated bindings, the names in it, and the translation into plain types.
//!
//! Payloads on their way into a guest are borrowed, never copied on the host's side. Nothing here decides anything: what
//! a guest may do is the engine's business.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

pub mod bindings;
pub mod names;
pub mod translate;

/// Interfaces that a connector exports.
pub use bindings::exports::jackfield::connector as exports;
/// Interfaces that the host supplies, and the types that all share.
pub use bindings::jackfield::connector as imports;
