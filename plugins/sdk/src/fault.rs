//! Faults, for log lines and for the text of one's own faults. Code branches on the variant, never on this.

use std::fmt;

use crate::Fault;

impl fmt::Display for FaultText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Fault::Invalid(what) => write!(out, "invalid: {what}"),
            Fault::Denied(what) => write!(out, "denied: {what}"),
            Fault::Unavailable(Some(after)) => write!(out, "unavailable for {after} ms"),
            Fault::Unavailable(None) => out.write_str("unavailable"),
            Fault::Unknown(what) => write!(out, "outcome unknown: {what}"),
            Fault::Exhausted(what) => write!(out, "exhausted: {what}"),
            Fault::Cancelled => out.write_str("cancelled"),
        }
    }
}

/// A fault as one line; see [`Fault::text`].
#[derive(Debug)]
pub struct FaultText<'a>(&'a Fault);

impl Fault {
    /// One line for people.
    #[must_use]
    pub fn text(&self) -> FaultText<'_> {
        FaultText(self)
    }
}
