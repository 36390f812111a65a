//! What runs at the moment, so that a second call under the same key can wait for the first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jackfield_model::ExecutionId;
use tokio::sync::watch;

/// Executions of one connection that have not ended.
#[derive(Clone, Default)]
pub(super) struct Running(Arc<Mutex<HashMap<ExecutionId, watch::Receiver<()>>>>);

/// An execution that has not ended, until this is dropped.
pub(super) struct Entry {
    running: Running,
    id: ExecutionId,
    /// Dropping it tells those who wait.
    _end: watch::Sender<()>,
}

impl Running {
    /// It begins.
    pub(super) fn enter(&self, id: ExecutionId) -> Entry {
        let (end, wait) = watch::channel(());
        self.lock().insert(id, wait);
        Entry { running: self.clone(), id, _end: end }
    }

    /// Waits until it has ended. `false` when it does not run here.
    pub(super) async fn ended(&self, id: ExecutionId) -> bool {
        let Some(mut wait) = self.lock().get(&id).cloned() else { return false };
        // Nothing is ever sent: it closes.
        while wait.changed().await.is_ok() {}
        true
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ExecutionId, watch::Receiver<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.running.lock().remove(&self.id);
    }
}
