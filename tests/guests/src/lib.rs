//! What the guests of the suite share: a connector for a platform that exists only here, and two macros.
//!
//! The platform speaks lines of text over one WebSocket ([`line`] lists them), so that a test says in one line what a guest
//! is to do, and reads in one line what became of it. [`session`] obeys, [`meaning`] transforms. Hostile guests are
//! examples of this package, one small file each: they say one hostile thing, and [`transform_guest!`] or
//! [`runtime_guest!`] makes a component of it.

pub mod describe;
pub mod line;
pub mod meaning;
pub mod session;
pub mod steps;

#[doc(hidden)]
pub use jackfield_sdk;

/// A component that exports `connector` and `transform`; `$answer` takes a `&Received` and gives an `Answer`.
#[macro_export]
macro_rules! transform_guest {
    ($answer:path) => {
        struct Component;

        impl $crate::jackfield_sdk::connector::Guest for Component {
            fn describe() -> $crate::jackfield_sdk::connector::Descriptor {
                $crate::describe::bare("hostile")
            }
        }

        impl $crate::jackfield_sdk::transform::Guest for Component {
            fn transform(
                batch: Vec<$crate::jackfield_sdk::transform::Received>,
            ) -> Vec<$crate::jackfield_sdk::transform::Answer> {
                batch.iter().map($answer).collect()
            }
        }

        $crate::jackfield_sdk::export!(Component: connector, transform);
    };
}

/// A component that exports `connector`, `transform` and `runtime`; the three functions are those of `runtime`.
#[macro_export]
macro_rules! runtime_guest {
    ($start:path, $handle:path, $checkpoint:path) => {
        struct Component;

        impl $crate::jackfield_sdk::connector::Guest for Component {
            fn describe() -> $crate::jackfield_sdk::connector::Descriptor {
                $crate::describe::session("echo")
            }
        }

        impl $crate::jackfield_sdk::transform::Guest for Component {
            fn transform(
                batch: Vec<$crate::jackfield_sdk::transform::Received>,
            ) -> Vec<$crate::jackfield_sdk::transform::Answer> {
                $crate::meaning::transform(&batch, $crate::meaning::Code::Broken)
            }
        }

        impl $crate::jackfield_sdk::runtime::Guest for Component {
            fn start(
                context: $crate::jackfield_sdk::runtime::StartContext,
            ) -> Result<(), $crate::jackfield_sdk::runtime::StartFault> {
                $start(&context)
            }

            fn handle(
                signals: Vec<$crate::jackfield_sdk::runtime::Signal>,
            ) -> Result<(), $crate::jackfield_sdk::runtime::SessionFault> {
                $handle(&signals)
            }

            fn checkpoint() -> $crate::jackfield_sdk::Blob {
                $checkpoint()
            }
        }

        $crate::jackfield_sdk::export!(Component: connector, transform, runtime);
    };
}

/// The event that a well-behaved answer consists of: its key is the payload.
#[must_use]
pub fn good(received: &jackfield_sdk::transform::Received) -> jackfield_sdk::transform::Answer {
    found(received, "{}".to_owned())
}

/// The same, with something to tell.
#[must_use]
pub fn found(received: &jackfield_sdk::transform::Received, properties: String) -> jackfield_sdk::transform::Answer {
    let key = received.dispatch.payload.to_text_lossy();
    let mut event = jackfield_sdk::Event::once("x.hostile.said", key, received.received_at);
    event.properties = properties;
    jackfield_sdk::transform::Answer::Events(vec![event])
}

/// Says whether this payload asks for the hostile thing.
#[must_use]
pub fn asked(received: &jackfield_sdk::transform::Received) -> bool {
    received.dispatch.payload.as_text() == Some("now")
}
