//! Parking: what a connection waits for somebody with, and when it is tried again.

use jackfield_store::commit::Ground;
use jackfield_store::parked::Record;

use super::Keeper;
use super::term::{self, Term};

impl Keeper {
    /// Why it is parked, where it is and what it was parked with is still the same.
    pub(super) async fn parked(&mut self) -> Option<Record> {
        let id = &self.setup.spec.id;
        match self.setup.stores.parked.parked(id).await {
            Ok(Some(record)) if record.fingerprint == self.setup.spec.fingerprint => Some(record),
            Ok(Some(_)) => {
                tracing::info!(connection = %id, "what it was parked with has changed, trying again");
                self.unpark().await;
                None
            }
            Ok(None) => None,
            Err(error) => {
                tracing::warn!(connection = %id, %error, "read parked record failed");
                None
            }
        }
    }

    /// `Some` when told to stop meanwhile.
    pub(super) async fn park(&mut self, term: &Term, code: &str, message: String, todo: String) -> Option<()> {
        let record = Record {
            code: code.to_owned(),
            message,
            todo,
            since: self.setup.clock.now(),
            fingerprint: self.setup.spec.fingerprint.clone(),
        };
        tracing::error!(connection = %self.setup.spec.id, code, message = record.message, todo = record.todo, "parked");
        let ground = Ground { fence: term.fence(), count: 0 };
        loop {
            match self.setup.stores.parked.park(&self.setup.spec.id, record.clone(), ground).await {
                Ok(_) => return None,
                Err(error) => tracing::warn!(connection = %self.setup.spec.id, %error, "park failed, trying again"),
            }
            if self.pause(term::RETRY).await.is_some() {
                return Some(());
            }
        }
    }

    pub(super) async fn unpark(&mut self) {
        self.backoff.reset();
        if let Err(error) = self.setup.stores.parked.unpark(&self.setup.spec.id).await {
            tracing::warn!(connection = %self.setup.spec.id, %error, "unpark failed");
        }
    }
}
