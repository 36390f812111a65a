//! Spins in `handle`, whatever the signal.

use jackfield_guests::session;
use jackfield_sdk::runtime::{SessionFault, Signal};

fn handle(_signals: &[Signal]) -> Result<(), SessionFault> {
    loop {
        std::hint::spin_loop();
    }
}

jackfield_guests::runtime_guest!(session::start, handle, session::checkpoint);
