//! One commit under way: what is cut for it, what its answer means, what may be stored and told then.

use jackfield_store::commit::Commit;
use jackfield_store::inbox::{Row, RowId};
use jackfield_store::{Kind, StoreError};

use super::super::batch::Cut;
use super::super::entry::{Body, Parking, Unsettled};
use super::super::pressure;
use super::super::progress::Ended;
use super::super::settle::{self, Candidate, Flown};
use super::{Actor, STORE_PAUSE};

/// Checkpoints that wait for what is before them. When there are more, the one before the newest goes.
const CANDIDATES_MAX: usize = 32;

impl Actor {
    pub(super) fn candidate(&mut self, candidate: Candidate) {
        if self.candidates.len() >= CANDIDATES_MAX {
            self.candidates.pop();
        }
        self.candidates.push(candidate);
    }

    pub(super) fn settled_below(&self) -> u64 {
        self.outstanding.first().copied().unwrap_or(self.submitted)
    }

    /// The newest checkpoint that may be stored. The ones before it are of no use any more.
    fn storable(&mut self) -> Option<Candidate> {
        let below = self.settled_below();
        let count = self.candidates.iter().take_while(|candidate| candidate.below <= below).count();
        self.candidates.drain(..count).next_back()
    }

    pub(super) fn start_flight(&mut self) {
        if self.flight.is_some() || self.paused_until.is_some_and(|until| self.setup.clock.monotonic() < until) {
            return;
        }
        self.paused_until = None;
        let unsettled = &self.unsettled;
        let cut = self.waiting.cut(|number| {
            unsettled.get(&number).filter(|entry| !entry.answered && entry.parking == Parking::Queued).map(|e| e.weight)
        });
        let candidate = self.storable();
        let empty = cut.is_empty();
        if empty && candidate.is_none() {
            return;
        }
        let rows = self.rows_of(&cut);
        let row_of = |number: u64| self.unsettled.get(&number).and_then(Unsettled::row);
        let batch = (!empty).then(|| settle::batch(&self.setup, &cut, row_of, rows));
        let (stores, connection) = (self.setup.stores.clone(), self.setup.connection.clone());
        self.flight = Some(Box::pin(settle::fly(stores, connection, batch, cut, candidate, self.ground)));
    }

    fn rows_of(&mut self, cut: &Cut) -> Vec<Row> {
        let mut rows = Vec::with_capacity(cut.parks.len());
        for number in &cut.parks {
            let Some(entry) = self.unsettled.get_mut(number) else { continue };
            // What has no row has its bytes in memory.
            let Body::Memory(dispatch) = &entry.body else { continue };
            let (dispatch, reception) = (dispatch.clone(), entry.reception);
            rows.push(Row { dispatch, reception, attempts: entry.attempts, late: entry.late });
            entry.parking = Parking::Flying;
        }
        rows
    }

    /// What a commit came to. `Some` when the term or the store is at an end.
    pub(super) fn landed(&mut self, flown: Flown) -> Option<Ended> {
        self.flight = None;
        let Flown { cut, commit, checkpoint } = flown;
        let checkpoint = match checkpoint {
            None => None,
            Some((candidate, Ok(true))) => {
                self.full = false;
                self.shared.checkpoint_stored(candidate.count);
                None
            }
            // It stands on the newest fence and count, or the term is over.
            Some((_, Ok(false))) => Some(Ended::Fenced),
            Some((candidate, Err(error))) => {
                self.candidates.insert(0, candidate);
                self.not_written(Cut::default(), &error)
            }
        };
        let commit = match commit {
            None => None,
            Some(Ok(Commit::Done(receipt))) => {
                self.ground.count += 1;
                self.full = false;
                self.setup.facts.update(|known| {
                    known.last_commit = Some(self.setup.clock.now());
                    settle::count(&mut known.counters, &cut, &receipt);
                });
                self.settle(cut, &receipt.rows);
                None
            }
            // Rows of a repeated batch have ids that are not known here; they come back as leftovers, where dedupe swallows them.
            Some(Ok(Commit::Repeated)) => {
                self.ground.count += 1;
                self.full = false;
                self.settle(cut, &[]);
                None
            }
            Some(Ok(Commit::Fenced | Commit::Gap)) => Some(Ended::Fenced),
            Some(Err(error)) => self.not_written(cut, &error),
        };
        checkpoint.or(commit)
    }

    fn not_written(&mut self, cut: Cut, error: &StoreError) -> Option<Ended> {
        if error.kind() == Kind::Broken {
            return Some(Ended::Broken(error.to_string()));
        }
        tracing::warn!(connection = %self.setup.connection, %error, "commit failed, trying again");
        self.full = true;
        self.paused_until = Some(self.setup.clock.monotonic() + STORE_PAUSE);
        for number in &cut.parks {
            if let Some(entry) = self.unsettled.get_mut(number) {
                entry.parking = Parking::Queued;
            }
        }
        self.waiting.restore(cut);
        None
    }

    fn settle(&mut self, cut: Cut, rows: &[RowId]) {
        for (number, row) in cut.parks.iter().zip(rows) {
            if let Some(entry) = self.unsettled.get_mut(number) {
                entry.parking = Parking::Row(*row);
                self.load.stored += entry.weight as u64;
                self.rows.insert(*row);
            }
        }
        for (number, write) in &cut.state {
            self.state.committed(write);
            self.load.release(write.weight(), write.weight());
            self.outstanding.remove(number);
        }
        let mut marks = Vec::new();
        for ready in &cut.ready {
            self.outstanding.remove(&ready.number);
            let Some(entry) = self.unsettled.remove(&ready.number) else {
                // It came as a dead letter, and was in no lane.
                self.load.release(ready.dispatch.weight(), ready.dispatch.weight());
                continue;
            };
            self.load.release(entry.weight, entry.held());
            if let Some(row) = entry.row() {
                self.load.stored -= entry.weight as u64;
                self.rows.remove(&row);
            }
            self.leftovers -= usize::from(entry.leftover);
            marks.extend(entry.mark);
        }
        self.setup.failpoint.hit("settled");
        self.shared.leftovers(self.leftovers);
        self.shared.settle(marks, self.settled_below());
        self.spill();
    }

    /// Lets bodies go that have a row and are not next in their lane, while memory is short.
    fn spill(&mut self) {
        if self.load.held <= pressure::SPILL_BYTES {
            return;
        }
        let behind: Vec<u64> = self.lanes.behind(pressure::RESIDENT).collect();
        for number in behind {
            if let Some(entry) = self.unsettled.get_mut(&number)
                && let (Parking::Row(row), Body::Memory(_)) = (entry.parking, &entry.body)
            {
                entry.body = Body::Stored(row);
                self.load.held -= entry.weight;
            }
        }
    }
}
