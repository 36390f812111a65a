//! The command line: one file a command. Results go to stdout, everything else to stderr.

mod action;
mod arguments;
mod check;
mod completion;
mod contacts;
mod dead_letters;
#[cfg(feature = "demo")]
mod double;
mod events;
mod executions;
mod exit;
mod log;
mod pretty;
mod printer;
mod progress;
mod reach;
mod schema;
mod serve;
mod status;
mod table;
mod trace;
mod unpark;
mod validate;

use std::process::ExitCode;

use clap::Parser as _;

use self::arguments::{Arguments, Command};
use crate::config::Environment;

#[cfg(feature = "demo")]
pub(crate) use self::arguments::Demo;
pub use self::arguments::command;
pub use self::exit::Failure;
pub(crate) use self::printer::Printer;
pub use self::progress::Progress;

/// Runs the command that this process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let environment = Environment::process();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::usage(&error),
    };
    let printer = Printer::new(arguments.output, &environment);
    // The compiler's child has no runtime, no log and no configuration: it reads, compiles and writes.
    if matches!(arguments.command, Command::CompileComponent) {
        return jackfield_engine::compile_child(std::io::stdin(), std::io::stdout());
    }
    log::start(&arguments, &environment);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return printer.fail(&Failure::failed(format!("start the runtime: {error}"))),
    };
    let done = runtime.block_on(run(arguments, &printer, &environment));
    // A blocking read that nobody waits for any more must not hold up the end.
    runtime.shutdown_background();
    match done {
        Ok(code) => code,
        Err(failure) => printer.fail(&failure),
    }
}

async fn run(arguments: Arguments, printer: &Printer, environment: &Environment) -> Result<ExitCode, Failure> {
    let config = arguments.config.as_path();
    match arguments.command {
        Command::Serve => serve::run(config, printer, environment).await,
        #[cfg(feature = "demo")]
        Command::Demo(options) => crate::demo::run(options, printer, environment).await,
        #[cfg(feature = "demo")]
        Command::Double(which) => double::run(which, printer).await,
        Command::Check { file } => check::run(&file, printer).await,
        Command::Validate { schema: true } => validate::schema(printer),
        Command::Validate { schema: false } => validate::run(config, printer, environment).await,
        Command::Status => status::run(&reach::host(config)?, printer).await,
        Command::Events(wanted) => events::run(&reach::host(config)?, wanted, printer).await,
        Command::DeadLetters { command } => dead_letters::run(&reach::host(config)?, command, printer).await,
        Command::Action { command } => action::run(&reach::host(config)?, command, printer).await,
        Command::Executions { command } => executions::run(&reach::host(config)?, command, printer).await,
        Command::Trace(wanted) => trace::run(&reach::host(config)?, wanted, printer).await,
        Command::Unpark { connection } => unpark::run(&reach::host(config)?, &connection, printer).await,
        Command::Contacts { command } => contacts::run(&reach::host(config)?, command, printer).await,
        Command::Completion { shell } => completion::run(shell, printer),
        Command::CompileComponent => Ok(ExitCode::FAILURE),
    }
}
