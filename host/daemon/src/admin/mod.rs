//! Administration of a running host: HTTP/1.1 and JSON over a Unix socket in the data folder.
//!
//! Promised: only the user that runs the host, and root, are answered (the kernel says who it is); nobody else can even
//! open the socket, from the moment it exists. Bodies, heads, answers and connections have ceilings. What is shown of
//! payloads is redacted unless asked for raw. Not promised: a stable wire format; use the command line's JSON.

mod client;
pub(crate) mod contacts;
pub(crate) mod dead_letters;
pub(crate) mod events;
mod failure;
mod json;
pub(crate) mod parked;
mod server;
mod socket;
#[cfg(test)]
mod tests;

pub use client::{Client, ClientError};
pub use server::{Admin, serve};
pub use socket::{Bind, BindError, path};
