//! The open sockets of a gate: how many there may be, and which to drop when a grant goes.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use jackfield_model::session::Cause;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::state::Shared;
use crate::egress::origin::Destination;

/// A place among the open and opening sockets, free again when dropped.
pub(in crate::egress) struct Place {
    _permit: OwnedSemaphorePermit,
}

/// Every socket of one gate that is still there.
pub(in crate::egress) struct OpenSockets {
    places: Arc<Semaphore>,
    open: Mutex<Vec<Weak<Shared>>>,
}

impl OpenSockets {
    pub(in crate::egress) fn new(most: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(most)), open: Mutex::default() }
    }

    /// `None` when all are taken.
    pub(in crate::egress) fn place(&self) -> Option<Place> {
        Arc::clone(&self.places).try_acquire_owned().ok().map(|permit| Place { _permit: permit })
    }

    pub(super) fn remember(&self, shared: &Arc<Shared>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|socket| socket.strong_count() > 0);
        open.push(Arc::downgrade(shared));
    }

    /// Drops those that this refuses, for the cause that it gives. Waits for nothing.
    pub(in crate::egress) fn drop_unless(&self, allowed: impl Fn(&Destination) -> Result<(), Cause>) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for socket in open.iter().filter_map(Weak::upgrade) {
            if let Err(cause) = allowed(&socket.destination) {
                socket.end(cause);
            }
        }
    }
}
