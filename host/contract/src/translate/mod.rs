//! Contract types into plain types and back. What can't go wrong is a `From`; nothing here refuses.

mod action;
mod blob;
mod connector;
mod contacts;
mod event;
mod fault;
mod session;
mod wire;

use std::time::Duration;

pub use action::ActionCall;
pub use contacts::reference;
pub use event::{Lent, lent};
pub use session::{Signals, StartContext};

/// A duration as the contract has it, in whole milliseconds. Longer than 49 days becomes 49 days.
#[must_use]
pub fn millis(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis()).unwrap_or(u32::MAX)
}

/// A duration of the contract.
#[must_use]
pub fn duration(millis: u32) -> Duration {
    Duration::from_millis(millis.into())
}
