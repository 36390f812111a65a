//! P7: from a dispatch to an event on the disk, with as much waiting as the session lets wait; against a file that the same
//! bytes are appended to. Both flush once for at most 64, and both flushes take 4 ms at least, whatever the disk.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use jackfield::connection::facts::Facts;
use jackfield::failpoint::Failpoint;
use jackfield::inbound::{Entry, Inbound, Setup};
use jackfield_engine::transform::Pool;
use jackfield_model::clock::{self, Clock as _, SystemClock};
use jackfield_model::event::Answer;
use jackfield_model::limits::COMMIT_DISPATCHES_MAX;
use jackfield_model::{ConnectionId, Digest, Dispatch, Fence, Generation, Space, Timestamp, Token};
use jackfield_store::Stores;
use jackfield_store::commit::{Admitted, Batch, Commit, Ground, Outcome, Reception, Settled};
use jackfield_store::lease::Acquire;
use jackfield_store::sqlite::{Options, Sqlite};
use tokio::runtime::Runtime;

use crate::component::{Bench, pool, received};
use crate::contest::{self, Contender, Plan};
use crate::message;
use crate::spread::Spread;
use crate::table::{Goal, Row, Section, Unit};

const GOAL: Goal = Goal::AtLeast(0.7);

/// How long a flush takes at least. Real disks flip between 0.1 and 12 ms; no ratio could be compared.
const FLUSH: Duration = Duration::from_millis(4);

/// A group of either side.
const GROUP: u64 = COMMIT_DISPATCHES_MAX as u64;

/// Dispatches that the session has under way: several groups, far from the ceiling at which it is asked to stop reading.
const WINDOW: usize = 1024;

/// Signals of one call of a session: so many are submitted at once.
const SUBMITTED_AT_ONCE: usize = 64;

/// Long enough that the groups at its ends, which may be small, do not count.
const PLAN: Plan = Plan { block: Duration::from_millis(400), rounds: 9 };

/// How many run at once in ordinary use.
const TRANSFORMS: usize = 2;

/// Measures it.
pub(crate) fn measure(bench: &Bench) -> Result<Section> {
    // As the daemon runs: its actor, its transforms and the store's own thread side by side.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).context("make a folder for the stores")?;
    let pool = Arc::new(pool(&bench.discord));
    let mut section = Section::default();

    let mut append = Append::create(&folder.path().join("appended"))?;
    let mut host = Host::start(&runtime, &folder.path().join("host"), pool.clone(), bench.discord.digest())?;
    let ours: Contender<'_> = Box::new(|groups| runtime.block_on(host.block(groups)));
    let outcome = contest::run(PLAN, ours, Box::new(|groups| append.block(groups)))?.per(GROUP);
    section.rows.push(Row::compared("P7 frame to durable event, flush 4 ms, saturated", &outcome, Unit::Rate, GOAL));
    section.note_control("P7", &outcome);
    section.notes.push(host.group_size()?);
    drop(host);

    let mut store = Store::open(&runtime, &folder.path().join("store"), pool)?;
    let ours: Contender<'_> = Box::new(|groups| runtime.block_on(store.block(groups)));
    let outcome = contest::run(PLAN, ours, Box::new(|groups| append.block(groups)))?.per(GROUP);
    section.rows.push(Row::compared("   the store alone: events to commit", &outcome, Unit::Rate, Goal::None));
    section.note_control("P7, store alone", &outcome);

    let flush = Spread::of(&mut append.flushes);
    section.notes.push(format!(
        "P7: a real flush took {:.2} ms (p10 {:.2}, p90 {:.2}); shorter ones were drawn out to {} ms on both sides",
        flush.p50,
        flush.p10,
        flush.p90,
        FLUSH.as_millis(),
    ));
    Ok(section)
}

/// The other side: a file that bytes are appended to.
struct Append {
    file: File,
    next: u64,
    /// Milliseconds that real flushes took.
    flushes: Vec<f64>,
}

impl Append {
    fn create(path: &Path) -> Result<Self> {
        let file = File::create_new(path).with_context(|| format!("make {}", path.display()))?;
        Ok(Self { file, next: 0, flushes: Vec::new() })
    }

    fn block(&mut self, groups: u32) -> Result<Duration> {
        let dispatches = take(&mut self.next, groups);
        let mut bytes = Vec::new();
        let begun = SystemClock.monotonic();
        for group in dispatches.chunks(COMMIT_DISPATCHES_MAX) {
            bytes.clear();
            for Dispatch { kind, payload, lane, context } in group {
                for part in [kind.as_bytes(), payload.bytes(), lane.as_bytes(), context.as_bytes()] {
                    bytes.extend_from_slice(part);
                }
            }
            self.file.write_all(&bytes)?;
            let flushing = SystemClock.monotonic();
            self.file.sync_data()?;
            let taken = flushing.elapsed();
            self.flushes.push(taken.as_secs_f64() * 1e3);
            thread::sleep(FLUSH.saturating_sub(taken));
        }
        Ok(begun.elapsed())
    }
}

/// The next dispatches, made before the time is taken.
fn take(next: &mut u64, groups: u32) -> Vec<Dispatch> {
    let first = *next;
    *next += u64::from(groups) * GROUP;
    (first..*next).map(message::dispatch).collect()
}

/// Our side: everything between a session and its store.
struct Host {
    inbound: Inbound,
    facts: Arc<Facts>,
    next: u64,
}

impl Host {
    fn start(runtime: &Runtime, folder: &Path, pool: Arc<Pool>, digest: Digest) -> Result<Self> {
        runtime.block_on(async {
            let (stores, connection, fence) = open(folder).await?;
            let clock = clock::system();
            let facts = Arc::new(Facts::new(clock.clone()));
            let inbound = Inbound::start(Setup {
                connection,
                space: space()?,
                namespace: NAMESPACE.to_owned(),
                stores,
                pool,
                transforms: TRANSFORMS,
                generation: GENERATION,
                digest,
                fence,
                inbox_bytes_max: u64::MAX,
                clock,
                facts: facts.clone(),
                failpoint: Failpoint::default(),
            });
            inbound.listen();
            ensure!(inbound.drained().await.is_ok(), "the inbound ended at its start");
            Ok(Self { inbound, facts, next: 0 })
        })
    }

    async fn block(&mut self, groups: u32) -> Result<Duration> {
        let mut waiting = take(&mut self.next, groups).into_iter().enumerate().peekable();
        let begun = SystemClock.monotonic();
        let mut under_way = 0;
        loop {
            while waiting.peek().is_some() && under_way + SUBMITTED_AT_ONCE <= WINDOW {
                let entries: Vec<Entry> = waiting.by_ref().take(SUBMITTED_AT_ONCE).map(submitted).collect();
                under_way += entries.len();
                self.inbound.submit(entries);
            }
            if under_way == 0 {
                return Ok(begun.elapsed());
            }
            let news = self.inbound.news().await;
            if let Some(ended) = news.ended {
                bail!("the inbound ended: {ended:?}");
            }
            under_way -= news.marks.len();
        }
    }

    /// How large the groups really were. Also makes sure that everything became an event of its own.
    fn group_size(&self) -> Result<String> {
        let counters = self.facts.known().counters;
        ensure!(counters.events == self.next, "{} events of {} messages", counters.events, self.next);
        let size = counters.events as f64 / counters.commits as f64;
        Ok(format!("P7: {} events in {} commits, {size:.1} in each", counters.events, counters.commits))
    }
}

fn submitted((n, dispatch): (usize, Dispatch)) -> Entry {
    Entry::Dispatch { dispatch, mark: Some(n.to_string()), via: message::VIA }
}

/// Our side without the way in: outcomes that are there already, committed one group after the other.
struct Store {
    stores: Stores,
    connection: ConnectionId,
    ground: Ground,
    pool: Arc<Pool>,
    next: u64,
}

impl Store {
    fn open(runtime: &Runtime, folder: &Path, pool: Arc<Pool>) -> Result<Self> {
        let (stores, connection, fence) = runtime.block_on(open(folder))?;
        Ok(Self { stores, connection, ground: Ground { fence, count: 0 }, pool, next: 0 })
    }

    async fn block(&mut self, groups: u32) -> Result<Duration> {
        let mut batches = Vec::new();
        for group in take(&mut self.next, groups).chunks(COMMIT_DISPATCHES_MAX) {
            batches.push(self.batch(group).await?);
        }
        let begun = SystemClock.monotonic();
        for batch in batches {
            let commit = self.stores.commits.commit(batch, Some(self.ground)).await?;
            ensure!(matches!(commit, Commit::Done(_)), "not committed: {commit:?}");
            self.ground.count += 1;
        }
        Ok(begun.elapsed())
    }

    async fn batch(&self, group: &[Dispatch]) -> Result<Batch> {
        let received: Vec<_> = group.iter().cloned().map(received).collect();
        let answers = self.pool.transform(&received).await?;
        let reception = Reception { at: Timestamp(message::RECEIVED_AT), via: message::VIA, by: GENERATION };
        let settled = group.iter().zip(answers).map(|(dispatch, answer)| {
            let Answer::Events(events) = answer else { bail!("no event of a message: {answer:?}") };
            let admitted = events.into_iter().map(|event| Admitted { event, sanitized: false }).collect();
            Ok(Settled {
                row: None,
                dispatch: Arc::new(dispatch.clone()),
                reception,
                transformed_by: GENERATION,
                late: false,
                outcome: Outcome::Events(admitted),
            })
        });
        Ok(Batch {
            connection: self.connection.clone(),
            space: space()?,
            namespace: NAMESPACE.to_owned(),
            settled: settled.collect::<Result<_>>()?,
            parked: Vec::new(),
            attempts: Vec::new(),
            state: Vec::new(),
        })
    }
}

const NAMESPACE: &str = "discord";
const GENERATION: Generation = Generation(1);

/// Longer than any run.
const LEASE: Duration = Duration::from_secs(24 * 60 * 60);

fn space() -> Result<Space> {
    Ok("bench".parse()?)
}

/// A new store, and a grant in it.
async fn open(folder: &Path) -> Result<(Stores, ConnectionId, Fence)> {
    let stores = Stores::of(Sqlite::open(folder, Options { flush_delay: Some(FLUSH), ..Options::default() })?);
    let (connection, token) = ("bench".parse::<ConnectionId>()?, Token(1));
    match stores.leases.acquire(&connection, token, LEASE).await? {
        Acquire::Granted { epoch } => Ok((stores, connection, Fence { epoch, token })),
        Acquire::Held { .. } => bail!("somebody else holds the lease of a store that is new"),
    }
}
