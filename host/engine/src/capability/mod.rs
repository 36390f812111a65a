//! What the host supplies: one folder for each import of the contract.
//!
//! In each, `mod.rs` says what is promised and decides, `host.rs` translates. Where an import may be called is a rule of
//! the phase (`crate::phase`); what it asks for is collected as effects and done when the call has returned.

pub(crate) mod connection;
pub mod contacts;
pub mod http;
pub(crate) mod ingest;
pub mod lease;
pub(crate) mod log;
pub mod session;
pub(crate) mod signatures;
pub mod state;

use wasmtime::component::Linker;

use crate::action::Outbound;
use crate::failure::Stop;
use crate::guest::Guest;
use crate::runtime::Host;

/// Links every import of the contract.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    connection::link(linker)?;
    contacts::link(linker)?;
    http::link(linker)?;
    ingest::link(linker)?;
    lease::link(linker)?;
    log::link(linker)?;
    session::link(linker)?;
    signatures::link(linker)?;
    state::link(linker)
}

/// What only `webhook` and `action` have.
fn outbound<'a>(outbound: Option<&'a Outbound>, import: &'static str) -> Result<&'a Outbound, Stop> {
    outbound.ok_or_else(|| Stop::misuse(import, "there is no way out behind this call"))
}

/// The connection that a call is for. Every phase that admits a capability has one.
fn host<'a>(host: Option<&'a Host>, import: &'static str) -> Result<&'a Host, Stop> {
    host.ok_or_else(|| Stop::misuse(import, "there is no connection behind this call"))
}
