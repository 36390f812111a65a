//! Calls an import in `transform`, where none may be called: the payload says which.

use jackfield_sdk::transform::{Answer, Received};
use jackfield_sdk::{connection, contacts, ingest, lease, log, session, signatures, state};

fn answer(received: &Received) -> Answer {
    match received.dispatch.payload.as_text().unwrap_or_default() {
        "ingest" => drop(ingest::submit(&received.dispatch, None)),
        "connection" => drop(connection::config()),
        "contacts" => drop(contacts::resolve(&contacts::Reference::Text("x".to_owned()))),
        "lease" => drop(lease::try_acquire("x", 1_000)),
        "http" => drop(jackfield_sdk::egress::reserve("x")),
        "session" => session::cancel_timer("x"),
        "state" => drop(state::get("x")),
        "signatures" => drop(signatures::equals("x", "y")),
        "log" => log::info("x", &[]),
        _ => {}
    }
    jackfield_guests::good(received)
}

jackfield_guests::transform_guest!(answer);
