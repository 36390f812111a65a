//! One term: a token, the lease that was granted to it, and the task that keeps it.

use std::sync::Arc;
use std::time::Duration;

use jackfield_model::{ConnectionId, Fence, Timestamp, Token};
use jackfield_store::lease::{Acquire, Renew};
use jackfield_store::{Leases, StoreError};
use rand::Rng;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long a grant lasts without renewal.
const TTL: Duration = Duration::from_secs(15);
/// How often it is renewed, stretched by up to a fifth so that many do not beat together.
const RENEW: Duration = Duration::from_secs(2);
/// Pause before the lease is asked for again.
pub(super) const RETRY: Duration = Duration::from_secs(1);

/// Why there is no term.
pub(super) enum Missed {
    /// Somebody else's until then.
    Held { until: Timestamp },
    /// The store did not answer.
    Store(StoreError),
}

/// A lease that is held and kept. Dropping it stops the renewal and leaves the lease to lapse.
pub(super) struct Term {
    connection: ConnectionId,
    leases: Arc<dyn Leases>,
    fence: Fence,
    lost: watch::Receiver<bool>,
    keeping: JoinHandle<()>,
}

impl Term {
    /// Takes the lease with a token that was never used before.
    pub(super) async fn acquire(connection: &ConnectionId, leases: Arc<dyn Leases>) -> Result<Self, Missed> {
        let token = Token(rand::rng().random());
        let epoch = match leases.acquire(connection, token, TTL).await.map_err(Missed::Store)? {
            Acquire::Granted { epoch } => epoch,
            Acquire::Held { until } => return Err(Missed::Held { until }),
        };
        let fence = Fence { epoch, token };
        let (tell, lost) = watch::channel(false);
        let keeping = tokio::spawn(keep(connection.clone(), leases.clone(), fence, tell));
        Ok(Self { connection: connection.clone(), leases, fence, lost, keeping })
    }

    /// What writes are fenced with.
    pub(super) fn fence(&self) -> Fence {
        self.fence
    }

    /// Waits until the lease is somebody else's.
    pub(super) async fn lost(&self) {
        let mut lost = self.lost.clone();
        if lost.wait_for(|lost| *lost).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Gives the lease back.
    pub(super) async fn release(self) {
        self.keeping.abort();
        if let Err(error) = self.leases.release(&self.connection, self.fence).await {
            tracing::warn!(connection = %self.connection, %error, "release lease failed");
        }
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.keeping.abort();
    }
}

async fn keep(connection: ConnectionId, leases: Arc<dyn Leases>, fence: Fence, tell: watch::Sender<bool>) {
    loop {
        let stretch = 1.0 + rand::rng().random_range(0.0..0.2);
        tokio::time::sleep(RENEW.mul_f64(stretch)).await;
        match leases.renew(&connection, fence, TTL).await {
            Ok(Renew::Held) => {}
            Ok(Renew::Lost) => {
                let _ = tell.send(true);
                return;
            }
            // Unknown: the session is kept, the next try uses the same token.
            Err(error) => tracing::warn!(%connection, %error, "renew lease failed"),
        }
    }
}
