//! What can be written on the command line.

mod action;

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use jackfield_model::{ConnectionId, Space};

pub(crate) use self::action::{Action, Executions, Run, Trace, Which};

/// Runs platform connectors, keeps their sockets open, and accounts for every event.
#[derive(Debug, Parser)]
#[command(name = "jackfield", version, max_term_width = 110, after_help = EXIT_CODES)]
pub(super) struct Arguments {
    /// The configuration file.
    #[arg(long, short, global = true, value_name = "FILE", default_value = "./jackfield.toml")]
    pub(super) config: PathBuf,
    /// How results are written: for people, or as one stable document.
    #[arg(long, short, global = true, value_name = "FORM", default_value = "text")]
    pub(super) output: Output,
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 usage or invalid configuration, 3 refused (grants, digest, contract).\n\
Log: JACKFIELD_LOG=debug shows more.";

/// The command line's description, for completion and documentation.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::command()
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// One document; one a line for what is followed.
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the host in the foreground.
    Serve,
    /// Show the whole of it: a Discord double, a host, thousands of messages, a forced reconnect, and the account.
    #[cfg(feature = "demo")]
    Demo(Demo),
    /// Run a platform double on loopback, for whatever is to be tried against it.
    #[cfg(feature = "demo")]
    #[command(subcommand)]
    Double(Double),
    /// Look at a component: what it is, exports and asks for, or why it would be refused. Needs no host.
    Check {
        /// The component.
        #[arg(value_name = "WASM")]
        file: PathBuf,
    },
    /// Look at a configuration and all that it names, and run nothing. Needs no host.
    Validate {
        /// Write the JSON Schema of configuration files instead, for editors.
        #[arg(long)]
        schema: bool,
    },
    /// How every connection is, since when, why, and what somebody has to do.
    Status,
    /// Events of the log.
    Events(Events),
    /// What could not be settled.
    DeadLetters {
        #[command(subcommand)]
        command: DeadLetters,
    },
    /// What can be done on the platforms, and doing it.
    Action {
        #[command(subcommand)]
        command: Action,
    },
    /// The ledger of actions: what was tried, by whom, and how it ended.
    Executions {
        #[command(subcommand)]
        command: Executions,
    },
    /// What happened to a message, an event or an execution: everything known, oldest first.
    Trace(Trace),
    /// Let a parked connection start again, once what it waits for is done.
    Unpark {
        /// Which one.
        #[arg(value_name = "ID")]
        connection: ConnectionId,
    },
    /// People.
    Contacts {
        #[command(subcommand)]
        command: Contacts,
    },
    /// Write a completion script.
    Completion {
        /// For which shell.
        shell: clap_complete::Shell,
    },
    /// The compiler's own process: component on stdin, machine code on stdout.
    #[command(hide = true)]
    CompileComponent,
}

/// What the demo plays.
#[cfg(feature = "demo")]
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// How many messages are written.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(10..=1_000_000))]
    pub(crate) messages: u64,
    /// In how many channels.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=500))]
    pub(crate) channels: u64,
    /// Keep configuration, data and the double's log in this folder, which must be new or empty.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// Use this component instead of building one.
    #[arg(long, value_name = "WASM")]
    pub(crate) connector: Option<PathBuf>,
}

/// Which platform.
#[cfg(feature = "demo")]
#[derive(Debug, Subcommand)]
pub(super) enum Double {
    /// Discord: gateway and REST API, version 10.
    Discord {
        /// Where to listen; port 0 is a free one.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
        listen: std::net::SocketAddr,
        /// What it does by itself, as JSON; by default one message a second.
        #[arg(long, value_name = "FILE")]
        script: Option<PathBuf>,
        /// Append everything that happens to this file, as JSON lines.
        #[arg(long, value_name = "FILE")]
        log: Option<PathBuf>,
    },
}

/// Which events.
#[derive(Debug, Args)]
pub(super) struct Events {
    /// What to do with them. `list` is the only word, and may be left out.
    #[arg(id = "list", value_name = "list", value_parser = ["list"], hide_possible_values = true)]
    _list: Option<String>,
    /// Of this connection only.
    #[arg(long, value_name = "ID")]
    pub(super) connection: Option<ConnectionId>,
    /// With this name only, for example `message.created`.
    #[arg(long)]
    pub(super) name: Option<String>,
    /// At most so many; before following, the newest so many. [default: 50]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(super) limit: Option<u64>,
    /// Those behind this position.
    #[arg(long, value_name = "POSITION")]
    pub(super) after: Option<u64>,
    /// Go on with what is committed from now on.
    #[arg(long, short)]
    pub(super) follow: bool,
    /// As the consumer of this name: begins where it left off, and its place moves once lines are written.
    /// Events are kept until every named consumer has passed them.
    #[arg(long = "as", value_name = "NAME", conflicts_with = "after")]
    pub(super) consumer: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum DeadLetters {
    /// List them, oldest first.
    List {
        /// Of this connection only.
        #[arg(long, value_name = "ID")]
        connection: Option<ConnectionId>,
        /// Those with larger numbers.
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: u64,
        /// At most so many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=200))]
        limit: u64,
    },
    /// Show one with its payload, credentials masked.
    Show {
        /// Its number.
        id: u64,
        /// The payload as received: it may carry credentials of the platform.
        #[arg(long)]
        raw: bool,
    },
    /// Try it again: after what its lane did meanwhile, marked late.
    Redrive {
        /// Their numbers.
        #[arg(required = true)]
        ids: Vec<u64>,
    },
    /// End it, for good.
    Discard {
        /// Their numbers.
        #[arg(required = true)]
        ids: Vec<u64>,
    },
}

/// Where to look.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Scope {
    /// A contact space.
    #[arg(long)]
    pub(super) space: Option<Space>,
    /// The contact space of this connection.
    #[arg(long, value_name = "ID")]
    pub(super) connection: Option<ConnectionId>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Contacts {
    /// List live contacts by id.
    List {
        #[command(flatten)]
        scope: Scope,
        /// Those with larger ids.
        #[arg(long, value_name = "CONTACT", default_value = "")]
        after: String,
        /// At most so many.
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000))]
        limit: u64,
    },
    /// Say whom a reference means.
    Resolve {
        #[command(flatten)]
        scope: Scope,
        #[command(flatten)]
        reference: Reference,
    },
}

/// A reference to a contact.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Reference {
    /// Tried as email, then external id, then an id on the connection's platform.
    pub(super) text: Option<String>,
    /// An email address.
    #[arg(long)]
    pub(super) email: Option<String>,
    /// The operator's own id.
    #[arg(long, value_name = "ID")]
    pub(super) external_id: Option<String>,
    /// An id on a platform, for example `discord:80351110224678912`.
    #[arg(long, value_name = "NAMESPACE:ID", value_parser = platform)]
    pub(super) platform: Option<jackfield_model::PlatformId>,
}

fn platform(text: &str) -> Result<jackfield_model::PlatformId, String> {
    let (namespace, id) =
        text.split_once(':').ok_or("write the platform, a colon and the id, as in `discord:80351110224678912`")?;
    Ok(jackfield_model::PlatformId { namespace: namespace.to_owned(), id: id.to_owned() })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_description_holds_together() {
        super::command().debug_assert();
    }
}
