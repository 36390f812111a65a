//! The reading half.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use jackfield_model::Blob;
use jackfield_model::clock::Monotonic;
use jackfield_model::session::Cause;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use super::Incoming;
use super::state::{Shared, Step, broken};
use crate::egress::tally::add;

/// Time over which control frames are counted.
const CONTROL_WINDOW: Duration = Duration::from_secs(1);

/// Room beside twice the largest message in what may come without a message being whole: heads of honest fragments.
const FRAGMENT_MARGIN_BYTES: u64 = 64 * 1024;

/// The reading half of a socket.
pub struct SocketReader {
    shared: Arc<Shared>,
    /// Bytes that had come when something was last told.
    told_at: u64,
    /// Bytes that had come when the last message was whole.
    whole_at: u64,
    window: Monotonic,
    control_frames: u32,
}

impl SocketReader {
    pub(super) fn new(shared: Arc<Shared>, upgraded_at: u64) -> Self {
        let window = shared.gate.clock.monotonic();
        Self { shared, told_at: upgraded_at, whole_at: upgraded_at, window, control_frames: 0 }
    }

    /// Waits for the next thing. Nothing is lost when the future is dropped.
    ///
    /// Pings are answered here, so as long as this is called they are, even when nobody sends.
    pub async fn next(&mut self) -> Incoming {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        loop {
            // After a ping one more turn: the next step writes the answer.
            let (step, received) = self.shared.read(cx);
            match step {
                Step::Gone(end) => return Poll::Ready(end),
                Step::Nothing => return self.nothing(received),
                Step::Message(message) => match message {
                    Message::Text(text) => return Poll::Ready(self.message(received, Bytes::from(text))),
                    Message::Binary(bytes) => return Poll::Ready(self.message(received, bytes)),
                    Message::Close(frame) => return Poll::Ready(self.shared.closed_by_peer(cx, self.farewell(frame))),
                    Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {
                        if self.is_flooded() {
                            self.shared.end(broken("too many control frames in a second"));
                        }
                    }
                },
            }
        }
    }

    fn message(&mut self, received: u64, bytes: Bytes) -> Incoming {
        (self.told_at, self.whole_at) = (received, received);
        self.shared.count_received(bytes.len());
        // A copy of its own: the original shares the read buffer, and a queue of small messages would hold it many times.
        let bytes = Bytes::copy_from_slice(&bytes);
        let before = bytes.as_ptr();
        let masked = self.shared.gate.held().secrets.mask().bytes(bytes);
        if masked.as_ptr() != before {
            add(&self.shared.gate.tally.masked, 1);
        }
        Incoming::Message(Blob::from_bytes(masked))
    }

    /// No whole message is there. Something may have come nonetheless.
    fn nothing(&mut self, received: u64) -> Poll<Incoming> {
        let allowed = (self.shared.gate.ceilings.frame_bytes as u64).saturating_mul(2) + FRAGMENT_MARGIN_BYTES;
        if received.saturating_sub(self.whole_at) > allowed {
            self.shared.end(broken("fragments without end"));
        }
        if received > self.told_at {
            self.told_at = received;
            return Poll::Ready(Incoming::Activity);
        }
        Poll::Pending
    }

    fn is_flooded(&mut self) -> bool {
        let now = self.shared.gate.clock.monotonic();
        if now.saturating_duration_since(self.window) >= CONTROL_WINDOW {
            (self.window, self.control_frames) = (now, 0);
        }
        self.control_frames = self.control_frames.saturating_add(1);
        self.control_frames > self.shared.gate.ceilings.control_frames
    }

    fn farewell(&self, frame: Option<CloseFrame>) -> Cause {
        let mask = self.shared.gate.held().secrets.mask();
        match frame {
            None => Cause::Peer { code: None, reason: String::new() },
            Some(frame) => {
                Cause::Peer { code: Some(frame.code.into()), reason: mask.text(frame.reason.as_str()).into_owned() }
            }
        }
    }
}
