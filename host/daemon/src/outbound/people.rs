//! Looking up people for an action: those of the connection's own space.

use async_trait::async_trait;
use jackfield_engine::capability::contacts::Directory;
use jackfield_model::contact::{Reference, Resolution};
use jackfield_model::{Fault, Space};
use jackfield_store::Contacts;
use std::sync::Arc;

/// The people of one space.
pub(super) struct People {
    pub(super) space: Space,
    pub(super) store: Arc<dyn Contacts>,
}

#[async_trait]
impl Directory for People {
    async fn resolve(&self, reference: &Reference) -> Result<Resolution, Fault> {
        self.store.resolve(&self.space, reference).await.map_err(|error| {
            tracing::warn!(space = %self.space, %error, "look up a contact failed");
            Fault::Unavailable(None)
        })
    }
}
