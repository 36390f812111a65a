//! P1: what it costs to get a dispatch across, when the guest does nothing with it.

use anyhow::{Result, ensure};
use jackfield_model::Dispatch;
use jackfield_model::event::Answer;

use crate::byhand::ByHand;
use crate::component::{BATCH, Bench, batch, pool};
use crate::contest::{self, Contender, SHORT};
use crate::message;
use crate::processor::thread_time;
use crate::raw::Taker;
use crate::table::{Goal, Row, Section, Unit};

const GOAL: Goal = Goal::AtMost(1.5);

/// Measures it.
pub(crate) fn measure(bench: &Bench) -> Result<Section> {
    let pool = pool(&bench.idle);
    let batch = batch();
    let answers = bench.runtime.block_on(pool.transform(&batch))?;
    let dispatches: Vec<Dispatch> = (0..BATCH).map(message::dispatch).collect();
    let (mut taker, mut by_hand) = (Taker::new()?, ByHand::new(&bench.idle_bytes)?);
    let same: Vec<Answer> = by_hand.transform(&dispatches)?.into_iter().map(Answer::Ignored).collect();
    ensure!(answers == same, "the same guest answers {answers:?}, and by hand {same:?}");

    let copied: Contender<'_> = Box::new(|batches| {
        let begun = thread_time();
        for _ in 0..batches {
            taker.take(&dispatches)?;
        }
        Ok(thread_time() - begun)
    });
    let called: Contender<'_> = Box::new(|batches| {
        let begun = thread_time();
        for _ in 0..batches {
            by_hand.transform(&dispatches)?;
        }
        Ok(thread_time() - begun)
    });
    let mut section = Section::default();
    for (label, short, other) in [
        ("P1 boundary of a dispatch; raw: bytes copied, one call", "P1, bytes copied", copied),
        ("P1 boundary of a dispatch; raw: the same guest by hand", "P1, by hand", called),
    ] {
        let outcome = contest::run(SHORT, bench.transform(&pool, &batch), other)?.per(BATCH);
        section.rows.push(Row::compared(label, &outcome, Unit::Time, GOAL));
        section.note_control(short, &outcome);
    }
    Ok(section)
}
