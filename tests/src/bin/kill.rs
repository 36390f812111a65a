//! `tests/run kill --per-point N`: the kill harness by itself. The last line of stdout is the outcome as one JSON object.
#![allow(
    clippy::disallowed_macros,
    clippy::print_stdout,
    reason = "a tool for people and scripts: its result is what it prints"
)]

use std::process::ExitCode;

use jackfield_tests::kill;

/// Kills at each point unless told otherwise.
const PER_POINT: u64 = 20;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let per_point = match (words.next().as_deref(), words.next().map(|number| number.parse()), words.next()) {
        (None, None, None) => PER_POINT,
        (Some("--per-point"), Some(Ok(number @ 1..)), None) => number,
        _ => {
            eprintln!("usage: tests/run kill [--per-point N]");
            return ExitCode::from(2);
        }
    };
    let outcome = kill::everywhere(per_point, |point, outcome| {
        let kill::Outcome { kills, account, seconds, .. } = outcome;
        eprintln!("{point}: {kills} kills, {account:?}, {seconds} s");
    });
    match serde_json::to_string(&outcome) {
        Ok(json) => println!("{json}"),
        Err(error) => eprintln!("{error}"),
    }
    if outcome.is_whole() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
