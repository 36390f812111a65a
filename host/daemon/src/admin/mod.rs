//! Administration of a running host: HTTP/1.1 and JSON over a Unix socket in the data folder.
//!
//! Promised: only the user that runs the host, and root, are answered (the kernel says who it is); nobody else can even
//! open the socket, from the moment it exists. Bodies, heads, answers and connections have ceilings. What is shown of
//! payloads is redacted unless asked for raw. Who hangs up while an action runs has left, and the action is cancelled.
//! Not promised: a stable wire format; use the command line's JSON.

pub(crate) mod actions;
mod client;
pub(crate) mod contacts;
pub(crate) mod dead_letters;
pub(crate) mod events;
pub(crate) mod executions;
mod failure;
mod json;
pub(crate) mod parked;
mod peer;
mod server;
mod socket;
#[cfg(test)]
mod tests;
pub(crate) mod trace;

pub use client::{Client, ClientError};
pub use failure::{Class, Refusal};
pub use server::{Admin, serve};
pub use socket::{Bind, BindError, path};
