//! From a caller to the platform: actions, with an answer to "did it happen?".
//!
//! Promises:
//! - Nothing is sent before the ledger has a row for it, and, where the caller gave a key, before the key is taken: both are
//!   durable first.
//! - An execution ends as one of six words. `done`, `partial`: it happened. `rejected`, `retry`, `unauthorized`: it did
//!   not. `unknown`: it may have; nobody repeats it by himself.
//! - Calls begin in the order in which they were taken, and wait in that order for a place in a bucket that the platform
//!   limits, within their time; other buckets go on. Whoever waits holds no place, so nobody waits for each other.
//! - Needs no session: it works while the connection is parked, waiting or not configured to have one.

mod arrivals;
pub mod buckets;
mod executor;
mod locks;
mod outcome;
mod passage;
mod people;
mod places;
mod policy;
pub mod registry;
pub mod request;
mod running;
mod runs;
mod tally;

pub use executor::Executor;
pub use registry::Registry;
pub use request::{ArgumentProblem, Listed, Refused, Report, Request};
pub use tally::LastAction;
