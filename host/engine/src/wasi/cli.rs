//! `wasi:cli`: an empty environment, closed stdin, output to the log, and no way out.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::cli::{
    environment, exit, stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr, terminal_stdin,
    terminal_stdout,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use super::WasiView;
use super::stdio::{Closed, Output};
use crate::failure::Stop;

impl environment::Host for WasiView<'_> {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        self.call.count()?;
        Ok(Vec::new())
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        self.call.count()?;
        Ok(Vec::new())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        self.call.count()?;
        Ok(None)
    }
}

impl exit::Host for WasiView<'_> {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(Stop::Exit(status.is_err().into()).into())
    }

    fn exit_with_code(&mut self, status: u8) -> wasmtime::Result<()> {
        Err(Stop::Exit(status).into())
    }
}

impl stdin::Host for WasiView<'_> {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<DynInputStream>> {
        self.call.count()?;
        let stream: DynInputStream = Box::new(Closed);
        Ok(self.table.push(stream)?)
    }
}

impl stdout::Host for WasiView<'_> {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.output(Output::Stdout)
    }
}

impl stderr::Host for WasiView<'_> {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.output(Output::Stderr)
    }
}

impl WasiView<'_> {
    fn output(&mut self, output: Output) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.call.count()?;
        let stream: DynOutputStream = Box::new(self.wasi.stdio.stream(output));
        Ok(self.table.push(stream)?)
    }
}

/// There is no terminal, so nobody can hold one.
fn no_terminal() -> wasmtime::Result<()> {
    Err(Stop::misuse("wasi:cli/terminal", "no such terminal").into())
}

impl terminal_input::Host for WasiView<'_> {}

impl terminal_input::HostTerminalInput for WasiView<'_> {
    fn drop(&mut self, _: Resource<terminal_input::TerminalInput>) -> wasmtime::Result<()> {
        no_terminal()
    }
}

impl terminal_output::Host for WasiView<'_> {}

impl terminal_output::HostTerminalOutput for WasiView<'_> {
    fn drop(&mut self, _: Resource<terminal_output::TerminalOutput>) -> wasmtime::Result<()> {
        no_terminal()
    }
}

impl terminal_stdin::Host for WasiView<'_> {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<terminal_stdin::TerminalInput>>> {
        self.call.count()?;
        Ok(None)
    }
}

impl terminal_stdout::Host for WasiView<'_> {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<terminal_stdout::TerminalOutput>>> {
        self.call.count()?;
        Ok(None)
    }
}

impl terminal_stderr::Host for WasiView<'_> {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<terminal_stderr::TerminalOutput>>> {
        self.call.count()?;
        Ok(None)
    }
}
