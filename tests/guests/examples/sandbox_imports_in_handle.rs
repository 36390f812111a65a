//! Calls what only webhooks and actions may call: the label of the timer that elapsed says which.

use jackfield_guests::session;
use jackfield_sdk::runtime::{SessionFault, Signal};
use jackfield_sdk::{HttpRequest, contacts, egress, lease};

fn handle(signals: &[Signal]) -> Result<(), SessionFault> {
    for signal in signals {
        match signal {
            Signal::Elapsed(label) if label == "contacts" => {
                drop(contacts::resolve(&contacts::Reference::Text("x".to_owned())));
            }
            Signal::Elapsed(label) if label == "lease" => drop(lease::try_acquire("x", 1_000)),
            Signal::Elapsed(label) if label == "http" => drop(egress::send(&HttpRequest::get("https://echo.test/"))),
            _ => {}
        }
    }
    Ok(())
}

jackfield_guests::runtime_guest!(session::start, handle, session::checkpoint);
