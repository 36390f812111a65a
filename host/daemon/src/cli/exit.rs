//! How a command ends: 0 done, 1 failed, 2 usage or invalid configuration, 3 refused.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use crate::admin::{Class, ClientError, Refusal};
use crate::config::{Grade, Problems};

/// Something failed.
const FAILED: u8 = 1;
/// Usage, or an invalid configuration.
const INVALID: u8 = 2;
/// Grants, digest or contract.
const REFUSED: u8 = 3;

/// 128 and the number of SIGINT.
const INTERRUPTED: u8 = 130;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// It failed: what, and what to do.
    Failed(String),
    /// What was asked for is not allowed.
    Refused(String),
    /// It can't be meant as written.
    Usage(String),
    /// The host said no.
    Host(Box<Refusal>),
    /// The configuration is not as it should be.
    Problems(Problems),
    /// Nobody reads the results any more, which is no failure of ours.
    Unread,
}

impl Failure {
    /// It failed.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::Failed(text.into())
    }

    /// The process's exit code.
    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Self::Failed(_) => FAILED.into(),
            Self::Refused(_) => REFUSED.into(),
            Self::Usage(_) => INVALID.into(),
            Self::Host(refusal) => match refusal.class {
                Class::Failed => FAILED.into(),
                Class::Usage => INVALID.into(),
                Class::Refused => REFUSED.into(),
            },
            Self::Problems(problems) => code_of(problems),
            Self::Unread => ExitCode::SUCCESS,
        }
    }
}

/// What was asked for was tried and is not done, and the result says how it ended.
pub(super) fn undone() -> ExitCode {
    FAILED.into()
}

/// Somebody broke the command off with SIGINT: what a shell shows of a process that this signal ended.
pub(super) fn interrupted() -> ExitCode {
    INTERRUPTED.into()
}

/// What was asked about is refused, and the result says why.
pub(super) fn refused() -> ExitCode {
    REFUSED.into()
}

/// The exit code of a configuration with these problems.
pub(super) fn code_of(problems: &Problems) -> ExitCode {
    match problems.worst() {
        Some(Grade::Invalid) => INVALID.into(),
        Some(Grade::Refused) => REFUSED.into(),
        Some(Grade::Warning) | None => ExitCode::SUCCESS,
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(format!("{error:#}"))
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused(refusal) => Self::Host(refusal),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

/// What clap has to say: help and version are results, the rest is usage.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    let shown = error.print();
    let piped = shown.is_err() && !std::io::stdout().is_terminal();
    if error.use_stderr() && !piped { INVALID.into() } else { ExitCode::SUCCESS }
}
