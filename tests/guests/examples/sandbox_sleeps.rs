//! Sleeps for an hour, when asked to: the host's clock is blocked on, no instruction is executed.

use std::time::Duration;

use jackfield_sdk::transform::{Answer, Received};

const LONG: Duration = Duration::from_secs(3_600);

fn answer(received: &Received) -> Answer {
    if jackfield_guests::asked(received) {
        std::thread::sleep(LONG);
    }
    jackfield_guests::good(received)
}

jackfield_guests::transform_guest!(answer);
