//! Spins in `start`.

use jackfield_guests::session;
use jackfield_sdk::runtime::{StartContext, StartFault};

fn start(_context: &StartContext) -> Result<(), StartFault> {
    loop {
        std::hint::spin_loop();
    }
}

jackfield_guests::runtime_guest!(start, session::handle, session::checkpoint);
