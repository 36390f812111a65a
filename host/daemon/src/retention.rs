//! Prunes what has outlived its use, a small step at a time.

use std::sync::Arc;
use std::time::Duration;

use jackfield_store::Retention;
use jackfield_store::retention::Policy;

/// Pause when there is nothing to prune.
const REST: Duration = Duration::from_secs(60);
/// Pause between two steps: pruning shares the writer with commits.
const STEP: Duration = Duration::from_millis(200);

/// Prunes for ever.
pub(crate) async fn run(retention: Arc<dyn Retention>, policy: Policy) {
    loop {
        let pause = match retention.prune(policy).await {
            Ok(pruned) => {
                if pruned.dead_letters > 0 {
                    tracing::warn!(count = pruned.dead_letters, "dead letters ended with their retention");
                }
                if pruned.more { STEP } else { REST }
            }
            Err(error) => {
                tracing::warn!(%error, "prune failed");
                REST
            }
        };
        tokio::time::sleep(pause).await;
    }
}
