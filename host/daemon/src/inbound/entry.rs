//! A dispatch that is not settled yet, wherever it stands.

use std::sync::Arc;

use jackfield_model::{Dispatch, Monotonic};
use jackfield_store::commit::Reception;
use jackfield_store::inbox::RowId;

/// Where its bytes are.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// In memory.
    Memory(Arc<Dispatch>),
    /// In its inbox row alone.
    Stored(RowId),
}

/// How far it is on its way into the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parking {
    /// Not asked for.
    None,
    /// Waits for the next commit.
    Queued,
    /// In the commit that is under way.
    Flying,
    /// There.
    Row(RowId),
}

/// A dispatch that is not settled yet.
#[derive(Clone, Debug)]
pub(super) struct Unsettled {
    /// Its bytes.
    pub body: Body,
    /// What it weighs, in bytes.
    pub weight: usize,
    /// How it came.
    pub reception: Reception,
    /// What the session of this number wants to hear.
    pub mark: Option<(u64, String)>,
    /// How often it failed.
    pub attempts: u32,
    /// Out of its lane's order.
    pub late: bool,
    /// When this process took it up.
    pub since: Monotonic,
    /// Its inbox row.
    pub parking: Parking,
    /// `transform` has answered; it waits for its commit.
    pub answered: bool,
    /// It was in the inbox when this term began.
    pub leftover: bool,
}

impl Unsettled {
    /// Bytes that it holds in memory.
    pub(super) fn held(&self) -> usize {
        match self.body {
            Body::Memory(_) => self.weight,
            Body::Stored(_) => 0,
        }
    }

    /// Its inbox row, where it has one.
    pub(super) fn row(&self) -> Option<RowId> {
        match self.parking {
            Parking::Row(row) => Some(row),
            _ => None,
        }
    }
}
