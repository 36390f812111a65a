//! P6: from a compiled artifact on the disk to the first event, against compiling it first.

use std::time::Duration;

use anyhow::{Result, ensure};
use jackfield_engine::Engine;
use jackfield_model::clock::{Clock as _, SystemClock};
use jackfield_model::event::Answer;

use crate::component::{Bench, engine, pool, received};
use crate::message;
use crate::spread::{Spread, median, quantile};
use crate::table::{Goal, Row, Section};

const GOAL_TIME: Goal = Goal::Within(1.0);
const GOAL_RATIO: Goal = Goal::AtLeast(100.0);

/// Loads between two compilations, and how often. A 99th percentile needs some hundred.
const LOADS: usize = 60;
/// See [`LOADS`].
const ROUNDS: usize = 7;

/// Measures it.
pub(crate) fn measure(bench: &Bench) -> Result<Section> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (cached, uncached) = (engine(Some(folder.path().to_owned()))?, engine(None)?);
    let first = |engine: &Engine| bench.runtime.block_on(first_event(engine, &bench.discord_bytes));
    // Fills the cache.
    first(&cached)?;
    let (mut loads, mut parts, mut compiles, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut round = Vec::with_capacity(LOADS);
        for _ in 0..LOADS {
            let came = first(&cached)?;
            ensure!(came.cached, "the artifact did not come from the cache");
            round.push(millis(came.loaded + came.event));
            parts.push((millis(came.loaded), millis(came.event)));
        }
        let came = first(&uncached)?;
        ensure!(!came.cached, "the artifact came from nowhere");
        let compiled = millis(came.loaded + came.event);
        compiles.push(compiled);
        ratios.push(compiled / median(&mut round));
        loads.extend(round);
    }
    let (mut loading, mut event): (Vec<f64>, Vec<f64>) = parts.into_iter().unzip();
    let (p50, p99) = (median(&mut loads), quantile(&mut loads, 0.99));
    let rows = vec![
        Row::alone("P6 cached artifact to first event, p99", p99, GOAL_TIME),
        Row::quicker(
            "P6 the same, against compiling",
            (p50, median(&mut compiles)),
            Spread::of(&mut ratios),
            GOAL_RATIO,
        ),
    ];
    let notes = vec![format!(
        "P6: median {p50:.2} ms over {} loads: {:.2} ms for `Engine::load` (hash the file, read and verify the artifact, \
         deserialise, link, describe), {:.2} ms for the first instance and its call; the component has {} bytes, its artifact {}",
        loads.len(),
        median(&mut loading),
        median(&mut event),
        bench.discord.size(),
        bench.discord.artifact_size(),
    )];
    Ok(Section { rows, notes })
}

/// How a first event came.
struct First {
    loaded: Duration,
    event: Duration,
    cached: bool,
}

async fn first_event(engine: &Engine, bytes: &[u8]) -> Result<First> {
    let (bytes, batch) = (bytes.to_vec(), [received(message::dispatch(0))]);
    let begun = SystemClock.monotonic();
    let component = engine.load(bytes).await?;
    let loaded = begun.elapsed();
    let answers = pool(&component).transform(&batch).await?;
    let event = begun.elapsed() - loaded;
    ensure!(matches!(answers.as_slice(), [Answer::Events(_)]), "no event of a message: {answers:?}");
    Ok(First { loaded, event, cached: component.cached() })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
