//! Platform doubles: servers on loopback that behave as a chat platform does, so that tests, the demo and connector
//! authors need neither credentials nor the internet.
//!
//! A double promises three things: it speaks the platform's protocol to any client (not only to ours), it can misbehave on
//! command in the ways the platform does, and it writes down everything it did, so that a test can count what was lost,
//! doubled or reordered. It does not imitate the platform's product: what is left out is listed in the README.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

mod clock;
pub mod discord;
