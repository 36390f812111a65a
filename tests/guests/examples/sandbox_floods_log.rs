//! Writes log lines without end, among them one of 4 MiB and one full of escapes.

use jackfield_guests::session;
use jackfield_sdk::log;
use jackfield_sdk::runtime::{SessionFault, Signal};

/// Lines, if nobody stops it.
const LINES: usize = 1_000_000;
/// The longest line, in bytes.
const LONG: usize = 4 * 1024 * 1024;
/// What a terminal would obey: a title, a colour, a carriage return, NUL, and text that runs the other way.
const ESCAPES: &str = "\u{1b}]0;owned\u{7}\u{1b}[31mred\r\nforged line\0\u{202e}gnirts";

fn handle(_signals: &[Signal]) -> Result<(), SessionFault> {
    log::info(ESCAPES, &[(ESCAPES, ESCAPES)]);
    log::info(&"x".repeat(LONG), &[]);
    for _ in 0..LINES {
        log::info(&"y".repeat(1024), &[]);
    }
    Ok(())
}

jackfield_guests::runtime_guest!(session::start, handle, session::checkpoint);
