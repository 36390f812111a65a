//! Actions that do what their arguments say; no session.

use jackfield_guests::jackfield_sdk::action::{ActionFault, ActionSpec, Call, Outcome};
use jackfield_guests::jackfield_sdk::connector::Descriptor;
use jackfield_guests::jackfield_sdk::transform::{Answer, Received};
use jackfield_guests::{describe, meaning, steps};

struct Component;

impl jackfield_guests::jackfield_sdk::connector::Guest for Component {
    fn describe() -> Descriptor {
        describe::actions("echo")
    }
}

impl jackfield_guests::jackfield_sdk::transform::Guest for Component {
    fn transform(batch: Vec<Received>) -> Vec<Answer> {
        meaning::transform(&batch, meaning::Code::Broken)
    }
}

impl jackfield_guests::jackfield_sdk::action::Guest for Component {
    fn describe() -> Vec<ActionSpec> {
        steps::describe()
    }

    fn run(call: Call) -> Result<Outcome, ActionFault> {
        steps::run(&call)
    }
}

jackfield_guests::jackfield_sdk::export!(Component: connector, transform, action);
