//! The helpful guest: does what the lines of its platform say.

use jackfield_guests::session;

jackfield_guests::runtime_guest!(session::start, session::handle, session::checkpoint);
