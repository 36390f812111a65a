//! What happens in a session: signals in, effects out.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::dispatch::{Blob, Dispatch};
use crate::fault::Fault;
use crate::wire::{HttpRequest, HttpResponse, SocketRequest};

/// Why `start` is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartReason {
    /// Cold: nothing is left of an earlier session.
    Fresh,
    /// Cold: the same host starts again.
    Restart,
    /// Cold: another host held the connection before.
    Takeover,
    /// Warm: new code or new configuration.
    Swap,
    /// Warm: the session was asleep.
    Wake,
    /// Warm: the previous instance was lost; the signals that it failed on follow.
    Recover,
}

/// What `start` is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartContext {
    /// Why.
    pub reason: StartReason,
    /// What the predecessor left.
    pub checkpoint: Option<Blob>,
    /// Open and opening sockets: label, and whether it is open.
    pub sockets: Vec<(String, bool)>,
    /// Timers under way: label, and the time left.
    pub timers: Vec<(String, Duration)>,
    /// Requests under way, by label.
    pub fetches: Vec<String>,
}

/// Why nothing was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartFault {
    /// Nothing to run here: not an error.
    NotConfigured(String),
    /// Trying again can't help until the operator changes something.
    Fatal(String),
    /// Trying again may help.
    Transient(String),
}

/// Why a session ended by its own word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionFault {
    /// Trying again can't help until the operator changes something.
    Fatal(String),
    /// Trying again may help.
    Transient(String),
}

/// Why a socket is not there any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The upgrade was answered with something else.
    Refused(HttpResponse),
    /// It never opened.
    Failed(Fault),
    /// The platform closed it.
    Peer {
        /// WebSocket close code, where one was sent (RFC 6455 §7.4).
        code: Option<u16>,
        /// Text of the close frame.
        reason: String,
    },
    /// It broke, or was silent for too long.
    Broken(String),
    /// Asked for by the connector.
    Ours,
}

/// Why a session is being stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is the word itself")]
pub enum StopReason {
    Shutdown,
    HandOver,
    Removed,
    Reconfigured,
    LeaseLost,
}

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A socket opened.
    Opened(String),
    /// A message arrived whole.
    Message {
        /// Socket.
        label: String,
        /// The message.
        message: Blob,
    },
    /// A socket is gone.
    Closed {
        /// Socket.
        label: String,
        /// Why.
        cause: Cause,
    },
    /// A timer is due.
    Elapsed(String),
    /// A request ended.
    Fetched {
        /// Request.
        label: String,
        /// How.
        outcome: Result<HttpResponse, Fault>,
    },
    /// Marks of dispatches that are settled.
    Committed(Vec<String>),
    /// The host has stopped reading this socket.
    Held(String),
    /// It reads again.
    Flowing(String),
    /// The last signal.
    Stopping(StopReason),
}

impl Signal {
    /// What it weighs against the limit of one call, in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::Message { message, .. } => message.len(),
            Self::Fetched { outcome: Ok(response), .. } => response.body.len(),
            Self::Committed(marks) => marks.iter().map(String::len).sum(),
            _ => 0,
        }
    }

    /// The bytes that `submit-signal` may refer to: a message, or a fetched body.
    #[must_use]
    pub fn payload(&self) -> Option<&Blob> {
        match self {
            Self::Message { message, .. } => Some(message),
            Self::Fetched { outcome: Ok(response), .. } => Some(&response.body),
            _ => None,
        }
    }
}

/// Something that an operator should know.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Notice {
    /// Stable, for example `intent-missing`.
    pub code: String,
    /// What is the case.
    pub message: String,
    /// What somebody has to do, where somebody has to.
    pub todo: Option<String>,
}

/// What a session says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// On its way.
    Connecting,
    /// The protocol is up.
    Ready,
    /// Up, with something wrong.
    Degraded(Notice),
}

/// What a guest asked for during a call. It takes effect, in order, when the call returns.
///
/// `TooLarge` stands for a submit that was refused, and so is nowhere unless the connector keeps it: it is only counted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant and field is named after the function and parameter of the contract")]
pub enum Effect {
    Submit { dispatch: Dispatch, mark: Option<String> },
    Open { label: String, request: SocketRequest },
    Send { label: String, message: Blob, secrets: Vec<String> },
    Close { label: String, code: Option<u16>, reason: String },
    SetTimer { label: String, after: Duration },
    CancelTimer { label: String },
    Fetch { label: String, request: HttpRequest },
    CancelFetch { label: String },
    Report(Condition),
    StartsLeft { remaining: u32, resets_in: Duration },
    Metadata(String),
    StateSet { key: String, value: Blob },
    StateDelete { key: String },
    TooLarge { kind: String, lane: String, bytes: usize },
}

/// A start budget as a platform counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartBudget {
    /// At most this many starts…
    pub starts: u32,
    /// … in this long.
    pub window: Duration,
}

/// Whether one more start may be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spend {
    /// Counted, for good.
    Spent,
    /// Used up until then.
    Refused {
        /// When the next start may be spent.
        until: Timestamp,
    },
}
