//! The log: structured lines on stderr.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use super::arguments::{Arguments, Command, Output};
use crate::config::Environment;

/// Starts the log. Commands that run something tell what they do; the others only what is wrong.
pub(super) fn start(arguments: &Arguments, environment: &Environment) {
    let usual = match arguments.command {
        Command::Serve => "info",
        _ => "warn",
    };
    let wanted = environment.log_filter().and_then(|filter| EnvFilter::try_new(filter).ok());
    let filter = wanted.unwrap_or_else(|| EnvFilter::new(usual));
    let terminal = std::io::stderr().is_terminal();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match arguments.output {
        Output::Json => log.json().flatten_event(true).try_init(),
        Output::Text => log.with_ansi(terminal && !environment.no_colour()).try_init(),
    };
    if let Err(error) = started {
        // Somebody who embeds this has a log already.
        tracing::debug!(%error, "the log was started before");
    }
}
