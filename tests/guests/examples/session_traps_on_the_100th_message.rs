//! Obeys as the helpful guest does, and traps on the hundredth message that its instance sees.

use std::cell::Cell;

use jackfield_guests::session;
use jackfield_sdk::runtime::{SessionFault, Signal};

/// The message that an instance does not survive.
const FATAL: usize = 100;

thread_local! {
    static SEEN: Cell<usize> = const { Cell::new(0) };
}

fn handle(signals: &[Signal]) -> Result<(), SessionFault> {
    let messages = signals.iter().filter(|signal| matches!(signal, Signal::Message(_))).count();
    SEEN.set(SEEN.get() + messages);
    session::handle(signals)?;
    if SEEN.get() >= FATAL {
        std::process::abort();
    }
    Ok(())
}

jackfield_guests::runtime_guest!(session::start, handle, session::checkpoint);
