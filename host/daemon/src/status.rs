//! Status is evidence: timestamped facts, one state derived from them, its cause, and what to do.

use std::collections::BTreeMap;

use jackfield_model::session::Notice;
use jackfield_model::{ConnectionId, Epoch, Generation, Timestamp, Transport};
use jackfield_store::Stores;
use jackfield_store::inbox::Depth;
use jackfield_store::start::Left;
use serde::Serialize;

use crate::connection::facts::Known;
use crate::outbound::buckets::Level;
use crate::outbound::{Executor, LastAction};
use crate::spec::Spec;

/// Most rate limits that are shown of a connection: the most pressing ones.
const BUCKETS_MAX: usize = 32;

/// The one word for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Has not said that it is ready yet.
    Connecting,
    /// The connector reported its protocol up, and its socket is there.
    Ready,
    /// Up, with something wrong that the cause names.
    Degraded,
    /// Ended; the next start is waiting for a back-off or a budget.
    Waiting,
    /// Waits for somebody: `todo` says for what.
    Parked,
    /// The connector has no session to run (no `runtime`, or not configured).
    Idle,
    /// Another host has the lease.
    Standby,
    /// Stopped on purpose.
    Stopped,
}

/// Everything known about one connection.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// Its name.
    pub id: ConnectionId,
    /// The one word.
    pub state: State,
    /// Since when.
    pub since: Timestamp,
    /// Why, in one sentence.
    pub cause: String,
    /// What somebody has to do, where somebody has to.
    pub todo: Option<String>,
    /// Connector id, version and digest.
    pub connector: Connector,
    /// The grant under which its session runs.
    pub epoch: Option<Epoch>,
    /// What the connector last said of itself that an operator should know.
    pub notice: Option<Notice>,
    /// Sockets by label.
    pub sockets: BTreeMap<String, Socket>,
    /// The last thing that went wrong on the way to the platform. It stays when all is well again.
    pub last_trouble: Option<Trouble>,
    /// Last signal that the session got.
    pub last_signal: Option<Timestamp>,
    /// Last durable commit.
    pub last_commit: Option<Timestamp>,
    /// Last execution of an action that ended.
    pub last_action: Option<LastAction>,
    /// When the next start is due.
    pub next_start: Option<Timestamp>,
    /// What waits in the inbox.
    pub inbox: Depth,
    /// Dispatches received and not settled yet, in memory.
    pub unsettled: u64,
    /// Dead letters that nobody has dealt with.
    pub dead_letters: u64,
    /// Start budget, where the connector has one.
    pub starts: Option<Left>,
    /// The connector's own metadata, a JSON object.
    pub metadata: serde_json::Value,
    /// Counters since the host started.
    pub counters: Counters,
    /// What was not kept, by reason. Nothing is dropped without standing here.
    pub drops: BTreeMap<String, u64>,
    /// Ignored dispatches by the connector's reason; reasons beyond the first 32 count as `other`.
    pub ignored: BTreeMap<String, u64>,
    /// Executions of actions that ended since the host started, by outcome.
    pub actions: BTreeMap<&'static str, u64>,
    /// What is known of the platform's rate limits, most pressing first.
    pub buckets: Vec<Level>,
}

/// Which code serves a connection.
#[derive(Clone, Debug, Serialize)]
pub struct Connector {
    /// The connector's id.
    pub id: String,
    /// Its own version.
    pub version: String,
    /// Digest of its file.
    pub digest: String,
    /// Number of that digest on this connection.
    pub generation: Generation,
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// When.
    pub at: Timestamp,
    /// What, in one line, masked.
    pub what: String,
}

/// One socket.
#[derive(Clone, Debug, Serialize)]
pub struct Socket {
    /// Where it leads, without path and query.
    pub origin: String,
    /// Open, or still opening.
    pub open: bool,
    /// Since when.
    pub since: Timestamp,
    /// Last byte from the platform, pongs included.
    pub last_byte: Option<Timestamp>,
    /// The host does not read it at the moment: the inbox or the pipeline is full.
    pub held: bool,
}

/// Counters since the host started.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "each counter is named after what it counts")]
pub struct Counters {
    pub signals: u64,
    pub dispatches: u64,
    pub events: u64,
    pub duplicates: u64,
    pub ignored: u64,
    pub dead_letters: u64,
    pub conflicts: u64,
    pub commits: u64,
    pub runtime_traps: u64,
    pub transform_traps: u64,
    pub recoveries: u64,
    pub sessions: u64,
    pub sockets_opened: u64,
}

/// The host and its connections.
#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// Version of this binary.
    pub version: &'static str,
    /// Process id.
    pub pid: u32,
    /// Since when it runs.
    pub started_at: Timestamp,
    /// The engine's clock thread ticks: without it no guest call is made.
    pub engine_healthy: bool,
    /// Where the data lies.
    pub data: String,
    /// Every connection, by name.
    pub connections: Vec<Connection>,
}

/// Status of one connection: what is known of its session and its actions, and what the stores say.
pub(crate) async fn connection(stores: &Stores, spec: &Spec, known: Known, executor: Option<&Executor>) -> Connection {
    let (last_action, actions) = executor.map(Executor::known).unwrap_or_default();
    let buckets = executor.map(|executor| executor.buckets().levels(BUCKETS_MAX)).unwrap_or_default();
    let descriptor = spec.component.descriptor();
    let known = evident(known, descriptor.transports.contains(&Transport::Socket));
    let inbox = stores.inbox.depth(&spec.id).await.unwrap_or_default();
    let dead_letters = stores.dead_letters.count(Some(&spec.id)).await.unwrap_or_default();
    let starts = match spec.start_budget {
        Some(budget) => stores.starts.left(&spec.start_key, budget).await.ok(),
        None => None,
    };
    Connection {
        id: spec.id.clone(),
        state: known.state,
        since: known.since,
        cause: known.cause,
        todo: known.todo,
        connector: Connector {
            id: descriptor.id.clone(),
            version: descriptor.version.clone(),
            digest: spec.component.digest().to_string(),
            generation: spec.generation,
        },
        epoch: known.epoch,
        notice: known.notice,
        sockets: known.sockets,
        last_trouble: known.last_trouble,
        last_signal: known.last_signal,
        last_commit: known.last_commit,
        last_action,
        next_start: known.next_start,
        inbox,
        unsettled: known.unsettled,
        dead_letters,
        starts,
        metadata: serde_json::Value::Object(known.metadata),
        counters: known.counters,
        drops: known.drops,
        ignored: known.ignored,
        actions,
        buckets,
    }
}

/// A connector that says `ready` without an open socket is not believed.
fn evident(mut known: Known, needs_socket: bool) -> Known {
    if known.state == State::Ready && needs_socket && !known.sockets.values().any(|socket| socket.open) {
        known.state = State::Degraded;
        "the connector reported itself ready, but no socket is open".clone_into(&mut known.cause);
    }
    known
}
