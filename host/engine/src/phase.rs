//! Which import may be called where. Deny by default: a phase that no capability names may call none.

use crate::failure::Stop;
use crate::limits::HOST_CALLS_MAX;

/// What a guest is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Being made: start functions and initialisers run.
    Instantiate,
    Describe,
    Transform,
    /// `start` and `handle`.
    Runtime,
    Checkpoint,
    /// `action.run`.
    Action,
}

impl Phase {
    fn as_str(self) -> &'static str {
        match self {
            Self::Instantiate => "initialisation",
            Self::Describe => "connector.describe",
            Self::Transform => "transform",
            Self::Runtime => "runtime",
            Self::Checkpoint => "runtime.checkpoint",
            Self::Action => "action",
        }
    }
}

/// Where an import may be called. The webhook ingress brings its phase with it.
pub(crate) type Phases = &'static [Phase];

/// In `runtime`, `webhook` and `action`.
pub(crate) const ANY_SIDE_EFFECT: Phases = &[Phase::Runtime, Phase::Action];
/// In `runtime` only.
pub(crate) const RUNTIME: Phases = &[Phase::Runtime];
/// In `webhook` and `action`.
pub(crate) const OUTBOUND: Phases = &[Phase::Action];

/// One call: what it is, and how often it has called back.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) phase: Phase,
    host_calls: u32,
}

impl Call {
    pub(crate) fn new(phase: Phase) -> Self {
        Self { phase, host_calls: 0 }
    }

    /// Lets a capability through, or names what was called where.
    pub(crate) fn admit(&mut self, import: &'static str, phases: Phases) -> Result<(), Stop> {
        self.count()?;
        if phases.contains(&self.phase) { Ok(()) } else { Err(Stop::Phase { import, phase: self.phase.as_str() }) }
    }

    /// Counts a host call that every phase may make.
    pub(crate) fn count(&mut self) -> Result<(), Stop> {
        self.host_calls += 1;
        if self.host_calls > HOST_CALLS_MAX {
            return Err(Stop::Budget { which: "host calls", limit: HOST_CALLS_MAX as usize });
        }
        Ok(())
    }
}
