//! Connections that wait for somebody: no host starts them again until what they wait for changed.

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::commit::Ground;
use crate::error::Result;

/// Why a connection is parked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Stable word, for example `fatal` or `frame-limit`.
    pub code: String,
    /// What is the case.
    pub message: String,
    /// What somebody has to do.
    pub todo: String,
    /// Since when.
    pub since: Timestamp,
    /// Fingerprint of what it was parked with (component, configuration, secrets). When that differs it is tried again.
    pub fingerprint: String,
}

/// Parked connections.
#[async_trait]
pub trait Parked: Send + Sync {
    /// Parks a connection. `false` when the ground's fence is not the newest (its count does not matter here).
    async fn park(&self, connection: &ConnectionId, record: Record, ground: Ground) -> Result<bool>;
    /// Why it is parked, where it is.
    async fn parked(&self, connection: &ConnectionId) -> Result<Option<Record>>;
    /// Lets it start again. `false` when it was not parked.
    async fn unpark(&self, connection: &ConnectionId) -> Result<bool>;
}
