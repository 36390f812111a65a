//! Hostile guests against the engine: each of them has a test of its name here.

mod calls;
mod memory;
mod neighbours;
mod one_processor;
mod output;
mod probes;
mod time;

use std::time::Instant;

use jackfield_engine::{CallFailure, FailureKind};
use jackfield_model::event::Answer;
use jackfield_tests::has_test;
use jackfield_tests::sandbox::{Bench, CALL, LATE, received};

use self::{calls::*, memory::*, output::*, probes::*, time::*};

jackfield_tests::foreach_sandbox!(has_test);

/// One dispatch with this payload through a pool of one.
async fn transform(bench: &Bench, text: &str) -> Result<Answer, CallFailure> {
    let answers = bench.pool().transform(&[received(text)]).await?;
    Ok(answers.into_iter().next().expect("one answer for one dispatch"))
}

/// The payload makes the guest fail in this way, no later than the deadline allows, and a fresh instance works.
async fn fails(bench: &Bench, text: &str, kind: FailureKind) -> CallFailure {
    let pool = bench.pool();
    let began = Instant::now();
    let failure = pool.transform(&[received(text)]).await.expect_err("it must not come through");
    let took = began.elapsed();
    assert_eq!(failure.kind, kind, "{failure}");
    assert!(took < CALL + LATE, "{took:?}");
    let answers = pool.transform(&[received("good")]).await.expect("a fresh instance works");
    assert!(matches!(answers.as_slice(), [Answer::Events(events)] if events.len() == 1), "{answers:?}");
    failure
}
