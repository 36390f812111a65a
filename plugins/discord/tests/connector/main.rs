//! The connector, natively: the state machine on a stage that records what it asks for and has a clock of its own,
//! `transform` over recorded payloads, and actions at a desk that answers from a script. No socket, no thread, no real time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod action;
mod beats;
mod budget;
mod checkpoints;
mod closes;
mod content;
mod dispatches;
mod entries;
mod fixtures;
mod gaps;
mod hostile;
mod meaning;
mod stage;
mod starts;
