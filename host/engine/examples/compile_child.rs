//! All that a program needs to be the compiler of an engine: see `jackfield_engine::Compiler::Child`.

use std::io::{stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    jackfield_engine::compile_child(stdin().lock(), stdout().lock())
}
