//! The writing half.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jackfield_model::session::Cause;
use jackfield_model::{Blob, Fault};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::state::{Shared, broken};
use crate::egress::audit::{Failure, clean};
use crate::egress::check::Rights;
use crate::egress::gate::Held;

/// How long the other side may take to answer a close frame. It has nothing else to do.
const CLOSE_TIME: Duration = Duration::from_secs(2);

/// Longest reason in a close frame, in bytes (RFC 6455 §5.5, less two for the code).
const REASON_BYTES_MAX: usize = 123;

/// The writing half of a socket.
pub struct SocketWriter {
    shared: Arc<Shared>,
}

impl SocketWriter {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Fills in the listed secrets, and waits until the message is written to the network.
    ///
    /// # Errors
    /// `Invalid` and `Denied` as `Gate::check_frame`; `Unavailable` when the socket is gone, `Unknown` when it broke
    /// meanwhile.
    pub async fn send(&mut self, message: Blob, secrets: &[String]) -> Result<(), Fault> {
        let filled = self.fill(&message, secrets).inspect_err(|fault| self.tell(fault))?;
        let bytes = filled.len();
        let frame = match message {
            Blob::Text(_) => {
                let text = Utf8Bytes::try_from(filled);
                Message::Text(text.map_err(|_| Fault::Denied("a listed secret is not text".to_owned()))?)
            }
            Blob::Binary(_) => Message::Binary(filled),
        };
        self.write(frame).await?;
        self.shared.count_sent(bytes);
        Ok(())
    }

    /// Sends a ping, to hear whether the other side lives.
    ///
    /// # Errors
    /// As `send`.
    pub async fn ping(&mut self) -> Result<(), Fault> {
        self.write(Message::Ping(Bytes::new())).await
    }

    /// Closes the socket. With a code the other side is told, and has a moment to answer; without one the connection is
    /// dropped, so that a platform session can be resumed. Reading then ends with `Cause::Ours`.
    ///
    /// # Errors
    /// `Invalid` when a code is none that may be sent (RFC 6455 §7.4): the socket is dropped all the same.
    pub async fn close(&mut self, code: Option<u16>, reason: &str) -> Result<(), Fault> {
        let Some(code) = code else {
            self.shared.end(Cause::Ours);
            return Ok(());
        };
        if !may_be_sent(code) {
            self.shared.end(Cause::Ours);
            return Err(Fault::Invalid(format!("code {code}: use 1000 to 1003, 1007 to 1014, or 3000 to 4999")));
        }
        self.shared.leave();
        let end = reason.floor_char_boundary(REASON_BYTES_MAX);
        let frame = CloseFrame { code: code.into(), reason: Utf8Bytes::from(reason.get(..end).unwrap_or_default()) };
        let goodbye = async {
            if self.write(Message::Close(Some(frame))).await.is_ok() {
                // Dropping a connection with unread bytes in it would reset it, and could take our frame along.
                poll_fn(|cx| self.shared.drain(cx)).await;
            }
        };
        // Whether or not it answered in time, it is over.
        let _ = timeout(CLOSE_TIME, goodbye).await;
        self.shared.end(Cause::Ours);
        Ok(())
    }

    fn fill(&self, message: &Blob, secrets: &[String]) -> Result<Bytes, Fault> {
        let gate = &self.shared.gate;
        let Held { policy, secrets: known } = gate.held();
        let rights = Rights { policy: &policy, secrets: &known, ceilings: &gate.ceilings };
        rights.message(&self.shared.destination, message, secrets)?.fill(&known)
    }

    async fn write(&self, frame: Message) -> Result<(), Fault> {
        let mut frame = Some(frame);
        let written = async {
            poll_fn(|cx| self.shared.write(cx, &mut frame)).await?;
            poll_fn(|cx| self.shared.flush(cx)).await
        };
        match timeout(self.shared.gate.ceilings.write_time, written).await {
            Ok(written) => written.map_err(|failure: Failure| failure.fault),
            Err(_) => {
                self.shared.end(broken("the platform does not read"));
                Err(Fault::Unknown("the platform does not read".to_owned()))
            }
        }
    }

    fn tell(&self, fault: &Fault) {
        let gate = &self.shared.gate;
        let mask = gate.held().secrets.mask();
        let mut line = gate.line("frame", &mask);
        line.origin = clean(&self.shared.destination.to_string(), &mask);
        line.failed(&Failure::from(fault.clone()));
    }
}

/// Codes that an endpoint may put into a close frame (RFC 6455 §7.4, and the IANA registry).
fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
