//! The part of WASI that real guests import whatever their code does, in small implementations of its own.
//!
//! Nothing of the host is visible: no variable, argument, folder, terminal, time zone or socket. Output goes to the log in
//! bounded lines. In `transform` and `describe` clocks and randomness are constant, so that the same input gives the same
//! answer; waiting is real everywhere and ends with the call's deadline at the latest. Only `wasi:io` keeps the table
//! operations of wasmtime's own implementation, behind a count.

mod cli;
mod clocks;
mod filesystem;
mod io;
mod random;
mod stdio;

use jackfield_model::clock::SharedClock;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::{
    cli as wit_cli, clocks as wit_clocks, filesystem as wit_filesystem, random as wit_random,
};
use wasmtime_wasi_io::bindings::wasi::io as wit_io;

use self::clocks::Clocks;
use self::random::Random;
use self::stdio::Stdio;
use crate::guest::Guest;
use crate::log::LogSink;
use crate::phase::Call;

/// The versions of WASI that fit, for refusals: everything on this track.
pub(crate) const TRACK: &str = "0.2";

/// What is linked. Everything else under `wasi:` is refused.
pub(crate) const INTERFACES: &[&str] = &[
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
];

/// One instance's share of it.
pub(crate) struct Wasi {
    clocks: Clocks,
    random: Random,
    pub(crate) stdio: Stdio,
}

impl Wasi {
    /// For `transform` and `describe`: nothing in it differs from one call to the next.
    pub(crate) fn constant(clock: SharedClock, log: LogSink) -> Self {
        Self { clocks: Clocks::constant(clock), random: Random::constant(), stdio: Stdio::new(log) }
    }

    /// For everything else.
    pub(crate) fn live(clock: SharedClock, log: LogSink) -> Self {
        Self { clocks: Clocks::live(clock), random: Random::live(), stdio: Stdio::new(log) }
    }

    /// Before every call.
    pub(crate) fn begin(&mut self) {
        self.random.begin();
        self.stdio.begin();
    }
}

/// What WASI's functions work on.
pub(crate) struct WasiView<'a> {
    call: &'a mut Call,
    table: &'a mut ResourceTable,
    wasi: &'a mut Wasi,
}

struct HasWasi;

impl HasData for HasWasi {
    type Data<'a> = WasiView<'a>;
}

fn view(guest: &mut Guest) -> WasiView<'_> {
    WasiView { call: &mut guest.call, table: &mut guest.table, wasi: &mut guest.wasi }
}

/// Links all of [`INTERFACES`].
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wit_cli::environment::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_cli::exit::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_cli::stderr::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_cli::stdin::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_cli::stdout::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_cli::terminal_input::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_cli::terminal_output::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_cli::terminal_stderr::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_cli::terminal_stdin::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_cli::terminal_stdout::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_clocks::monotonic_clock::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_clocks::wall_clock::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_filesystem::preopens::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_filesystem::types::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_io::error::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_io::poll::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_io::streams::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_random::insecure::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_random::insecure_seed::add_to_linker::<_, HasWasi>(linker, view)?;
    wit_random::random::add_to_linker::<_, HasWasi>(linker, view)?;
    Ok(())
}
