//! The helpful guest after a fix: what it called poison no longer traps.

use jackfield_guests::meaning::{self, Code};
use jackfield_guests::{describe, session};
use jackfield_sdk::Blob;
use jackfield_sdk::connector::Descriptor;
use jackfield_sdk::runtime::{SessionFault, Signal, StartContext, StartFault};
use jackfield_sdk::transform::{Answer, Received};

struct Fixed;

impl jackfield_sdk::connector::Guest for Fixed {
    fn describe() -> Descriptor {
        describe::session("echo")
    }
}

impl jackfield_sdk::transform::Guest for Fixed {
    fn transform(batch: Vec<Received>) -> Vec<Answer> {
        meaning::transform(&batch, Code::Fixed)
    }
}

impl jackfield_sdk::runtime::Guest for Fixed {
    fn start(context: StartContext) -> Result<(), StartFault> {
        session::start(&context)
    }

    fn handle(signals: Vec<Signal>) -> Result<(), SessionFault> {
        session::handle(&signals)
    }

    fn checkpoint() -> Blob {
        session::checkpoint()
    }
}

jackfield_sdk::export!(Fixed: connector, transform, runtime);
