//! Which code serves a connection, numbered; and the key that names of credentials are made with.
//!
//! Both stand beside what is stored under them: events, checkpoints and dead letters carry a generation's number, start budgets
//! and parked connections carry such a name. So they are as durable as these, and one copy of the store has all of it.

use std::fmt;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Digest, Generation};
use serde::Deserialize;

use crate::error::Result;

/// The newest generation of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serving {
    /// The component.
    pub digest: Digest,
    /// Its number.
    pub number: Generation,
}

/// What names of credentials are made with. A name says nothing about its credential to anybody who does not have this.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct NamingKey(pub String);

impl fmt::Debug for NamingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamingKey")
    }
}

/// Generations, and the key of names.
#[async_trait]
pub trait Generations: Send + Sync {
    /// The number of this component on this connection: its own where it is the newest there, else the next one. A number stands
    /// for one digest for ever, and is durable before it is answered.
    async fn number(&self, connection: &ConnectionId, digest: Digest) -> Result<Generation>;
    /// The newest generation of every connection that ever had one.
    async fn serving(&self) -> Result<Vec<(ConnectionId, Serving)>>;
    /// The key of this store. Where it has none yet it is this one, for good.
    async fn naming_key(&self, fresh: NamingKey) -> Result<NamingKey>;
}
