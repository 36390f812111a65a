//! Takes memory until there is no more, when asked to. Rust aborts when an allocation fails.

use jackfield_sdk::transform::{Answer, Received};

/// One bite, in bytes.
const BITE: usize = 1024 * 1024;

fn answer(received: &Received) -> Answer {
    if jackfield_guests::asked(received) {
        let mut eaten: Vec<Vec<u8>> = Vec::new();
        loop {
            eaten.push(std::hint::black_box(vec![1; BITE]));
        }
    }
    jackfield_guests::good(received)
}

jackfield_guests::transform_guest!(answer);
