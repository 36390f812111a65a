//! `cargo bench`: what the host costs, as ratios against something simpler, in one table.
//!
//! What is measured, against what and how, and what a ratio does not say, is in the README beside this folder.

mod artifact;
mod boundary;
mod byhand;
mod component;
mod contest;
mod durable;
mod guest;
mod instance;
mod message;
mod native;
mod node;
mod processor;
mod raw;
mod spread;
mod table;

use std::io;
use std::process::ExitCode;

use anyhow::Result;

use crate::component::Bench;
use crate::table::{Row, Section};

/// A measure: its number in the table, and what measures it.
type Measure = (&'static str, fn(&Bench) -> Result<Section>);

/// In the order of the table.
const MEASURES: [Measure; 6] = [
    ("P1", boundary::measure),
    ("P2", native::measure),
    ("P3", node::measure),
    ("P5", instance::measure),
    ("P6", artifact::measure),
    ("P7", durable::measure),
];

fn main() -> Result<ExitCode> {
    if std::env::args().nth(1).is_some_and(|first| first == component::COMPILE) {
        return Ok(jackfield_engine::compile_child(io::stdin().lock(), io::stdout().lock()));
    }
    // Cargo adds options for the harness of its own; names are ours.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|want| want == name);
    let bench = Bench::build()?;
    let mut sections = Vec::new();
    let mut failed = false;
    for (name, measure) in MEASURES.into_iter().filter(|(name, _)| is_wanted(name)) {
        let section = measure(&bench).unwrap_or_else(|error| {
            failed = true;
            Section { rows: vec![Row::failed(name, &error)], notes: Vec::new() }
        });
        sections.push(section);
    }
    sections.push(Section { rows: Vec::new(), notes: vec![processor::load()?] });
    table::print(&sections)?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
