//! The plain words of Jackfield: what a payload, an event, a fault or a limit is.
//!
//! Every other crate of the host speaks in these types. Nothing here knows wasmtime, a database or a socket, and
//! nothing here waits.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

pub mod action;
pub mod clock;
pub mod contact;
pub mod descriptor;
pub mod dispatch;
pub mod event;
pub mod fault;
pub mod fence;
pub mod id;
pub mod limits;
pub mod semantics;
pub mod session;
pub mod wire;

pub use clock::{Clock, Monotonic, Timestamp};
pub use dispatch::{Blob, Dispatch, Transport};
pub use event::{Event, Location, PlatformId, Recurrence, Sender, Subject};
pub use fault::Fault;
pub use fence::{Epoch, Fence, Token};
pub use id::{ConnectionId, Digest, ExecutionId, Generation, InvalidId, Space};
