//! One batch: checked against the fence and the count before anything is written, then all of it.

use async_trait::async_trait;
use jackfield_model::limits::COMMIT_BYTES_MAX;
use rusqlite::Connection;

use crate::commit::{Batch, Commit, Commits, Ground, Outcome, Receipt, Settled, Stored};
use crate::error::Result;
use crate::inbox::RowId;
use crate::sqlite::connection::{self, Ledger};
use crate::sqlite::dead_letter::{self, Identity};
use crate::sqlite::dedupe::Marker;
use crate::sqlite::event::{self, Place, Written};
use crate::sqlite::job::{Pass, Weight};
use crate::sqlite::{Sqlite, inbox, state, subject};

#[async_trait]
impl Commits for Sqlite {
    async fn commit(&self, batch: Batch, ground: Option<Ground>) -> Result<Commit> {
        let prepared = Prepared::new(batch, ground);
        self.writer.run(prepared.weight(), move |pass| prepared.settle(pass)).await
    }
}

/// A batch, with everything worked out that needs no file: done by its caller, while the writer flushes.
struct Prepared {
    batch: Batch,
    ground: Option<Ground>,
    /// One per settled dispatch, one entry per event.
    written: Vec<Vec<Written>>,
    /// One per settled dispatch, of the dead ones.
    letters: Vec<Option<Identity>>,
}

impl Prepared {
    fn new(batch: Batch, ground: Option<Ground>) -> Self {
        let written = batch.settled.iter().map(|settled| events(settled).iter().map(Written::of).collect()).collect();
        let letter =
            |settled: &Settled| matches!(settled.outcome, Outcome::Dead(_)).then(|| Identity::of(&settled.dispatch));
        let letters = batch.settled.iter().map(letter).collect();
        Self { batch, ground, written, letters }
    }

    fn weight(&self) -> Weight {
        let batch = &self.batch;
        let settled = batch.settled.iter().map(|settled| match &settled.outcome {
            Outcome::Dead(_) => settled.dispatch.weight(),
            _ => events(settled).iter().map(event::weight).sum(),
        });
        let parked = batch.parked.iter().map(|row| row.dispatch.weight());
        Weight {
            // At least one: this is what a failpoint and a group's ceiling know a batch by.
            dispatches: (batch.settled.len() + batch.parked.len()).max(1),
            bytes: settled.chain(parked).sum::<usize>().min(COMMIT_BYTES_MAX),
        }
    }

    fn settle(&self, pass: &mut Pass<'_>) -> rusqlite::Result<Commit> {
        let number = match self.admit(pass)? {
            Ok(number) => number,
            Err(refused) => return Ok(refused),
        };
        let mut receipt = Receipt::default();
        receipt.events.reserve_exact(self.batch.settled.len());
        for ((settled, written), letter) in self.batch.settled.iter().zip(&self.written).zip(&self.letters) {
            // A row that is gone was settled before: its end is the marker of what leaves none.
            let first_time = end_row(pass.db, number, settled.row)?;
            if let (Outcome::Dead(death), Some(letter), true) = (&settled.outcome, letter, first_time) {
                let new = dead_letter::add(pass.db, number, settled, (death, *letter), pass.now)?;
                receipt.repeats += u32::from(!new);
            }
            receipt.events.push(self.append(pass, number, settled, written, &mut receipt.conflicts)?);
        }
        for row in &self.batch.parked {
            receipt.rows.push(inbox::add(pass.db, number, row)?);
        }
        for &(row, attempts) in &self.batch.attempts {
            inbox::count_attempts(pass.db, number, row, attempts)?;
        }
        for write in &self.batch.state {
            state::write(pass.db, number, write)?;
        }
        if self.ground.is_some() {
            connection::count_up(pass.db, number)?;
        }
        Ok(Commit::Done(receipt))
    }

    /// The connection's number, or why nothing may be written.
    fn admit(&self, pass: &Pass<'_>) -> rusqlite::Result<Result<i64, Commit>> {
        let id = &self.batch.connection;
        let Some(ground) = self.ground else { return Ok(Ok(connection::ensure(pass.db, id)?.number)) };
        let Some(ledger) = connection::find(pass.db, id)? else { return Ok(Err(Commit::Fenced)) };
        Ok(if !ledger.is_held_by(ground.fence) {
            Err(Commit::Fenced)
        } else if ledger.is_ground(ground) {
            Ok(ledger.number)
        } else if ledger.count == ground.count.saturating_add(1) && self.is_known(pass, ledger) {
            Err(Commit::Repeated)
        } else {
            Err(Commit::Gap)
        })
    }

    fn is_known(&self, pass: &Pass<'_>, ledger: Ledger) -> bool {
        let known = |marker: &Marker| pass.memory.knows(ledger.number, marker);
        self.written.iter().flatten().all(|written| known(&written.marker))
    }

    /// The events of one dispatch, those that are known left out.
    fn append(
        &self,
        pass: &mut Pass<'_>,
        number: i64,
        settled: &Settled,
        written: &[Written],
        conflicts: &mut u32,
    ) -> rusqlite::Result<Vec<Stored>> {
        let mut stored = Vec::with_capacity(written.len());
        for (admitted, written) in events(settled).iter().zip(written) {
            if pass.memory.knows(number, &written.marker) {
                stored.push(Stored::Known);
                continue;
            }
            let whom = match &admitted.event.subject {
                Some(subject) => subject::settle(pass, &self.batch, subject, settled.late)?,
                None => subject::Whom::default(),
            };
            *conflicts += u32::from(!whom.conflicts.is_empty());
            let position = pass.memory.append(number, written.marker);
            let epoch = self.ground.map_or(0, |ground| ground.fence.epoch.0);
            let place = Place { position, connection: number, epoch, stored_at: pass.now };
            event::append(pass.db, place, settled, admitted, written, &whom)?;
            stored.push(Stored::New(position));
        }
        event::keep_raw(pass.db, settled, &stored)?;
        Ok(stored)
    }
}

fn events(settled: &Settled) -> &[crate::commit::Admitted] {
    match &settled.outcome {
        Outcome::Events(events) => events,
        Outcome::Ignored | Outcome::Dead(_) => &[],
    }
}

/// `false` when there should be a row and it is gone.
fn end_row(db: &Connection, number: i64, row: Option<RowId>) -> rusqlite::Result<bool> {
    row.map_or(Ok(true), |row| inbox::remove(db, number, row))
}
