//! Spins in `checkpoint`, after a `start` or `handle` that went well.

use jackfield_guests::session;
use jackfield_sdk::Blob;

fn checkpoint() -> Blob {
    loop {
        std::hint::spin_loop();
    }
}

jackfield_guests::runtime_guest!(session::start, session::handle, checkpoint);
