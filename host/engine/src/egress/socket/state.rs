//! What the two halves of a socket share: the stream, as long as it lives, and why it is gone afterwards.
//!
//! The lock is held for one poll at a time and never while anything waits, so either half, and whoever drops the socket from
//! outside, gets it at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::{SinkExt as _, StreamExt as _};
use jackfield_model::session::Cause;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::Incoming;
use super::open::Place;
use crate::egress::audit::{Failure, Stopwatch, clean};
use crate::egress::gate::Inner;
use crate::egress::origin::Destination;
use crate::egress::tally::add;
use crate::egress::wire::Wire;

/// Name of the limit on one message, as the configuration calls it.
const FRAME_LIMIT: &str = "frame";

/// One socket.
pub(super) struct Shared {
    pub(super) gate: Arc<Inner>,
    pub(super) destination: Destination,
    state: Mutex<State>,
    watch: Stopwatch,
}

struct State {
    /// Gone when the socket is.
    live: Option<Live>,
    /// Why it is gone.
    end: Option<Incoming>,
    /// The connector is closing it: what still comes is nobody's any more.
    leaving: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    sent: usize,
    received: usize,
}

struct Live {
    stream: WebSocketStream<Wire>,
    _place: Place,
}

/// One step of reading.
pub(super) enum Step {
    Message(Message),
    /// No whole frame is there.
    Nothing,
    Gone(Incoming),
}

impl Shared {
    pub(super) fn new(
        gate: &Arc<Inner>,
        destination: Destination,
        place: Place,
        stream: WebSocketStream<Wire>,
    ) -> Self {
        gate.tally.sockets.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let state = State {
            live: Some(Live { stream, _place: place }),
            end: None,
            leaving: false,
            reader: None,
            writer: None,
            sent: 0,
            received: 0,
        };
        Self { gate: Arc::clone(gate), destination, state: Mutex::new(state), watch: Stopwatch::new(&gate.clock) }
    }

    /// Reads one frame, and says how many bytes have come since the socket opened. The reader is woken when there is more.
    pub(super) fn read(&self, cx: &mut Context<'_>) -> (Step, u64) {
        let mut state = self.lock();
        state.reader = Some(cx.waker().clone());
        let leaving = state.leaving;
        let Some(live) = state.live.as_mut() else { return (Step::Gone(state.gone()), 0) };
        if leaving {
            return (Step::Nothing, 0);
        }
        let polled = live.stream.poll_next_unpin(cx);
        let received = live.stream.get_ref().received();
        let step = match polled {
            Poll::Pending => Step::Nothing,
            Poll::Ready(Some(Ok(message))) => Step::Message(message),
            Poll::Ready(Some(Err(error))) => Step::Gone(self.finish(&mut state, end_of(&error))),
            Poll::Ready(None) => Step::Gone(self.finish(&mut state, Incoming::Closed(broken("ended")))),
        };
        (step, received)
    }

    /// The other side said goodbye: the answer to that is written as far as it goes at once, then the socket is gone.
    pub(super) fn closed_by_peer(&self, cx: &mut Context<'_>, cause: Cause) -> Incoming {
        let mut state = self.lock();
        if let Some(live) = state.live.as_mut() {
            let _ = live.stream.poll_next_unpin(cx);
        }
        self.finish(&mut state, Incoming::Closed(cause))
    }

    /// Waits until nothing is left to write, then takes this frame.
    pub(super) fn write(&self, cx: &mut Context<'_>, frame: &mut Option<Message>) -> Poll<Result<(), Failure>> {
        self.writing(cx, |stream, cx| {
            futures::ready!(stream.poll_flush_unpin(cx))?;
            if let Some(message) = frame.take() {
                stream.start_send_unpin(message)?;
            }
            Poll::Ready(Ok(()))
        })
    }

    /// Waits until everything is written.
    pub(super) fn flush(&self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.writing(cx, |stream, cx| stream.poll_flush_unpin(cx))
    }

    fn writing(
        &self,
        cx: &mut Context<'_>,
        write: impl FnOnce(&mut WebSocketStream<Wire>, &mut Context<'_>) -> Poll<Result<(), Error>>,
    ) -> Poll<Result<(), Failure>> {
        let mut state = self.lock();
        state.writer = Some(cx.waker().clone());
        let Some(live) = state.live.as_mut() else {
            return Poll::Ready(Err(Failure::unavailable("the socket is closed")));
        };
        write(&mut live.stream, cx).map_err(|error| {
            self.finish(&mut state, end_of(&error));
            Failure::unknown("the socket broke", "the socket broke")
        })
    }

    /// From now on what comes is dropped.
    pub(super) fn leave(&self) {
        self.lock().leaving = true;
    }

    /// Drops what comes until the other side has answered our close frame, or is gone.
    pub(super) fn drain(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        let Some(live) = state.live.as_mut() else { return Poll::Ready(()) };
        loop {
            match futures::ready!(live.stream.poll_next_unpin(cx)) {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Poll::Ready(()),
                Some(Ok(_)) => {}
            }
        }
    }

    /// Drops the connection, without a close frame, and says why to whoever asks.
    pub(super) fn end(&self, cause: Cause) {
        let mut state = self.lock();
        self.finish(&mut state, Incoming::Closed(cause));
    }

    pub(super) fn count_sent(&self, bytes: usize) {
        self.lock().sent += bytes;
        add(&self.gate.tally.sent, bytes);
    }

    pub(super) fn count_received(&self, bytes: usize) {
        self.lock().received += bytes;
        add(&self.gate.tally.received, bytes);
    }

    /// The first end counts.
    fn finish(&self, state: &mut State, end: Incoming) -> Incoming {
        let Some(live) = state.live.take() else { return state.gone() };
        drop(live);
        self.gate.tally.sockets.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        let reason = clean(&told(&end), &self.gate.held().secrets.mask());
        tracing::info!(
            target: "jackfield::egress",
            connection = self.gate.connection.as_str(),
            what = "socket",
            origin = %self.destination,
            decision = "closed",
            reason,
            sent = state.sent,
            received = state.received,
            duration_ms = self.watch.elapsed().as_millis(),
        );
        for waker in [state.reader.take(), state.writer.take()].into_iter().flatten() {
            waker.wake();
        }
        state.end.insert(end).clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn gone(&self) -> Incoming {
        self.end.clone().unwrap_or_else(|| Incoming::Closed(broken("gone")))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.end(Cause::Ours);
    }
}

/// How an error of the stream is told. The texts are ours: nothing of the machine or the peer gets to the guest.
fn end_of(error: &Error) -> Incoming {
    Incoming::Closed(broken(match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => return Incoming::TooLarge { limit: FRAME_LIMIT },
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => "ended without a close frame",
        Error::Protocol(_) | Error::Utf8(_) => "the platform broke the WebSocket protocol",
        Error::Io(error) => match error.kind() {
            std::io::ErrorKind::ConnectionReset => "the connection was reset",
            std::io::ErrorKind::UnexpectedEof => "ended without a close frame",
            _ => "the connection broke",
        },
        _ => "the connection broke",
    }))
}

fn told(end: &Incoming) -> String {
    match end {
        Incoming::TooLarge { limit } => format!("a message over the limit `{limit}`"),
        Incoming::Closed(Cause::Peer { code, reason }) => format!("by the platform: {code:?} {reason}"),
        Incoming::Closed(Cause::Broken(reason)) => reason.clone(),
        Incoming::Closed(Cause::Failed(fault)) => fault.to_string(),
        Incoming::Closed(Cause::Refused(_) | Cause::Ours) | Incoming::Message(_) | Incoming::Activity => {
            "by the connector or the host".to_owned()
        }
    }
}

pub(super) fn broken(reason: &str) -> Cause {
    Cause::Broken(reason.to_owned())
}
