//! One commit: the batch that is made of a cut, its flight, and what its receipt counts for.

use jackfield_model::ConnectionId;
use jackfield_store::checkpoint::Checkpoint;
use jackfield_store::commit::{Batch, Commit, Ground, Outcome, Receipt, Settled, Stored};
use jackfield_store::inbox::Row;
use jackfield_store::{StoreError, Stores};

use super::Setup;
use super::batch::{Cut, Ready};
use crate::status::Counters;

/// A checkpoint, and the number below which everything has to be settled before it may be stored.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Which one, counted from 1.
    pub count: u64,
    /// Everything below this number is in it.
    pub below: u64,
    /// The checkpoint.
    pub checkpoint: Checkpoint,
}

/// A commit that has ended.
pub(super) struct Flown {
    /// What it took.
    pub cut: Cut,
    /// How it ended; `None` when there was nothing to commit.
    pub commit: Option<Result<Commit, StoreError>>,
    /// The checkpoint that went along, and whether it was stored.
    pub checkpoint: Option<(Candidate, Result<bool, StoreError>)>,
}

/// The batch of a cut. `row` gives a dispatch that is to be parked.
pub(super) fn batch(
    setup: &Setup,
    cut: &Cut,
    row_of: impl Fn(u64) -> Option<jackfield_store::inbox::RowId>,
    rows: Vec<Row>,
) -> Batch {
    let settled = |ready: &Ready| Settled {
        row: row_of(ready.number),
        dispatch: ready.dispatch.clone(),
        reception: ready.reception,
        transformed_by: setup.generation,
        late: ready.late,
        outcome: ready.outcome.clone(),
    };
    Batch {
        connection: setup.connection.clone(),
        space: setup.space.clone(),
        namespace: setup.namespace.clone(),
        settled: cut.ready.iter().map(settled).collect(),
        parked: rows,
        attempts: cut.attempts.clone(),
        state: cut.state.iter().map(|(_, write)| write.clone()).collect(),
    }
}

/// Commits a batch, and stores a checkpoint along with it. The checkpoint is asked for first: it stands on the same count.
pub(super) async fn fly(
    stores: Stores,
    connection: ConnectionId,
    batch: Option<Batch>,
    cut: Cut,
    candidate: Option<Candidate>,
    ground: Ground,
) -> Flown {
    let checkpoint = async {
        let candidate = candidate?;
        let stored = stores.checkpoints.store(&connection, candidate.checkpoint.clone(), ground).await;
        Some((candidate, stored))
    };
    let commit = async { Some(stores.commits.commit(batch?, Some(ground)).await) };
    let (checkpoint, commit) = tokio::join!(biased; checkpoint, commit);
    Flown { cut, commit, checkpoint }
}

/// What a receipt adds to the counters.
pub(super) fn count(counters: &mut Counters, cut: &Cut, receipt: &Receipt) {
    counters.commits += 1;
    counters.conflicts += u64::from(receipt.conflicts);
    for stored in receipt.events.iter().flatten() {
        match stored {
            Stored::New(_) => counters.events += 1,
            Stored::Known => counters.duplicates += 1,
        }
    }
    for ready in &cut.ready {
        match &ready.outcome {
            Outcome::Dead(_) => counters.dead_letters += 1,
            Outcome::Ignored => counters.ignored += 1,
            Outcome::Events(_) => {}
        }
    }
    // Some of the dead lay there already.
    counters.dead_letters -= u64::from(receipt.repeats);
    counters.duplicates += u64::from(receipt.repeats);
}
