//! Sleeps for an hour in `handle`, over and over.

use std::time::Duration;

use jackfield_guests::session;
use jackfield_sdk::runtime::{SessionFault, Signal};

const LONG: Duration = Duration::from_secs(3_600);

fn handle(_signals: &[Signal]) -> Result<(), SessionFault> {
    loop {
        std::thread::sleep(LONG);
    }
}

jackfield_guests::runtime_guest!(session::start, handle, session::checkpoint);
