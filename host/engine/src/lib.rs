//! Loads, limits and calls connectors, supplies their imports, and guards what leaves.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

pub mod egress;
pub mod secret;
