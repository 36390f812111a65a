//! Why the host did not do what was asked.

use jackfield_model::Fault;

use super::{duration, millis};
use crate::imports::types::{FaultParam, FaultResult};

impl From<Fault> for FaultResult {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Invalid(part) => Self::Invalid(part),
            Fault::Denied(grant) => Self::Denied(grant),
            Fault::Unavailable(wait) => Self::Unavailable(wait.map(millis)),
            Fault::Unknown(text) => Self::Unknown(text),
            Fault::Exhausted(limit) => Self::Exhausted(limit),
            Fault::Cancelled => Self::Cancelled,
        }
    }
}

impl<'a> From<&'a Fault> for FaultParam<'a> {
    fn from(fault: &'a Fault) -> Self {
        match fault {
            Fault::Invalid(part) => Self::Invalid(part),
            Fault::Denied(grant) => Self::Denied(grant),
            Fault::Unavailable(wait) => Self::Unavailable(wait.map(millis)),
            Fault::Unknown(text) => Self::Unknown(text),
            Fault::Exhausted(limit) => Self::Exhausted(limit),
            Fault::Cancelled => Self::Cancelled,
        }
    }
}

impl From<FaultResult> for Fault {
    fn from(fault: FaultResult) -> Self {
        match fault {
            FaultResult::Invalid(part) => Self::Invalid(part),
            FaultResult::Denied(grant) => Self::Denied(grant),
            FaultResult::Unavailable(wait) => Self::Unavailable(wait.map(duration)),
            FaultResult::Unknown(text) => Self::Unknown(text),
            FaultResult::Exhausted(limit) => Self::Exhausted(limit),
            FaultResult::Cancelled => Self::Cancelled,
        }
    }
}
