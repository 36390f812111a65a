//! Never drops a handle: one a call, or as many as there are when asked to.

use jackfield_sdk::transform::{Answer, Received};

/// More than any table takes.
const MANY: usize = 1_000_000;

fn answer(received: &Received) -> Answer {
    let leaks = if jackfield_guests::asked(received) { MANY } else { 1 };
    for _ in 0..leaks {
        std::mem::forget(wasip2::clocks::monotonic_clock::subscribe_duration(1));
    }
    jackfield_guests::good(received)
}

jackfield_guests::transform_guest!(answer);
