//! One line of the log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::log::ConnectionId;
use super::said::Said;
use super::script::LimitScope;
use super::snowflake::Id;

/// Something that happened, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Milliseconds since the double started, on a clock that never steps.
    pub at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened. Tokens are never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// The double listens.
    Listening {
        /// Base URL of the REST API.
        rest: String,
        /// URL of the gateway.
        gateway: String,
    },
    /// A WebSocket connection was opened.
    ConnectionOpened {
        /// Its number.
        connection: ConnectionId,
        /// The `Host` header of the upgrade.
        host: String,
        /// Path and query of the upgrade.
        target: String,
    },
    /// An upgrade was answered with an error status.
    UpgradeRefused {
        /// The `Host` header.
        host: String,
        /// The status.
        status: u16,
    },
    /// A WebSocket connection ended.
    ConnectionClosed {
        /// Its number.
        connection: ConnectionId,
        /// The last session that it carried.
        session: Option<Arc<str>>,
        /// Who ended it.
        by: Closer,
        /// The close code; none without a close frame, or with an empty one.
        code: Option<u16>,
    },
    /// An identify was received.
    Identify {
        /// On which connection.
        connection: ConnectionId,
        /// The intents asked for.
        intents: Option<u64>,
        /// Shard id and number of shards.
        shard: (u64, u64),
        /// What became of it.
        outcome: Outcome,
    },
    /// A resume was received.
    Resume {
        /// On which connection.
        connection: ConnectionId,
        /// The session named, as far as it has the form of one.
        session: Arc<str>,
        /// The sequence number named.
        seq: u64,
        /// What became of it.
        outcome: Outcome,
    },
    /// A heartbeat was received.
    Heartbeat {
        /// On which connection.
        connection: ConnectionId,
        /// For which session.
        session: Option<Arc<str>>,
        /// The sequence number that it carried.
        seq: Option<u64>,
        /// Whether it was acknowledged (see `withhold-acks`).
        acked: bool,
    },
    /// What becomes of a REST request was decided. What it brought about stands right before this line.
    Request {
        /// The method.
        method: String,
        /// The path without the query, which could carry anything.
        path: String,
        /// The status that was decided on, whether or not it gets to the client (see `ending`). None where the connection is
        /// closed in place of deciding anything.
        status: Option<u16>,
        /// The `Host` header.
        host: String,
        /// Whether it carried the bot's token.
        authorised: bool,
        /// Its bucket, and the channel or guild within it.
        #[serde(default)]
        bucket: String,
        /// The nonce in its body, as text. Unknown where the connection is closed before the body is read.
        #[serde(default)]
        nonce: Option<String>,
        /// The message that the answer is about: made, changed, read, or made before with the same nonce.
        #[serde(default)]
        message: Option<Id>,
        /// Whether it happened. What was read counts as well.
        #[serde(default)]
        carried_out: bool,
        /// Whose limit refused it.
        #[serde(default)]
        limit: Option<LimitScope>,
        /// Which fault it met.
        #[serde(default)]
        fault: Option<String>,
        /// What the client is sent.
        #[serde(default)]
        ending: Ending,
    },
    /// A request of the bot made a message.
    Said(Said),
    /// A dispatch came into being, whether or not a session gets it. Once for each; READY and RESUMED are left out.
    Created {
        /// Its kind (`t`).
        kind: Arc<str>,
        /// Its channel.
        channel: Option<Id>,
        /// The message it is about.
        message: Option<Id>,
    },
    /// A dispatch was written to a socket.
    Sent {
        /// On which connection.
        connection: ConnectionId,
        /// For which session.
        session: Arc<str>,
        /// Its sequence number in that session.
        seq: u64,
        /// Its kind (`t`).
        kind: Arc<str>,
        /// Its channel.
        channel: Option<Id>,
        /// The message it is about.
        message: Option<Id>,
        /// Whether this session was sent it before.
        again: bool,
    },
    /// A session can't be resumed any more.
    SessionEnded {
        /// Which.
        session: Arc<str>,
        /// Why.
        why: String,
    },
    /// The identify budget was overdrawn: every session ended, and the token is worth nothing.
    TokenReset,
    /// A step of the script, or a call on the running double, was done.
    Step {
        /// The action.
        action: String,
    },
    /// The double stopped.
    Stopped,
}

/// Who ended a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Closer {
    /// The client, with a close frame.
    Client,
    /// The double, with a close frame when there is a code, otherwise by dropping the socket.
    Double,
    /// The transport ended without a close frame from either side: the client was killed or dropped its socket.
    Transport,
}

/// What the client of a request is sent.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ending {
    /// The answer, whole and at once.
    #[default]
    Answered,
    /// Nothing: the connection is closed before the body of the request is read.
    ClosedBefore,
    /// Nothing: the connection is closed after the request was carried out.
    ClosedAfter,
    /// Half of the answer's body, then the connection is closed.
    Cut,
    /// The answer, with its body in pieces.
    Dripped,
    /// Nothing for a while or for ever; then the answer, or without one the end of the connection.
    Stalled,
}

/// What became of an identify or a resume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// A new session.
    Ready {
        /// Its id.
        session: Arc<str>,
    },
    /// The session goes on.
    Resumed {
        /// How many dispatches follow before RESUMED.
        replayed: u64,
    },
    /// Opcode 9.
    InvalidSession {
        /// Why.
        why: String,
    },
    /// The connection is closed with this code.
    Closed {
        /// The code.
        code: u16,
    },
    /// The script took over: the client gets what a step with `"on": "identify"` says.
    Scripted,
}

impl Outcome {
    /// Whether a session began or goes on.
    #[must_use]
    pub fn accepted(&self) -> bool {
        matches!(self, Self::Ready { .. } | Self::Resumed { .. })
    }
}
