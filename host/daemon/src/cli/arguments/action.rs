//! What can be written after `action`, `executions` and `trace`.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use jackfield_model::action::EndingKind;
use jackfield_model::{ConnectionId, ExecutionId};

use crate::config::units;

/// What `action run` says of its end. Programs branch on these.
const RUN_CODES: &str = "Exit codes:\n  \
    0  done\n  \
    1  not done, or not all of it: the outcome (partial, rejected, retry, unauthorized, unknown) is the result;\n     \
       also: no host is running\n  \
    2  no such connection or action, or arguments that it does not take: each with its JSON pointer\n  \
    3  refused, and nothing was sent: it needs approval, the key was used for something else, or a second attempt\n     \
       without a key might do it twice\n\n\
    Whoever breaks the command off has left: the execution is cancelled, and the ledger keeps what is known of it.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List what can be done, by connection.
    List {
        /// On this connection only.
        #[arg(long, value_name = "ID")]
        connection: Option<ConnectionId>,
    },
    /// Show what an action does and takes.
    Show {
        /// On which connection.
        connection: ConnectionId,
        /// Which action.
        action: String,
    },
    /// Do it, and say how it ended.
    #[command(after_help = RUN_CODES)]
    Run(Run),
}

/// One action to be run.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// On which connection.
    pub(crate) connection: ConnectionId,
    /// Which action.
    pub(crate) action: String,
    /// Its arguments: a JSON object, `@FILE` for one in a file, or `-` for one on stdin.
    #[arg(long, value_name = "JSON|@FILE|-", default_value = "{}", allow_hyphen_values = true)]
    pub(crate) args: String,
    /// Run it once under this key: the same key and arguments again are told how it ended, and send nothing.
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Which attempt this is.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: u32,
    /// Approve what needs approval.
    #[arg(long)]
    pub(crate) approve: bool,
    /// Wait at most so long, for example `10s`; the action's own time and the operator's limit apply besides.
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Executions {
    /// List them, newest first.
    List(Which),
    /// Show one: arguments and result redacted, and every request that it made.
    Show {
        /// Its id.
        id: ExecutionId,
    },
}

/// Which executions.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Of this connection only.
    #[arg(long, value_name = "ID")]
    pub(crate) connection: Option<ConnectionId>,
    /// Of this action only.
    #[arg(long)]
    pub(crate) action: Option<String>,
    /// That ended so.
    #[arg(long, value_parser = outcome())]
    pub(crate) outcome: Option<EndingKind>,
    /// Submitted under this key.
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// That made this, by the platform's id.
    #[arg(long, value_name = "ID")]
    pub(crate) provider_id: Option<String>,
    /// Older than this one.
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<ExecutionId>,
    /// At most so many.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=200))]
    pub(crate) limit: u64,
}

/// What is to be traced.
#[derive(Debug, Args)]
pub(crate) struct Trace {
    /// An id of the platform, the key of an event, the id of an execution, or the key that a caller gave.
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: String,
    /// At most so many of each kind.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=200))]
    pub(crate) limit: u64,
}

fn outcome() -> impl clap::builder::TypedValueParser<Value = EndingKind> {
    let words = EndingKind::ALL.map(EndingKind::as_str);
    let kind = |word: String| EndingKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    PossibleValuesParser::new(words).try_map(move |word| kind(word).ok_or("no such outcome"))
}
