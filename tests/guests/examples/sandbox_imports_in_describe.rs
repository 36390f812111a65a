//! Wants to know its configuration before it says who it is.

use jackfield_sdk::connection;
use jackfield_sdk::connector::Descriptor;
use jackfield_sdk::transform::{Answer, Received};

struct Curious;

impl jackfield_sdk::connector::Guest for Curious {
    fn describe() -> Descriptor {
        jackfield_guests::describe::bare(&connection::id())
    }
}

impl jackfield_sdk::transform::Guest for Curious {
    fn transform(batch: Vec<Received>) -> Vec<Answer> {
        batch.iter().map(jackfield_guests::good).collect()
    }
}

jackfield_sdk::export!(Curious: connector, transform);
