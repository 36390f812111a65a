//! The Discord double, seen from outside: by a bare WebSocket client that says exactly what a test wants, and by a client
//! library that others wrote.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod actions;
mod client;
mod faults;
mod flood;
mod library;
mod library_rest;
mod limits;
mod log;
mod mishaps;
mod protocol;
mod rest;
mod resume;
mod script;
