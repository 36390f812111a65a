//! `log`, translated.

use jackfield_contract::imports::log::{Host, Level as Wit};

use super::LogView;
use crate::log::Level;

impl Host for LogView<'_> {
    fn write(&mut self, level: Wit, message: String, fields: Vec<(String, String)>) -> wasmtime::Result<()> {
        let level = match level {
            Wit::Trace => Level::Trace,
            Wit::Debug => Level::Debug,
            Wit::Info => Level::Info,
            Wit::Warn => Level::Warn,
            Wit::Error => Level::Error,
        };
        Ok(self.write(level, &message, &fields)?)
    }
}
