//! Writes a gibibyte to stdout or stderr when asked to, or nothing ten million times.

use std::io::{Write, stderr, stdout};

use jackfield_sdk::transform::{Answer, Received};

/// One write, in bytes.
const CHUNK: usize = 64 * 1024;
/// Writes that make a gibibyte.
const CHUNKS: usize = 16 * 1024;
/// Writes of nothing.
const EMPTY: usize = 10_000_000;

fn answer(received: &Received) -> Answer {
    match received.dispatch.payload.as_text() {
        Some("stdout") => pour(&mut stdout().lock()),
        Some("stderr") => pour(&mut stderr().lock()),
        Some("empty") => {
            let stream = wasip2_stdout();
            for _ in 0..EMPTY {
                stream();
            }
        }
        _ => {}
    }
    jackfield_guests::good(received)
}

/// What the host refuses is not written again.
fn pour(to: &mut dyn Write) {
    for _ in 0..CHUNKS {
        if to.write_all(&[b'z'; CHUNK]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

/// Rust's own stdout drops empty writes: these go to the stream itself.
fn wasip2_stdout() -> impl Fn() {
    let stream = wasip2::cli::stdout::get_stdout();
    move || {
        let _ = stream.write(&[]);
    }
}

jackfield_guests::transform_guest!(answer);
