//! An open WebSocket: messages in and out, each masked or filled on its way.
//!
//! Promised: one half never waits for the other; pings are answered as long as somebody reads; a message over the limit ends
//! the socket by name instead of filling memory; so do fragments without end and floods of control frames. Extensions are
//! off, so nothing is decompressed. Not promised: that silence is noticed. `Incoming::Activity` says when something came,
//! and whoever reads keeps the time.

mod open;
mod reader;
mod state;
mod writer;

use std::sync::Arc;

use bytes::Bytes;
use jackfield_model::Blob;
use jackfield_model::session::Cause;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

pub(super) use self::open::{OpenSockets, Place};
pub use self::reader::SocketReader;
use self::state::Shared;
pub use self::writer::SocketWriter;
use super::audit::Failure;
use super::ceilings::Ceilings;
use super::gate::Inner;
use super::origin::Destination;
use super::wire::Wire;

/// What is read at once. Every open socket holds this much, so it is small: most messages are.
const READ_BYTES: usize = 8 * 1024;

/// Room beside the largest message in what waits to be written: frame heads, pongs, filled-in secrets.
const WRITE_MARGIN_BYTES: usize = 256 * 1024;

/// An open socket. It is dropped, without a close frame, with the last of its halves.
pub struct Socket {
    writer: SocketWriter,
    reader: SocketReader,
}

/// What came over a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A whole message, masked.
    Message(Blob),
    /// Something came, but no whole message: the other side lives.
    Activity,
    /// It is gone. Said again each time one asks.
    Closed(Cause),
    /// A message over a limit was coming. It is gone, like a closed one; opening it again would only fetch it again.
    TooLarge {
        /// The limit's name.
        limit: &'static str,
    },
}

impl Socket {
    /// The two halves.
    #[must_use]
    pub fn split(self) -> (SocketWriter, SocketReader) {
        (self.writer, self.reader)
    }
}

/// Begins to speak WebSocket on an upgraded connection. `early` came with the answer to the upgrade.
pub(super) async fn begin(
    gate: &Arc<Inner>,
    destination: Destination,
    place: Place,
    wire: Wire,
    early: Bytes,
) -> Result<Socket, Failure> {
    // What the upgrade itself took is no sign of life; what came behind it in the same breath is.
    let upgraded_at = wire.received().saturating_sub(early.len() as u64);
    let stream =
        WebSocketStream::from_partially_read(wire, early.to_vec(), Role::Client, Some(config(&gate.ceilings))).await;
    let shared = Arc::new(Shared::new(gate, destination, place, stream));
    gate.sockets.remember(&shared);
    // The grant may have gone while the socket was opening.
    if let Err(fault) = gate.held().policy.route(&shared.destination) {
        shared.end(Cause::Failed(fault.clone()));
        return Err(fault.into());
    }
    Ok(Socket { writer: SocketWriter::new(Arc::clone(&shared)), reader: SocketReader::new(shared, upgraded_at) })
}

fn config(ceilings: &Ceilings) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(ceilings.frame_bytes.saturating_mul(2).saturating_add(WRITE_MARGIN_BYTES))
        .max_message_size(Some(ceilings.frame_bytes))
        .max_frame_size(Some(ceilings.frame_bytes))
}
