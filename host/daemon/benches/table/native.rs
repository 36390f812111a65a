//! P2: the Discord connector's `transform` in its sandbox, and the same crate linked into this program.

use std::hint::black_box;

use anyhow::{Result, ensure};
use jackfield_model::event::Answer;
use jackfield_sdk::transform::{Answer as Said, Guest as _, Received};

use crate::component::{BATCH, Bench, batch, pool};
use crate::contest::{self, Contender, SHORT};
use crate::message;
use crate::processor::thread_time;
use crate::table::{Goal, Row, Section, Unit};

const GOAL: Goal = Goal::AtMost(1.3);

/// Measures it.
pub(crate) fn measure(bench: &Bench) -> Result<Section> {
    let pool = pool(&bench.discord);
    let batch = batch();
    let answers = bench.runtime.block_on(pool.transform(&batch))?;
    ensure!(
        answers.iter().all(|answer| matches!(answer, Answer::Events(_))),
        "not all messages are events: {answers:?}"
    );

    let received: Vec<Received> = (0..BATCH).map(message::received).collect();
    let borrowed: Contender<'_> = Box::new(|batches| {
        let begun = thread_time();
        for _ in 0..batches {
            let answers: Vec<Said> = black_box(&received).iter().map(jackfield_discord::transform::answer).collect();
            black_box(answers);
        }
        Ok(thread_time() - begun)
    });
    // What the component is given, it is given for good. A native connector would need a copy for that.
    let owned: Contender<'_> = Box::new(|batches| {
        let begun = thread_time();
        for _ in 0..batches {
            black_box(jackfield_discord::Discord::transform(black_box(&received).clone()));
        }
        Ok(thread_time() - begun)
    });
    let mut section = Section::default();
    for (label, short, goal, other) in [
        ("P2 transform of a 1.5 KB message, against native", "P2", GOAL, borrowed),
        ("   the same; native with the copy it is given", "P2 with a copy", Goal::None, owned),
    ] {
        let outcome = contest::run(SHORT, bench.transform(&pool, &batch), other)?.per(BATCH);
        section.rows.push(Row::compared(label, &outcome, Unit::Time, goal));
        section.note_control(short, &outcome);
    }
    let bytes = message::dispatch(0).payload.len();
    section.notes.push(format!("P2, P3, P7: a message has {bytes} bytes; batches of {BATCH}"));
    Ok(section)
}
