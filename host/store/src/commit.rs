//! The only way in: one batch of one connection, settled in one transaction, under the fence where a session sends it.

use std::sync::Arc;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Digest, Dispatch, Event, Fence, Generation, Space, Timestamp, Transport};

use crate::error::Result;
use crate::inbox::{Row, RowId};
use crate::state::Write;

/// How a dispatch came to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// When it was first stored or first seen; kept over attempts and redrives.
    pub at: Timestamp,
    /// How.
    pub via: Transport,
    /// The generation that submitted it.
    pub by: Generation,
}

/// How a dispatch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What it means. Markers that are there already are skipped, event by event.
    Events(Vec<Admitted>),
    /// Of no interest. Nothing is written but the end of its inbox row.
    Ignored,
    /// It goes to the dead letters. Where it lies there already, its letter counts one more.
    Dead(Death),
}

/// An event that passed the checks of ingest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The event.
    pub event: Event,
    /// Characters that no store takes were replaced; the raw payload is kept beside it.
    pub sanitized: bool,
}

/// Why a dispatch is a dead letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// Where it died: `transform`, `ingest` or `runtime`.
    pub stage: Stage,
    /// What was said, without secrets.
    pub error: String,
    /// How often it was tried.
    pub attempts: u32,
    /// The component that tried.
    pub digest: Digest,
}

/// Where a dispatch died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The guest's `transform` trapped, timed out or said `malformed`.
    Transform,
    /// What it returned can't be stored: too deep, too large, no JSON.
    Ingest,
    /// The session's `handle` failed on it.
    Runtime,
}

/// One dispatch, and how it ended.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Its inbox row, which ends with this commit.
    pub row: Option<RowId>,
    /// The dispatch.
    pub dispatch: Arc<Dispatch>,
    /// How it came.
    pub reception: Reception,
    /// The generation that transformed it.
    pub transformed_by: Generation,
    /// Out of its lane's order: a redrive, or left over from another term.
    pub late: bool,
    /// How it ended.
    pub outcome: Outcome,
}

/// What is committed together. At most 64 settled dispatches or 1 MiB (see `jackfield_model::limits`), unless one is larger.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Whose.
    pub connection: ConnectionId,
    /// Where its contacts live.
    pub space: Space,
    /// The connector's id: stamped on subjects' platform ids.
    pub namespace: String,
    /// In order.
    pub settled: Vec<Settled>,
    /// Inbox rows to write: dispatches that could not be settled yet.
    pub parked: Vec<Row>,
    /// Attempts to remember for rows that are there.
    pub attempts: Vec<(RowId, u32)>,
    /// Changes of the connection's map, in order.
    pub state: Vec<Write>,
}

/// The grant under which a batch is written, and the count it builds on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    /// The fence; exactly this pair must be the newest.
    pub fence: Fence,
    /// How many batches were committed under this fence before.
    pub count: u64,
}

/// What became of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Appended at this position.
    New(u64),
    /// Known already: nothing was written.
    Known,
}

/// What a commit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// One list per settled dispatch, one entry per event; empty lists for the others.
    pub events: Vec<Vec<Stored>>,
    /// Ids of the inbox rows written, in the order of `parked`.
    pub rows: Vec<RowId>,
    /// Subjects whose keys point to different contacts. The events keep the strongest; nothing was merged.
    pub conflicts: u32,
    /// Dead ones that lay in the dead letters already.
    pub repeats: u32,
}

/// How a commit ended. Only `Done` and `Repeated` count as committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commit {
    /// Durable. The next batch builds on count + 1.
    Done(Receipt),
    /// This very batch was committed before and its answer was lost. The next batch builds on count + 1.
    Repeated,
    /// Not the newest grant: nothing was written, the term is over.
    Fenced,
    /// The count is not the one it builds on: nothing was written, the term is over.
    Gap,
}

/// The only way in.
#[async_trait]
pub trait Commits: Send + Sync {
    /// Settles a batch: events (each unless its marker is there), markers, contacts, dead letters, inbox rows and state, or
    /// nothing of it. Returns when it is durable. Batches of one connection go one at a time; batches of several
    /// connections share a flush.
    ///
    /// Without `ground` (webhooks, actions, redrives without a session) the batch is unbound: whole and durable as any other,
    /// but with epoch 0, in no order with a session's batches, and without a count: nothing recognises it when it is sent
    /// again, except its events by their markers. It moves no count, so the session does not notice it. Of two that set
    /// the same key of the map the one that is committed last stays.
    async fn commit(&self, batch: Batch, ground: Option<Ground>) -> Result<Commit>;
}
