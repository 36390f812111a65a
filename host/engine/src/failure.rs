//! How a call into a guest fails, for the host; and what stops a guest, inside.

use std::time::Duration;

use jackfield_model::Fault;
use wasmtime::{PoolConcurrencyLimitError, Trap};

/// What a caller branches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The guest is broken: it trapped, called what it may not call, or answered nonsense.
    Trap,
    /// It was still running or waiting when its time was over.
    Deadline,
    /// It wanted more memory than it has.
    Memory,
    /// It used up something else that is counted.
    Budget {
        /// What: a short stable word.
        which: &'static str,
    },
    /// Nothing was called: no instance is free, this one is gone, or the engine is not healthy.
    Refused,
    /// The host's own code panicked while serving the guest.
    Host,
}

impl FailureKind {
    /// A short stable word for logs and counters.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Deadline => "deadline",
            Self::Memory => "memory",
            Self::Budget { .. } => "budget",
            Self::Refused => "refused",
            Self::Host => "host",
        }
    }
}

/// A call that did not return. Nothing that it asked for took effect, but for what takes effect at once. The instance is
/// gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{export}` failed ({}): {message}", .kind.as_str())]
pub struct CallFailure {
    /// What to branch on.
    pub kind: FailureKind,
    /// Which export, for example `runtime.handle`; `instantiate` before any.
    pub export: &'static str,
    /// For the log: the reason, and what the guest last wrote to stderr. Masked, without control characters.
    pub message: String,
}

impl CallFailure {
    pub(crate) fn refused(export: &'static str, message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Refused, export, message: message.into() }
    }

    pub(crate) fn trap(export: &'static str, message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Trap, export, message: message.into() }
    }
}

/// Why the host stops a guest: it travels as the trap's cause.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Stop {
    #[error("still running after {} ms", .0.as_millis())]
    Deadline(Duration),
    #[error("computed for more than {} ms", .0.as_millis())]
    Busy(Duration),
    #[error("used up its {which}: at most {limit} in one call")]
    Budget { which: &'static str, limit: usize },
    #[error("`{import}` can't be called in {phase}")]
    Phase { import: &'static str, phase: &'static str },
    #[error("exited with status {0}: a connector never exits")]
    Exit(u8),
    #[error("`{import}`: {reason}")]
    Misuse { import: &'static str, reason: String },
}

impl Stop {
    /// A mistake that the guest is not told as a variant: the function has no result, or the guest could not act on it.
    pub(crate) fn misuse(import: &'static str, reason: impl Into<String>) -> Self {
        Self::Misuse { import, reason: reason.into() }
    }
}

/// Two roads out of a host function: a fault that the guest reads, or the end of the call.
#[derive(Debug)]
pub(crate) enum Refusal {
    Fault(Fault),
    Stop(Stop),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// What generated code wants: a trap outside, the guest's own result inside.
pub(crate) fn two_roads<T, U: From<T>, F: From<Fault>>(outcome: Result<T, Refusal>) -> wasmtime::Result<Result<U, F>> {
    match outcome {
        Ok(value) => Ok(Ok(value.into())),
        Err(Refusal::Fault(fault)) => Ok(Err(fault.into())),
        Err(Refusal::Stop(stop)) => Err(stop.into()),
    }
}

/// Reads the kind from what wasmtime gives back.
pub(crate) fn kind_of(error: &wasmtime::Error, memory_refused: bool) -> FailureKind {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return match stop {
            Stop::Deadline(_) | Stop::Busy(_) => FailureKind::Deadline,
            Stop::Budget { which, .. } => FailureKind::Budget { which },
            Stop::Phase { .. } | Stop::Exit(_) | Stop::Misuse { .. } => FailureKind::Trap,
        };
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return FailureKind::Refused;
    }
    if error.downcast_ref::<Trap>() == Some(&Trap::Interrupt) {
        return FailureKind::Deadline;
    }
    // wasmtime has no type for this one; a test holds the text.
    if error.root_cause().to_string().contains("fuel allocated for hostcalls") {
        return FailureKind::Budget { which: "transfer" };
    }
    // An allocator that got no memory traps in its own way, or the guest runs into what it did not get.
    if memory_refused { FailureKind::Memory } else { FailureKind::Trap }
}
