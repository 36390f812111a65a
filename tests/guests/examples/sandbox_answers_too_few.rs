//! One answer for a batch, however many dispatches it had; and a huge checkpoint.

use jackfield_guests::session;
use jackfield_sdk::Blob;
use jackfield_sdk::connector::Descriptor;
use jackfield_sdk::runtime::{SessionFault, Signal, StartContext, StartFault};
use jackfield_sdk::transform::{Answer, Received};

/// Bytes of the checkpoint: over every limit.
const HUGE: usize = 3 * 1024 * 1024;

struct Lazy;

impl jackfield_sdk::connector::Guest for Lazy {
    fn describe() -> Descriptor {
        jackfield_guests::describe::session("echo")
    }
}

impl jackfield_sdk::transform::Guest for Lazy {
    fn transform(batch: Vec<Received>) -> Vec<Answer> {
        batch.iter().take(1).map(jackfield_guests::good).collect()
    }
}

impl jackfield_sdk::runtime::Guest for Lazy {
    fn start(context: StartContext) -> Result<(), StartFault> {
        session::start(&context)
    }

    fn handle(signals: Vec<Signal>) -> Result<(), SessionFault> {
        session::handle(&signals)
    }

    fn checkpoint() -> Blob {
        Blob::Text("x".repeat(HUGE))
    }
}

jackfield_sdk::export!(Lazy: connector, transform, runtime);
