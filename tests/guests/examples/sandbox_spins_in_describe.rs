//! Never says who it is.

use jackfield_sdk::connector::Descriptor;
use jackfield_sdk::transform::{Answer, Received};

struct Silent;

impl jackfield_sdk::connector::Guest for Silent {
    fn describe() -> Descriptor {
        loop {
            std::hint::spin_loop();
        }
    }
}

impl jackfield_sdk::transform::Guest for Silent {
    fn transform(batch: Vec<Received>) -> Vec<Answer> {
        batch.iter().map(jackfield_guests::good).collect()
    }
}

jackfield_sdk::export!(Silent: connector, transform);
