//! Calls of the platform: what can be asked for, what was asked for, and how it ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::ExecutionId;
use crate::semantics::Semantics;

/// One thing that a connector can do, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionSpec {
    /// Unique within the connector: `^[a-z][a-z0-9-]*$`.
    pub name: String,
    /// One sentence for people.
    pub summary: String,
    /// JSON Schema of the arguments, as text.
    pub input_schema: String,
    /// JSON Schema of the output, as text.
    pub output_schema: String,
    /// What it says of its effects.
    pub semantics: Semantics,
    /// How long one run may take, waiting for the platform included.
    pub timeout: Duration,
    /// Standard actions that it performs, for example `message.send`.
    pub implements: Vec<String>,
    /// What the platform must have allowed the credential to do.
    pub required_scopes: Vec<String>,
    /// A JSON object, as text, for what later versions may say.
    pub annotations: String,
}

/// One run of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which action.
    pub name: String,
    /// A JSON object, as text. Valid against the action's schema.
    pub args: String,
    /// The row of the ledger.
    pub execution: ExecutionId,
    /// The caller's key.
    pub idempotency_key: Option<String>,
    /// 1 for the first time.
    pub attempt: u32,
    /// When whoever waits stops waiting.
    pub deadline: Timestamp,
    /// A JSON object, as text.
    pub annotations: String,
}

/// What an action brought about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// JSON, as text.
    pub output: String,
    /// The platform's ids of what was made, in order.
    pub provider_ids: Vec<String>,
    /// For the caller to apply; the host applies none.
    pub effects: Vec<Patch>,
}

/// One change that an outcome suggests to its caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// How.
    pub op: PatchOp,
    /// Where, in the caller's own terms.
    pub path: String,
    /// JSON, as text.
    pub value: String,
}

/// How a patch changes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each variant is the word of the contract")]
pub enum PatchOp {
    Set,
    MergeObject,
    EmitRequest,
    SearchAttributesMerge,
}

/// What else has to wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// For how long, where that is known.
    pub after: Option<Duration>,
    /// A bucket of the connector's naming, `*` for the whole connection.
    pub bucket: Option<String>,
}

/// Why an action did not do all of what was asked. Whether it happened is the first thing that a caller has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionFault {
    /// Not done, and never will be as asked.
    Rejected(String),
    /// Not done; may work later.
    Retry(Pause),
    /// Not done: the credentials are not accepted.
    Unauthorized(String),
    /// Some of it was done, and the rest was not.
    Partial(Outcome),
    /// May have been done.
    Unknown(String),
}

/// How an execution ended, for its caller and for the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Ending {
    /// Done, all of it.
    Done(Outcome),
    /// Some of it.
    Partial(Outcome),
    /// Not done, and never will be as asked.
    Rejected {
        /// Why.
        reason: String,
    },
    /// Not done; may work later.
    Retry {
        /// Why.
        reason: String,
        /// In how many milliseconds at the earliest, where that is known.
        after_ms: Option<u64>,
    },
    /// Not done: the credentials are not accepted.
    Unauthorized {
        /// Why.
        reason: String,
    },
    /// May have been done. Nobody repeats it by himself.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// The one word of an ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each variant is the ending of the same name")]
pub enum EndingKind {
    Done,
    Partial,
    Rejected,
    Retry,
    Unauthorized,
    Unknown,
}

impl EndingKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Done, Self::Partial, Self::Rejected, Self::Retry, Self::Unauthorized, Self::Unknown];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Partial => "partial",
            Self::Rejected => "rejected",
            Self::Retry => "retry",
            Self::Unauthorized => "unauthorized",
            Self::Unknown => "unknown",
        }
    }

    /// Whether it says of its own attempt that nothing was done. Of an attempt before it that says nothing.
    #[must_use]
    pub fn claims_nothing(self) -> bool {
        matches!(self, Self::Retry | Self::Unauthorized | Self::Rejected)
    }

    /// Whether it is certain that nothing was done, so that the same request may be made again.
    #[must_use]
    pub fn left_nothing(self) -> bool {
        matches!(self, Self::Retry | Self::Unauthorized)
    }
}

impl Ending {
    /// Its word.
    #[must_use]
    pub fn kind(&self) -> EndingKind {
        match self {
            Self::Done(_) => EndingKind::Done,
            Self::Partial(_) => EndingKind::Partial,
            Self::Rejected { .. } => EndingKind::Rejected,
            Self::Retry { .. } => EndingKind::Retry,
            Self::Unauthorized { .. } => EndingKind::Unauthorized,
            Self::Unknown { .. } => EndingKind::Unknown,
        }
    }

    /// What was brought about, where something is known to have been.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Done(outcome) | Self::Partial(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Why it is not done, where it is not.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Done(_) | Self::Partial(_) => None,
            Self::Rejected { reason }
            | Self::Retry { reason, .. }
            | Self::Unauthorized { reason }
            | Self::Unknown { reason } => Some(reason),
        }
    }
}
