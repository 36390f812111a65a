//! A million calls of a cheap import in one `handle`.

use jackfield_guests::session;
use jackfield_sdk::connection;
use jackfield_sdk::runtime::{SessionFault, Signal};

const CALLS: usize = 1_000_000;

fn handle(_signals: &[Signal]) -> Result<(), SessionFault> {
    for _ in 0..CALLS {
        std::hint::black_box(connection::id());
    }
    Ok(())
}

jackfield_guests::runtime_guest!(session::start, handle, session::checkpoint);
