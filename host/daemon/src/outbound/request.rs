//! What a caller asks for, and what it is told.

use std::time::Duration;

use jackfield_model::action::{ActionSpec, Ending};
use jackfield_model::{ConnectionId, ExecutionId, Generation};
use jackfield_store::execution::Surface;
use serde::Serialize;

/// One action to be run.
#[derive(Clone, Debug)]
pub struct Request {
    /// On which connection.
    pub connection: ConnectionId,
    /// Which of its actions.
    pub action: String,
    /// Its arguments: JSON, as text.
    pub args: String,
    /// Under which key the caller submits it. The same key and the same arguments are run once.
    pub key: Option<String>,
    /// Which attempt the caller says it is, 1 for the first.
    pub attempt: u32,
    /// The caller approves what needs approval.
    pub approve: bool,
    /// How long the caller waits; the action's own time and the operator's limit apply besides.
    pub timeout: Option<Duration>,
    /// Where it is asked for.
    pub surface: Surface,
    /// Who asks, for the ledger.
    pub caller: String,
}

/// An action that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// On which connection.
    pub connection: ConnectionId,
    /// Which generation of its code has it.
    pub generation: Generation,
    /// What it says of itself.
    pub spec: ActionSpec,
}

/// An execution that ended, or had ended before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its row in the ledger.
    pub id: ExecutionId,
    /// Which attempt it was.
    pub attempt: u32,
    /// How it ended.
    pub ending: Ending,
    /// It had ended before: this is what was recorded under the caller's key, nothing was sent now.
    pub recorded: bool,
    /// What happened on the way that somebody may want to know. Redacted.
    pub notes: Vec<String>,
}

/// One argument that the action's schema does not take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArgumentProblem {
    /// Where, as a JSON pointer (RFC 6901); empty for the arguments as a whole.
    pub pointer: String,
    /// What is wrong there, and what was expected.
    pub problem: String,
}

/// Why nothing was run. Nothing was sent and no row was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No such connection.
    #[error("there is no connection `{name}`{}", nearest(.near))]
    NoConnection {
        /// What was asked for.
        name: ConnectionId,
        /// The nearest name.
        near: Option<String>,
    },
    /// No such action.
    #[error("`{connection}` has no action `{name}`{}; `jackfield action list` shows what there is", nearest(.near))]
    NoAction {
        /// Of which connection.
        connection: ConnectionId,
        /// What was asked for.
        name: String,
        /// The nearest name.
        near: Option<String>,
    },
    /// Arguments that the schema does not take, all of them.
    #[error("the arguments do not fit `{action}`:\n{}", .problems.iter().map(|ArgumentProblem { pointer, problem }| format!("  - {}: {problem}", if pointer.is_empty() { "the whole" } else { pointer })).collect::<Vec<_>>().join("\n"))]
    Arguments {
        /// Of which action.
        action: String,
        /// What is wrong.
        problems: Vec<ArgumentProblem>,
    },
    /// Something else of the request can't be taken.
    #[error("{0}")]
    Invalid(String),
    /// It destroys something, and nobody approved.
    #[error("`{action}` is {class} and needs approval: look at the arguments, then add --approve")]
    NeedsApproval {
        /// Which action.
        action: String,
        /// Its destructive class.
        class: &'static str,
    },
    /// A second attempt of something that would be done twice.
    #[error(
        "attempt {attempt} of `{action}` is refused: it is {idempotency} and no key was given, so it might be done twice; \
         submit it under a key from the first attempt on, or look with `jackfield executions` what became of that one"
    )]
    Repeat {
        /// Which action.
        action: String,
        /// Which attempt.
        attempt: u32,
        /// What the action says of itself.
        idempotency: &'static str,
    },
    /// The key was used for something else.
    #[error("the key was used for other arguments, by execution {id}: use another key")]
    Conflict {
        /// That execution.
        id: ExecutionId,
    },
    /// The same is being run at the moment, and took longer than the caller waits.
    #[error("execution {id} runs under this key at the moment: ask again with the same key")]
    Running {
        /// That execution.
        id: ExecutionId,
    },
    /// So many wait already.
    #[error("{0} calls of this connection wait already: try again later")]
    Full(usize),
    /// The ledger can't be written, and nothing is sent without it.
    #[error("nothing was sent: {0}")]
    Store(String),
    /// The executor failed, after the call was taken.
    #[error(
        "the executor failed ({0}): whether something was sent is not known; look with `jackfield executions list`"
    )]
    Failed(String),
    /// The host is stopping.
    #[error("the host is stopping: nothing was sent")]
    Stopping,
}

fn nearest(near: &Option<String>) -> String {
    near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}
