//! Structured lines. They survive a trap; masking, shares and neutral text are the sink's (`crate::log`).

mod host;

use wasmtime::component::{HasData, Linker};

use crate::failure::Stop;
use crate::guest::Guest;
use crate::log::{Level, LogSink, Source};
use crate::phase::{ANY_SIDE_EFFECT, Call};

/// What this import works on.
pub(super) struct LogView<'a> {
    call: &'a mut Call,
    log: &'a LogSink,
}

impl LogView<'_> {
    fn write(&mut self, level: Level, message: &str, fields: &[(String, String)]) -> Result<(), Stop> {
        self.call.admit("log.write", ANY_SIDE_EFFECT)?;
        self.log.write(level, Source::Log, message, fields);
        Ok(())
    }
}

struct HasLog;

impl HasData for HasLog {
    type Data<'a> = LogView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::log::add_to_linker::<_, HasLog>(linker, |guest| LogView {
        call: &mut guest.call,
        log: &guest.log,
    })
}
