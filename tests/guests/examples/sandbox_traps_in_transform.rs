//! Traps in `transform` when asked to: by `unreachable`, by a panic, or by running out of stack.

#![allow(clippy::panic, reason = "a guest that panics is what the host is tried with")]

use jackfield_sdk::transform::{Answer, Received};

fn answer(received: &Received) -> Answer {
    match received.dispatch.payload.as_text() {
        Some("now") => std::process::abort(),
        Some("panic") => std::panic::panic_any("asked to"),
        Some("stack") => jackfield_guests::found(received, down(u64::MAX).to_string()),
        _ => jackfield_guests::good(received),
    }
}

#[inline(never)]
fn down(levels: u64) -> u64 {
    let ballast = std::hint::black_box([levels; 64]);
    if levels == 0 { 0 } else { down(levels - 1) + ballast.iter().sum::<u64>() }
}

jackfield_guests::transform_guest!(answer);
