//! Why the host did not do what a connector asked.

use std::time::Duration;

/// A connector may act on every case; anything that it could not act on ends the call as a trap instead. The texts go to
/// the guest, so they name what to change and carry no host detail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Malformed: the same request can never work. Says which part is wrong.
    #[error("invalid: {0}")]
    Invalid(String),
    /// Not granted by the operator. Says which grant is missing.
    #[error("denied: {0}")]
    Denied(String),
    /// Not done; it may work later, after this long where known.
    #[error("unavailable{}", .0.map(|wait| format!(" for {} ms", wait.as_millis())).unwrap_or_default())]
    Unavailable(Option<Duration>),
    /// It may have been done: the answer was lost after the request had left.
    #[error("unknown: {0}")]
    Unknown(String),
    /// One of the limits of this connection is used up. Says which.
    #[error("exhausted: {0}")]
    Exhausted(String),
    /// Whoever waited for this call has given up.
    #[error("cancelled")]
    Cancelled,
}

impl Fault {
    /// A short stable word for logs and counters.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid",
            Self::Denied(_) => "denied",
            Self::Unavailable(_) => "unavailable",
            Self::Unknown(_) => "unknown",
            Self::Exhausted(_) => "exhausted",
            Self::Cancelled => "cancelled",
        }
    }
}
