//! The smallest connector that does something: copy this file and start from it.
//!
//! It turns every dispatch of kind `note` whose payload is text into one event, and ignores the rest. It has no
//! session of its own, so it exports `connector` and `transform` and nothing else.
//!
//! ```sh
//! cargo build --profile connector --target wasm32-wasip2 -p jackfield-sdk --example starting_point
//! ```

use jackfield_sdk::connector::{self, Descriptor};
use jackfield_sdk::transform::{self, Answer, Received};
use jackfield_sdk::{Event, Transport};

struct StartingPoint;

impl connector::Guest for StartingPoint {
    fn describe() -> Descriptor {
        Descriptor::new("starting-point", env!("CARGO_PKG_VERSION"))
            .titled("Starting point", "Turns notes into events.")
            .transports([Transport::Webhook])
    }
}

impl transform::Guest for StartingPoint {
    fn transform(batch: Vec<Received>) -> Vec<Answer> {
        batch.iter().map(answer).collect()
    }
}

/// One answer per dispatch. What can't be understood is `malformed`: never a panic, which would cost the batch.
fn answer(received: &Received) -> Answer {
    let dispatch = &received.dispatch;
    if dispatch.kind != "note" {
        return Answer::Ignored("unknown-kind".to_owned());
    }
    match dispatch.payload.as_text() {
        Some(text) => Answer::Events(vec![Event::recurring("x.starting-point.note", text, received.received_at)]),
        None => Answer::Malformed("a note is text".to_owned()),
    }
}

jackfield_sdk::export!(StartingPoint: connector, transform);
