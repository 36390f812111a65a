//! Spins in `transform` when asked to, and behaves otherwise.

use jackfield_sdk::transform::{Answer, Received};

fn answer(received: &Received) -> Answer {
    if jackfield_guests::asked(received) {
        loop {
            std::hint::spin_loop();
        }
    }
    jackfield_guests::good(received)
}

jackfield_guests::transform_guest!(answer);
