//! The command line as a process: exit codes, what goes to stdout and what to stderr, and what needs a running host.

mod action;
mod check;
mod configuration;
mod executions;
mod running;
mod session;
mod trace;

use std::process::Output;

use serde_json::Value;

/// Done, failed, usage or invalid configuration, refused.
const DONE: i32 = 0;
const FAILED: i32 = 1;
const INVALID: i32 = 2;
const REFUSED: i32 = 3;

/// It ended with this code.
fn ended(output: &Output, code: i32) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "stdout: {stdout}\nstderr: {stderr}");
    (stdout, stderr)
}

/// One document, and nothing else.
fn document(stdout: &str) -> Value {
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}
