//! What connectors say, in the host's log: target `jackfield::guest`, with connection and generation.

use std::sync::Arc;

use jackfield_engine::LogSink;
use jackfield_engine::log::{Level, Line};
use jackfield_engine::secret::Mask;
use jackfield_model::clock::SharedClock;
use jackfield_model::{ConnectionId, Generation};

/// The sink of one connection. Secrets are masked in everything that goes through it.
#[must_use]
pub fn sink(connection: ConnectionId, generation: Generation, mask: Arc<Mask>, clock: SharedClock) -> LogSink {
    let masked = move |text: &str| mask.text(text).into_owned();
    LogSink::new(clock, masked, move |line| write(&connection, generation, &line))
}

fn write(connection: &ConnectionId, generation: Generation, line: &Line) {
    let source = format!("{:?}", line.source).to_lowercase();
    // One JSON object: names come from the guest, and tracing wants to know its fields beforehand.
    let fields = serde_json::Value::from_iter(line.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    macro_rules! event {
        ($level:expr) => {
            tracing::event!(
                target: "jackfield::guest",
                $level,
                %connection,
                %generation,
                source,
                dropped = line.dropped,
                %fields,
                "{}",
                line.message
            )
        };
    }
    match line.level {
        Level::Trace => event!(tracing::Level::TRACE),
        Level::Debug => event!(tracing::Level::DEBUG),
        Level::Info => event!(tracing::Level::INFO),
        Level::Warn => event!(tracing::Level::WARN),
        Level::Error => event!(tracing::Level::ERROR),
    }
}
