//! The table: one row a measure, and lines below it for what the numbers need to be read right.

use std::fmt;
use std::io::{self, Write as _};

use crate::contest::Outcome;
use crate::spread::Spread;

/// What a measure has to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// Cost of ours over cost of the other.
    AtMost(f64),
    /// Work of ours over work of the other in the same time.
    AtLeast(f64),
    /// A time, in milliseconds.
    Within(f64),
    /// Nothing: it is there to explain another row.
    None,
}

impl Goal {
    fn is_met(self, value: f64) -> Option<bool> {
        match self {
            Self::AtMost(most) | Self::Within(most) => Some(value <= most),
            Self::AtLeast(least) => Some(value >= least),
            Self::None => None,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "≤ {most} ×"),
            Self::AtLeast(least) => write!(f, "≥ {least} ×"),
            Self::Within(most) => write!(f, "≤ {most} ms"),
            Self::None => f.write_str(NOTHING),
        }
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    measure: String,
    ours: String,
    other: String,
    ratio: String,
    goal: String,
    pass: String,
}

/// What a cost is shown as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// Time for each.
    Time,
    /// How many a second.
    Rate,
}

impl Unit {
    fn show(self, nanos: f64) -> String {
        match self {
            Self::Time => time(nanos),
            Self::Rate => format!("{:.1} k/s", 1e6 / nanos),
        }
    }
}

impl Row {
    /// A comparison. A void one passes nothing.
    pub(crate) fn compared(measure: impl Into<String>, outcome: &Outcome, unit: Unit, goal: Goal) -> Self {
        // Of times, ours over the other's; of rates likewise.
        let ratio = if let Unit::Rate = unit { outcome.ratio.inverted() } else { outcome.ratio };
        let pass = if outcome.is_void() { "void" } else { verdict(goal.is_met(ratio.p50)) };
        Self {
            measure: measure.into(),
            ours: unit.show(outcome.ours),
            other: unit.show(outcome.other),
            ratio: spread(ratio),
            goal: goal.to_string(),
            pass: pass.to_owned(),
        }
    }

    /// A value by itself, in milliseconds.
    pub(crate) fn alone(measure: impl Into<String>, millis: f64, goal: Goal) -> Self {
        let pass = verdict(goal.is_met(millis)).to_owned();
        Self { ours: time(millis * 1e6), goal: goal.to_string(), pass, ..Self::empty(measure) }
    }

    /// Two times in milliseconds, and how many times quicker the first one is.
    pub(crate) fn quicker(measure: impl Into<String>, (ours, other): (f64, f64), ratio: Spread, goal: Goal) -> Self {
        Self {
            measure: measure.into(),
            ours: time(ours * 1e6),
            other: time(other * 1e6),
            ratio: spread(ratio),
            goal: goal.to_string(),
            pass: verdict(goal.is_met(ratio.p50)).to_owned(),
        }
    }

    /// Nothing could be compared, and why.
    pub(crate) fn missing(measure: impl Into<String>, goal: Goal, why: &str) -> Self {
        Self { goal: goal.to_string(), ratio: format!("not measured: {why}"), ..Self::empty(measure) }
    }

    /// It went wrong.
    pub(crate) fn failed(measure: impl Into<String>, error: &anyhow::Error) -> Self {
        Self { ratio: format!("failed: {error:#}"), ..Self::empty(measure) }
    }

    fn empty(measure: impl Into<String>) -> Self {
        let dash = || NOTHING.to_owned();
        Self { measure: measure.into(), ours: dash(), other: dash(), ratio: dash(), goal: dash(), pass: dash() }
    }

    fn cells(&self) -> [&str; COLUMNS] {
        [&self.measure, &self.ours, &self.other, &self.ratio, &self.goal, &self.pass]
    }
}

/// What a measure has to say: its rows, and what they need to be read right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    /// Rows.
    pub(crate) rows: Vec<Row>,
    /// Lines below the table.
    pub(crate) notes: Vec<String>,
}

impl Section {
    /// Says how a comparison was come by.
    pub(crate) fn note_control(&mut self, label: &str, outcome: &Outcome) {
        let Outcome { control, runs, .. } = outcome;
        let void = if outcome.is_void() { ", and this one is void too" } else { "" };
        let repeated = if *runs > 1 { format!("; {} void runs before it{void}", runs - 1) } else { String::new() };
        self.notes.push(format!("{label}: control {:.1} %{repeated}", control * 100.0));
    }
}

/// What stands where there is nothing to say.
const NOTHING: &str = "–";

const COLUMNS: usize = 6;
const HEAD: [&str; COLUMNS] = ["measure", "ours", "other", "ratio (p10–p90)", "goal", "pass"];

/// Writes rows as one table, then the notes.
pub(crate) fn print(sections: &[Section]) -> io::Result<()> {
    let rows: Vec<[&str; COLUMNS]> = sections.iter().flat_map(|section| &section.rows).map(Row::cells).collect();
    let mut widths = HEAD.map(width);
    for row in &rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(width(cell));
        }
    }
    let rules = widths.map(|width| "-".repeat(width));
    let mut out = io::stdout().lock();
    for row in [HEAD, rules.each_ref().map(String::as_str)].into_iter().chain(rows) {
        let mut line = String::from("|");
        for (cell, widest) in row.iter().zip(widths) {
            let padding = " ".repeat(widest.saturating_sub(width(cell)));
            line.push_str(&format!(" {cell}{padding} |"));
        }
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    for note in sections.iter().flat_map(|section| &section.notes) {
        writeln!(out, "- {note}")?;
    }
    out.flush()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn verdict(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "yes",
        Some(false) => "no",
        None => NOTHING,
    }
}

fn spread(ratio: Spread) -> String {
    format!("{:.2} ({:.2}–{:.2})", ratio.p50, ratio.p10, ratio.p90)
}

fn time(nanos: f64) -> String {
    match nanos {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}
