//! The start budget as a session's calls see it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jackfield_engine::capability::session::Starts;
use jackfield_model::session::{Spend, StartBudget};
use jackfield_model::{Fault, Timestamp};
use tokio::sync::Mutex as Ordered;

/// The budget of one credential.
pub struct StartLedger {
    store: Arc<dyn jackfield_store::Starts>,
    key: String,
    budget: Option<StartBudget>,
    /// When the next start may be spent, as the last refusal said.
    refused_until: Mutex<Option<Timestamp>>,
    /// The platform's word is written before the next start is spent, in the order in which they were said.
    order: Ordered<()>,
}

impl StartLedger {
    /// The budget behind this key. Without a budget nothing is counted.
    #[must_use]
    pub fn new(store: Arc<dyn jackfield_store::Starts>, key: String, budget: Option<StartBudget>) -> Self {
        Self { store, key, budget, refused_until: Mutex::new(None), order: Ordered::new(()) }
    }

    /// The platform says what is left. Written in the background, and before anything is spent.
    pub fn platform_left(self: &Arc<Self>, remaining: u32, resets_in: Duration) {
        if self.budget.is_none() {
            return;
        }
        let ledger = self.clone();
        tokio::spawn(async move {
            let _order = ledger.order.lock().await;
            if let Err(error) = ledger.store.platform_left(&ledger.key, remaining, resets_in).await {
                tracing::warn!(%error, "write the platform's start limit failed");
            }
        });
    }

    /// When the next start may be spent, where one was refused since the last look.
    pub fn refused_until(&self) -> Option<Timestamp> {
        self.refused_until.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[async_trait]
impl Starts for StartLedger {
    async fn spend(&self) -> Result<Spend, Fault> {
        let Some(budget) = self.budget else { return Ok(Spend::Spent) };
        let _order = self.order.lock().await;
        let spend = self.store.spend(&self.key, budget).await.map_err(|error| {
            tracing::warn!(%error, "spend a start failed");
            Fault::Unavailable(None)
        })?;
        if let Spend::Refused { until } = spend {
            *self.refused_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        }
        Ok(spend)
    }
}
