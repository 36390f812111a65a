//! The loop of an inbound: takes entries, keeps lanes moving, keeps one commit under way, and tells the session.

mod flight;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jackfield_model::event::Answer;
use jackfield_model::limits::COMMIT_BYTES_MAX;
use jackfield_model::{Dispatch, Monotonic, Transport};
use jackfield_store::commit::{Death, Ground, Outcome, Reception, Stage};
use jackfield_store::inbox::{Row, RowId};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::batch::{Ready, Waiting};
use super::entry::{Body, Parking, Unsettled};
use super::lane::Lanes;
use super::pressure::{self, Load};
use super::progress::{Ended, Shared};
use super::settle::{Candidate, Flown};
use super::state::StateMap;
use super::transform::{Bench, Done, Item, Verdict};
use super::{Command, Entry, Setup, admit};

/// First number of what a session submits. Rows of the inbox are numbered below it: checkpoints do not cover them.
pub(super) const FIRST_SUBMITTED: u64 = 1 << 40;

/// Dispatches of one `transform` call. Larger batches no longer pay.
const BATCH_MAX: usize = 32;
/// Bytes of one `transform` call, unless one dispatch is larger.
const BATCH_BYTES_MAX: usize = 1024 * 1024;
/// What has waited for `transform` this long is written to the inbox.
const PARK_AFTER: Duration = Duration::from_secs(1);
/// How often that is looked at.
const SWEEP_EVERY: Duration = Duration::from_millis(250);
/// Pause after a commit that could not be written.
const STORE_PAUSE: Duration = Duration::from_millis(500);
/// Rows read from the inbox at once.
const ROWS_PAGE: usize = 256;

type Flight = Pin<Box<dyn Future<Output = Flown> + Send>>;

pub(super) struct Actor {
    setup: Setup,
    commands: mpsc::UnboundedReceiver<Command>,
    failures: mpsc::UnboundedReceiver<(u64, u32)>,
    bench: Bench,
    shared: Arc<Shared>,
    state: Arc<StateMap>,
    ground: Ground,
    unsettled: HashMap<u64, Unsettled>,
    /// Numbers submitted by the session and not settled.
    outstanding: BTreeSet<u64>,
    /// One above the highest number submitted.
    submitted: u64,
    /// Number for the next row of the inbox.
    next_row: u64,
    /// The newest row that was taken up.
    newest_row: RowId,
    /// Rows of what is unsettled here.
    rows: HashSet<RowId>,
    leftovers: usize,
    lanes: Lanes,
    jobs: JoinSet<Done>,
    waiting: Waiting,
    candidates: Vec<Candidate>,
    flight: Option<Flight>,
    paused_until: Option<Monotonic>,
    load: Load,
    full: bool,
    /// Rows came into the inbox by another way. They are taken up between two commits: what a commit under way parks would
    /// look like one of them.
    rows_due: bool,
}

impl Actor {
    pub(super) fn new(
        setup: Setup,
        commands: mpsc::UnboundedReceiver<Command>,
        shared: Arc<Shared>,
        state: Arc<StateMap>,
    ) -> Self {
        let (failures, failed) = mpsc::unbounded_channel();
        let bench = Bench {
            connection: setup.connection.clone(),
            pool: setup.pool.clone(),
            inbox: setup.stores.inbox.clone(),
            facts: setup.facts.clone(),
            failures,
        };
        let ground = Ground { fence: setup.fence, count: 0 };
        Self {
            setup,
            commands,
            failures: failed,
            bench,
            shared,
            state,
            ground,
            unsettled: HashMap::new(),
            outstanding: BTreeSet::new(),
            submitted: FIRST_SUBMITTED,
            next_row: 0,
            newest_row: RowId(0),
            rows: HashSet::new(),
            leftovers: 0,
            lanes: Lanes::default(),
            jobs: JoinSet::new(),
            waiting: Waiting::default(),
            candidates: Vec::new(),
            flight: None,
            paused_until: None,
            load: Load::default(),
            full: false,
            rows_due: false,
        }
    }

    pub(super) async fn run(mut self) {
        self.leftovers = self.take_rows(true).await;
        self.shared.leftovers(self.leftovers);
        self.shared.settle(Vec::new(), self.settled_below());
        let mut sweep = tokio::time::interval(SWEEP_EVERY);
        sweep.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            if self.rows_due && self.flight.is_none() {
                self.rows_due = false;
                self.take_rows(false).await;
            }
            self.start_jobs();
            self.start_flight();
            self.press();
            tokio::select! {
                biased;
                flown = flying(&mut self.flight) => {
                    if let Some(ended) = self.landed(flown) {
                        self.shared.end(ended);
                        return;
                    }
                }
                Some((number, attempts)) = self.failures.recv() => self.failed(number, attempts),
                Some(done) = self.jobs.join_next(), if !self.jobs.is_empty() => match done {
                    Ok(done) => self.done(done),
                    Err(error) => {
                        // A batch without an outcome would hold its lanes up for ever.
                        self.shared.end(Ended::Broken(format!("a transform task ended: {error}")));
                        return;
                    }
                },
                command = self.commands.recv() => match command {
                    Some(command) => self.obey(command),
                    None => return,
                },
                _ = sweep.tick() => self.sweep(),
            }
        }
    }

    fn obey(&mut self, command: Command) {
        let weight = command.weight();
        match command {
            Command::Entries { session, entries } => self.take(session, entries),
            Command::Checkpoint(candidate) => self.candidate(candidate),
            Command::Rows => self.rows_due = true,
        }
        // Counted here before it counts there no more.
        self.press();
        self.shared.looked_at(weight);
    }

    fn take(&mut self, session: u64, entries: Vec<(u64, Entry)>) {
        self.setup.failpoint.hit("submitted");
        for (number, entry) in entries {
            self.outstanding.insert(number);
            self.submitted = number + 1;
            match entry {
                Entry::Dispatch { dispatch, mark, via } => {
                    self.setup.facts.counters(|counters| counters.dispatches += 1);
                    let reception = self.reception(via);
                    self.enter(number, Arc::new(dispatch), reception, mark.map(|mark| (session, mark)));
                }
                Entry::Dead { dispatch, via, death } => {
                    let reception = self.reception(via);
                    let outcome = Outcome::Dead(death);
                    let dispatch = Arc::new(dispatch);
                    self.load.take(dispatch.weight());
                    self.waiting.push(Ready { number, dispatch, reception, late: false, outcome });
                }
                Entry::State(write) => {
                    self.load.take(write.weight());
                    self.waiting.state.push_back((number, write));
                }
            }
        }
    }

    fn reception(&self, via: Transport) -> Reception {
        Reception { at: self.setup.clock.now(), via, by: self.setup.generation }
    }

    fn enter(&mut self, number: u64, dispatch: Arc<Dispatch>, reception: Reception, mark: Option<(u64, String)>) {
        let lane: Arc<str> = dispatch.lane.as_str().into();
        let weight = dispatch.weight();
        self.load.take(weight);
        self.lanes.push(&lane, number);
        self.unsettled.insert(
            number,
            Unsettled {
                body: Body::Memory(dispatch),
                weight,
                reception,
                mark,
                attempts: 0,
                late: false,
                since: self.setup.clock.monotonic(),
                parking: Parking::None,
                answered: false,
                leftover: false,
            },
        );
    }

    /// Takes up rows that are in the inbox and not here yet. How many there were.
    async fn take_rows(&mut self, leftover: bool) -> usize {
        let mut taken = 0;
        loop {
            let page = match self.setup.stores.inbox.waiting(&self.setup.connection, self.newest_row, ROWS_PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(connection = %self.setup.connection, %error, "read inbox failed");
                    tokio::time::sleep(STORE_PAUSE).await;
                    continue;
                }
            };
            // A page may end early, by its bytes: only an empty one is the end.
            if page.is_empty() {
                return taken;
            }
            for (row, waiting) in page {
                self.newest_row = self.newest_row.max(row);
                if self.rows.insert(row) {
                    self.enter_row(row, waiting, leftover);
                    taken += 1;
                }
            }
        }
    }

    fn enter_row(&mut self, row: RowId, waiting: Row, leftover: bool) {
        let number = self.next_row;
        self.next_row += 1;
        let Row { dispatch, reception, attempts, late } = waiting;
        let weight = dispatch.weight();
        self.enter(number, dispatch, reception, None);
        self.load.stored += weight as u64;
        let spill = self.load.held > pressure::SPILL_BYTES;
        if let Some(entry) = self.unsettled.get_mut(&number) {
            entry.attempts = attempts;
            entry.late = late;
            entry.leftover = leftover;
            entry.parking = Parking::Row(row);
            if spill {
                entry.body = Body::Stored(row);
                self.load.held -= weight;
            }
        }
    }

    fn start_jobs(&mut self) {
        // What is answered waits for its commit in memory: no more of it is made than two commits take.
        while self.jobs.len() < self.setup.transforms.max(1) && self.waiting.ready_bytes < 2 * COMMIT_BYTES_MAX {
            let (mut count, mut bytes) = (0, 0);
            let unsettled = &self.unsettled;
            let mut fits = |number: u64| {
                bytes += unsettled.get(&number).map_or(0, |entry| entry.weight);
                let fits = count == 0 || (count < BATCH_MAX && bytes <= BATCH_BYTES_MAX);
                count += usize::from(fits);
                fits
            };
            let (mut lanes, mut numbers) = (Vec::new(), Vec::new());
            while let Some((lane, taken)) = self.lanes.take(&mut fits) {
                lanes.push(lane);
                numbers.extend(taken);
            }
            let items: Vec<Item> = numbers
                .into_iter()
                .filter_map(|number| {
                    let entry = self.unsettled.get(&number)?;
                    Some(Item {
                        number,
                        body: entry.body.clone(),
                        reception: entry.reception,
                        attempts: entry.attempts,
                    })
                })
                .collect();
            if items.is_empty() {
                return;
            }
            self.jobs.spawn(self.bench.clone().run(lanes, items));
        }
    }

    fn failed(&mut self, number: u64, attempts: u32) {
        let Some(entry) = self.unsettled.get_mut(&number) else { return };
        entry.attempts = attempts;
        match entry.parking {
            Parking::None => {
                entry.parking = Parking::Queued;
                self.waiting.parks.push_back(number);
            }
            Parking::Row(row) => self.waiting.attempts.push((row, attempts)),
            Parking::Queued | Parking::Flying => {}
        }
    }

    fn done(&mut self, done: Done) {
        self.setup.failpoint.hit("transformed");
        for lane in &done.lanes {
            self.lanes.done(lane);
        }
        for (number, dispatch, verdict) in done.verdicts {
            let outcome = self.outcome(verdict);
            let Some(entry) = self.unsettled.get_mut(&number) else { continue };
            entry.answered = true;
            let (reception, late) = (entry.reception, entry.late);
            self.waiting.push(Ready { number, dispatch, reception, late, outcome });
        }
    }

    fn outcome(&self, verdict: Verdict) -> Outcome {
        let death = |stage, error, attempts| Outcome::Dead(Death { stage, error, attempts, digest: self.setup.digest });
        match verdict {
            Verdict::Answer(Answer::Events(events)) if events.is_empty() => {
                self.setup.facts.ignored("no-events");
                Outcome::Ignored
            }
            Verdict::Answer(Answer::Events(events)) => match admit::events(events) {
                Ok(admitted) => Outcome::Events(admitted),
                Err(error) => death(Stage::Ingest, error.to_string(), 1),
            },
            Verdict::Answer(Answer::Ignored(reason)) => {
                self.setup.facts.ignored(&reason);
                Outcome::Ignored
            }
            Verdict::Answer(Answer::Malformed(error)) => death(Stage::Transform, format!("malformed: {error}"), 1),
            Verdict::GivenUp { error, attempts } => death(Stage::Transform, error, attempts),
        }
    }

    /// Asks for rows for what has waited too long, or for everything that waits when memory is short.
    fn sweep(&mut self) {
        let now = self.setup.clock.monotonic();
        let short = self.load.held > pressure::SPILL_BYTES;
        let mut due: Vec<u64> = self
            .unsettled
            .iter()
            .filter(|(_, entry)| entry.parking == Parking::None && !entry.answered)
            .filter(|(_, entry)| short || now.duration_since(entry.since) >= PARK_AFTER)
            .map(|(number, _)| *number)
            .collect();
        due.sort_unstable();
        for number in due {
            if let Some(entry) = self.unsettled.get_mut(&number) {
                entry.parking = Parking::Queued;
                self.waiting.parks.push_back(number);
            }
        }
        let unsettled = self.unsettled.len() as u64;
        self.setup.facts.update(|known| known.unsettled = unsettled);
    }

    fn press(&mut self) {
        self.shared.set_overload(self.load.overloads(self.setup.inbox_bytes_max));
        let presses = self.full || self.load.presses(self.shared.pressure(), self.setup.inbox_bytes_max);
        self.shared.set_pressure(presses);
    }
}

async fn flying(flight: &mut Option<Flight>) -> Flown {
    match flight {
        Some(flight) => flight.await,
        None => std::future::pending().await,
    }
}
