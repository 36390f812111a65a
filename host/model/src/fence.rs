//! Who may write: the epoch of a grant, the token of a term, and the pair that every fenced write carries.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Number of one grant of a connection's lease. Grows with every grant; 0 marks what holds no lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Random name of one term: drawn before the first acquire, thrown away at any demotion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(pub u128);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// What a fenced write must match exactly. A write under any other pair is refused and changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fence {
    /// Number of the grant.
    pub epoch: Epoch,
    /// Name of the term.
    pub token: Token,
}
