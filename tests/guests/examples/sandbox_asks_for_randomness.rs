//! Asks for ten gibibytes of randomness in one call, then in many.

use jackfield_sdk::transform::{Answer, Received};

const HUGE: u64 = 10 * 1024 * 1024 * 1024;
const CHUNK: u64 = 64 * 1024;

fn answer(received: &Received) -> Answer {
    match received.dispatch.payload.as_text() {
        Some("one") => drop(wasip2::random::random::get_random_bytes(HUGE)),
        Some("many") => {
            for _ in 0..HUGE / CHUNK {
                std::hint::black_box(wasip2::random::random::get_random_bytes(CHUNK));
            }
        }
        _ => {}
    }
    jackfield_guests::good(received)
}

jackfield_guests::transform_guest!(answer);
