//! Two contenders side by side: short blocks in turn on one processor, and each of them against itself as a control.
//!
//! Promises a median ratio with its spread, and says when a run proves nothing. It promises nothing about absolute times:
//! the machine may be shared, so those only mean something next to each other.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::spread::{Spread, median};

/// How far a contender may be from itself before the run is void.
const CONTROL_MAX: f64 = 0.03;

/// How often a void run is repeated.
const RUNS_MAX: usize = 5;

/// Ends the search for a block's length: a contender this quick is one that the compiler has removed.
const UNITS_MAX: u32 = 1 << 26;

/// Something to measure: does this many units of work and says what they cost together.
pub(crate) type Contender<'a> = Box<dyn FnMut(u32) -> Result<Duration> + 'a>;

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Shortest block. Long enough for the clock, short enough that both sides meet the same weather.
    pub(crate) block: Duration,
    /// Rounds of a run; each has two blocks of either contender.
    pub(crate) rounds: usize,
}

/// For work of microseconds.
pub(crate) const SHORT: Plan = Plan { block: Duration::from_millis(8), rounds: 41 };

/// What came of it. Costs are nanoseconds a unit.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// Median cost of ours.
    pub(crate) ours: f64,
    /// Median cost of the other.
    pub(crate) other: f64,
    /// Ours over other, over the rounds.
    pub(crate) ratio: Spread,
    /// How far the contender that was further from itself was, as a share.
    pub(crate) control: f64,
    /// Runs that it took; all but the last were void.
    pub(crate) runs: usize,
}

impl Outcome {
    /// Whether it proves nothing.
    pub(crate) fn is_void(&self) -> bool {
        self.control > CONTROL_MAX
    }

    /// With costs for one of so many parts of a unit.
    pub(crate) fn per(mut self, parts: u64) -> Self {
        self.ours /= parts as f64;
        self.other /= parts as f64;
        self
    }
}

/// Runs both until a run counts, at most [`RUNS_MAX`] times; then the last one stands, void.
pub(crate) fn run(plan: Plan, mut ours: Contender<'_>, mut other: Contender<'_>) -> Result<Outcome> {
    let units = (calibrate(plan, &mut ours)?, calibrate(plan, &mut other)?);
    let mut runs = 1;
    loop {
        let outcome = once(plan, units, runs, &mut ours, &mut other)?;
        if !outcome.is_void() || runs == RUNS_MAX {
            return Ok(outcome);
        }
        runs += 1;
    }
}

/// The units of a block. Warms the contender up by the way.
fn calibrate(plan: Plan, contender: &mut Contender<'_>) -> Result<u32> {
    let mut units = 1;
    while contender(units)? < plan.block {
        ensure!(units < UNITS_MAX, "a block of {units} units takes no time: nothing is being measured");
        units *= 2;
    }
    Ok(units)
}

/// One run. The order turns round by round (ABBA, BAAB), so that a drift hits both alike.
fn once(
    plan: Plan,
    units: (u32, u32),
    runs: usize,
    ours: &mut Contender<'_>,
    other: &mut Contender<'_>,
) -> Result<Outcome> {
    let mut cost = [const { Vec::new() }; 2];
    let mut control = [const { Vec::new() }; 2];
    let mut ratios = Vec::with_capacity(plan.rounds);
    for round in 0..plan.rounds {
        let mut a = || block(ours, units.0);
        let mut b = || block(other, units.1);
        let ([a1, a2], [b1, b2]) = if round % 2 == 0 {
            let (a1, b1, b2, a2) = (a()?, b()?, b()?, a()?);
            ([a1, a2], [b1, b2])
        } else {
            let (b1, a1, a2, b2) = (b()?, a()?, a()?, b()?);
            ([a1, a2], [b1, b2])
        };
        ratios.push((a1 + a2) / (b1 + b2));
        let [own, others] = &mut cost;
        own.extend([a1, a2]);
        others.extend([b1, b2]);
        let [own, others] = &mut control;
        own.push(a1 / a2);
        others.push(b1 / b2);
    }
    let [ours, other] = cost.map(|mut all| median(&mut all));
    let control = control.map(|mut all| (median(&mut all) - 1.0).abs()).into_iter().fold(0.0, f64::max);
    Ok(Outcome { ours, other, ratio: Spread::of(&mut ratios), control, runs })
}

/// Nanoseconds a unit.
fn block(contender: &mut Contender<'_>, units: u32) -> Result<f64> {
    Ok(contender(units)?.as_secs_f64() * 1e9 / f64::from(units))
}
