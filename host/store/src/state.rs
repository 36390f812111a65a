//! A small durable map, private to a connection. Read here, written by a commit: a session's under its fence, a webhook's or
//! an action's without one. Each write is whole, and of two that set the same key the one that is committed last stays:
//! whoever has to read before he writes takes a lock.

use async_trait::async_trait;
use jackfield_model::{Blob, ConnectionId};

use crate::error::Result;

/// One change of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Sets a key.
    Set {
        /// The key.
        key: String,
        /// Its value.
        value: Blob,
    },
    /// Removes a key.
    Delete {
        /// The key.
        key: String,
    },
}

impl Write {
    /// The bytes that it carries.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::Set { key, value } => key.len() + value.len(),
            Self::Delete { key } => key.len(),
        }
    }
}

/// The map, read side.
#[async_trait]
pub trait State: Send + Sync {
    /// The value of a key.
    async fn get(&self, connection: &ConnectionId, key: &str) -> Result<Option<Blob>>;
    /// Bytes of all keys and values.
    async fn size(&self, connection: &ConnectionId) -> Result<u64>;
}
