//! The session's map as its calls see it: what is stored, under what was written and is still on its way to the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jackfield_engine::capability::state::Map;
use jackfield_model::{Blob, ConnectionId, Fault};
use jackfield_store::state::Write;
use jackfield_store::{State, StoreError};

/// Writes that are not committed yet, by key, each with the number of times it is under way.
#[derive(Default)]
struct Overlay {
    pending: BTreeMap<String, (usize, Option<Blob>)>,
}

/// The map of one connection.
pub struct StateMap {
    connection: ConnectionId,
    store: Arc<dyn State>,
    overlay: Mutex<Overlay>,
}

impl StateMap {
    /// The map as it is stored, with nothing on its way.
    pub(crate) fn new(connection: ConnectionId, store: Arc<dyn State>) -> Self {
        Self { connection, store, overlay: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Overlay> {
        self.overlay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unavailable(&self, error: &StoreError) -> Fault {
        tracing::warn!(connection = %self.connection, %error, "read state failed");
        Fault::Unavailable(None)
    }

    /// A call asked for this; from now on calls see it.
    pub(super) fn overlay(&self, write: &Write) {
        let (key, value) = match write {
            Write::Set { key, value } => (key, Some(value.clone())),
            Write::Delete { key } => (key, None),
        };
        let mut overlay = self.lock();
        let slot = overlay.pending.entry(key.clone()).or_insert((0, None));
        *slot = (slot.0 + 1, value);
    }

    /// It is durable: the store has it now.
    pub(super) fn committed(&self, write: &Write) {
        let (Write::Set { key, .. } | Write::Delete { key }) = write;
        let mut overlay = self.lock();
        if let Some(slot) = overlay.pending.get_mut(key) {
            slot.0 -= 1;
            if slot.0 == 0 {
                overlay.pending.remove(key);
            }
        }
    }
}

#[async_trait]
impl Map for StateMap {
    async fn get(&self, key: &str) -> Result<Option<Blob>, Fault> {
        if let Some((_, value)) = self.lock().pending.get(key) {
            return Ok(value.clone());
        }
        self.store.get(&self.connection, key).await.map_err(|error| self.unavailable(&error))
    }

    async fn size(&self) -> Result<u64, Fault> {
        let pending: Vec<(String, Option<u64>)> = {
            let weigh =
                |key: &String, value: &Option<Blob>| (key.clone(), value.as_ref().map(|value| weight(key, value)));
            self.lock().pending.iter().map(|(key, (_, value))| weigh(key, value)).collect()
        };
        let mut size = self.store.size(&self.connection).await.map_err(|error| self.unavailable(&error))?;
        for (key, now) in pending {
            let stored = self.store.get(&self.connection, &key).await.map_err(|error| self.unavailable(&error))?;
            size = size.saturating_sub(stored.map_or(0, |value| weight(&key, &value))).saturating_add(now.unwrap_or(0));
        }
        Ok(size)
    }
}

/// What a key and its value count for.
fn weight(key: &str, value: &Blob) -> u64 {
    (key.len() + value.len()) as u64
}
