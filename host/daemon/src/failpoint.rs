//! Named points at which a test may end the process. In ordinary use nothing is behind them.

use std::fmt;
use std::sync::Arc;

/// Called with the name of the point that was reached.
pub type Hook = Arc<dyn Fn(&'static str) + Send + Sync>;

/// The names between a frame and its acknowledgement, in the order of the way.
pub const POINTS: [&str; 8] = [
    "frame-read",
    "call-returned",
    "submitted",
    "transformed",
    "before-commit",
    "in-transaction",
    "after-commit-before-answer",
    "settled",
];

/// A place that may have a hook.
#[derive(Clone, Default)]
pub struct Failpoint(Option<Hook>);

impl Failpoint {
    /// With this hook.
    #[must_use]
    pub fn new(hook: Option<Hook>) -> Self {
        Self(hook)
    }

    /// The point of this name is reached.
    pub fn hit(&self, name: &'static str) {
        if let Some(hook) = &self.0 {
            hook(name);
        }
    }

    /// The hook, for whoever has points of its own.
    #[must_use]
    pub fn hook(&self) -> Option<Hook> {
        self.0.clone()
    }
}

impl fmt::Debug for Failpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Failpoint(set)" } else { "Failpoint" })
    }
}
