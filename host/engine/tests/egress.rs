//! The egress gate against real sockets: what leaves, what does not, and what comes back.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "tests"
)]

#[path = "egress/address.rs"]
mod address;
#[path = "egress/closing.rs"]
mod closing;
#[path = "egress/http.rs"]
mod http;
#[path = "egress/peer.rs"]
mod peer;
#[path = "egress/secrets.rs"]
mod secrets;
#[path = "egress/socket.rs"]
mod socket;
#[path = "egress/support.rs"]
mod support;
#[path = "egress/tls.rs"]
mod tls;
