//! Looks for traces of the host, and tells what it found: variables, arguments, folders, clocks, randomness.
#![expect(clippy::disallowed_methods, reason = "a guest has no other clock; what it reads here is what is tested")]

use std::fmt::Debug;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jackfield_sdk::transform::{Answer, Received};

/// Long enough for any clock that runs to move.
const TURNS: u64 = 20_000_000;

fn answer(received: &Received) -> Answer {
    let began = Instant::now();
    let walls = [wall(), wall()];
    let turns = (0..TURNS).fold(0, |sum: u64, turn| std::hint::black_box(sum.wrapping_add(turn)));
    let found = serde_json::json!({
        "variables": std::env::vars().collect::<Vec<_>>(),
        "arguments": std::env::args().collect::<Vec<_>>(),
        "folder": text(std::env::current_dir()),
        "root": text(std::fs::read_dir("/").map(Iterator::count)),
        "passwd": text(std::fs::read_to_string("/etc/passwd")),
        "written": text(std::fs::write("/tmp/jackfield-probe", "x")),
        "walls": walls,
        "elapsed": began.elapsed().as_nanos().to_string(),
        "random": [random(), random()],
        "turns": turns,
    });
    jackfield_guests::found(received, found.to_string())
}

fn wall() -> String {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

fn random() -> String {
    wasip2::random::random::get_random_u64().to_string()
}

/// `Err` where the host refused.
fn text<T: Debug, E: Debug>(outcome: Result<T, E>) -> String {
    match outcome {
        Ok(found) => format!("Ok {found:?}"),
        Err(refusal) => format!("Err {refusal:?}"),
    }
}

jackfield_guests::transform_guest!(answer);
