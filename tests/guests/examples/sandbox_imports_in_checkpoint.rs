//! Asks for an effect while its checkpoint is taken.

use jackfield_guests::session;
use jackfield_sdk::Blob;

fn checkpoint() -> Blob {
    jackfield_sdk::session::set_timer("late", 1);
    session::checkpoint()
}

jackfield_guests::runtime_guest!(session::start, session::handle, checkpoint);
