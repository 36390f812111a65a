//! P5: a fresh instance, one call, and its end; against nothing but the instance of the core module inside.

use anyhow::{Result, ensure};
use jackfield_engine::GuestLimits;
use jackfield_engine::transform::Received;
use jackfield_model::Dispatch;
use jackfield_model::event::Answer;

use crate::component::{Bench, pool_with, received};
use crate::contest::{self, Contender, SHORT};
use crate::message;
use crate::processor::thread_time;
use crate::raw::Core;
use crate::table::{Goal, Row, Section, Unit};

const GOAL: Goal = Goal::AtMost(3.0);

/// Measures it.
pub(crate) fn measure(bench: &Bench) -> Result<Section> {
    // Every call has an instance of its own.
    let limits = GuestLimits { calls_per_instance: 1, ..GuestLimits::default() };
    let pool = pool_with(&bench.discord, limits);
    let core = Core::of(&bench.discord_bytes)?;
    let message = received(message::dispatch(0));
    let unknown = received(Dispatch { kind: "NOTHING_KNOWN".to_owned(), ..message::dispatch(0) });
    ensure!(is_event(bench.runtime.block_on(pool.transform(std::slice::from_ref(&message)))?), "a message is no event");

    let mut section = Section::default();
    for (label, short, goal, one) in [
        ("P5 fresh instance, transform of a message, drop", "P5", GOAL, &message),
        ("   the same; the call is ignored by the guest", "P5, ignored", Goal::None, &unknown),
    ] {
        let batch: &[Received] = std::slice::from_ref(one);
        let other: Contender<'_> = Box::new(|instances| {
            let begun = thread_time();
            for _ in 0..instances {
                core.instantiate()?;
            }
            Ok(thread_time() - begun)
        });
        let outcome = contest::run(SHORT, bench.transform(&pool, batch), other)?;
        section.rows.push(Row::compared(label, &outcome, Unit::Time, goal));
        section.note_control(short, &outcome);
    }
    Ok(section)
}

fn is_event(answers: Vec<Answer>) -> bool {
    matches!(answers.as_slice(), [Answer::Events(events)] if events.len() == 1)
}
