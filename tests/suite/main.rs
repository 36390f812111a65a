//! The integration suite: one binary, a file for each thing that has to hold.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "tests: nobody links this binary"
)]

mod action;
mod architecture;
mod cli;
mod contacts;
mod demo;
mod discord;
mod egress;
mod inbound;
mod kill;
mod languages;
mod load;
mod readme;
mod sandbox;
mod session;
