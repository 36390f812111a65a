//! What status shows of actions: the last one, and how many ended how.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jackfield_model::action::EndingKind;
use jackfield_model::{ExecutionId, Timestamp};
use serde::Serialize;

/// An action that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastAction {
    /// When.
    pub at: Timestamp,
    /// Its row in the ledger.
    pub id: ExecutionId,
    /// Which action.
    pub action: String,
    /// How.
    pub outcome: EndingKind,
}

/// Actions of one connection since the host started.
#[derive(Default)]
pub(super) struct Tally(Mutex<(Option<LastAction>, BTreeMap<&'static str, u64>)>);

impl Tally {
    pub(super) fn ended(&self, last: LastAction) {
        let mut tally = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *tally.1.entry(last.outcome.as_str()).or_default() += 1;
        tally.0 = Some(last);
    }

    pub(super) fn known(&self) -> (Option<LastAction>, BTreeMap<&'static str, u64>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
