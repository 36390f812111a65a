//! More effects than a call may have: in number or, with large frames, in bytes. The label of the timer says which.

use jackfield_guests::session;
use jackfield_sdk::Blob;
use jackfield_sdk::runtime::{SessionFault, Signal};

const MANY: u32 = 100_000;
const LARGE: usize = 512 * 1024;

fn handle(signals: &[Signal]) -> Result<(), SessionFault> {
    let large = Blob::Text("x".repeat(LARGE));
    for signal in signals {
        match signal {
            Signal::Elapsed(label) if label == "number" => {
                (0..MANY).for_each(|timer| jackfield_sdk::session::set_timer(&format!("t{}", timer % 8), 1_000));
            }
            Signal::Elapsed(label) if label == "bytes" => {
                (0..MANY).for_each(|_| drop(jackfield_sdk::session::send(session::MAIN, &large, &[])));
            }
            _ => {}
        }
    }
    Ok(())
}

jackfield_guests::runtime_guest!(session::start, handle, session::checkpoint);
