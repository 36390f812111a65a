//! One structured line each, through the host: it adds connection, generation and call, and masks secrets.
//!
//! Not in `connector`, `transform` and `runtime::checkpoint`, where any import is a trap.

pub use crate::bindings::supplied::jackfield::connector::log::Level;
use crate::bindings::supplied::jackfield::connector::log::write;

/// Writes one line. `fields` are values, not part of the sentence: `log::line(Level::Warn, "resume failed", &[("attempt", "3")])`.
pub fn line(level: Level, message: &str, fields: &[(&str, &str)]) {
    let fields: Vec<(String, String)> =
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    write(level, message, &fields);
}

/// [`line`] at `debug`.
pub fn debug(message: &str, fields: &[(&str, &str)]) {
    line(Level::Debug, message, fields);
}

/// [`line`] at `info`.
pub fn info(message: &str, fields: &[(&str, &str)]) {
    line(Level::Info, message, fields);
}

/// [`line`] at `warn`.
pub fn warn(message: &str, fields: &[(&str, &str)]) {
    line(Level::Warn, message, fields);
}

/// [`line`] at `error`.
pub fn error(message: &str, fields: &[(&str, &str)]) {
    line(Level::Error, message, fields);
}
