//! Why a component is not loaded.

use crate::failure::CallFailure;

/// What a caller branches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadErrorKind {
    /// The file is no component, damaged, or uses what this host has switched off.
    File,
    /// It was made for another contract, or for something that this host does not supply.
    Contract,
    /// It could not be compiled within the limits.
    Compile,
    /// It could not say who it is.
    Describe,
    /// Not its fault: the host could not do its part. Trying again may help.
    Host,
}

/// A component that is refused. The text says everything that is wrong, and what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// More bytes than a component may have.
    #[error("{bytes} bytes, at most {max}; strip debug information and unused code")]
    TooLarge {
        /// How many it has.
        bytes: usize,
        /// How many it may have.
        max: usize,
    },
    /// Something else than a component.
    #[error("this is {what}, not a WebAssembly component; {todo}")]
    NotAComponent {
        /// What it looks like.
        what: &'static str,
        /// What to do.
        todo: &'static str,
    },
    /// Damaged, or using a feature that is switched off.
    #[error("not a valid component for this host: {0}")]
    Invalid(String),
    /// Imports and exports that don't fit, all of them.
    #[error("it does not fit the contract:\n{}", .0.iter().map(|problem| format!("  - {problem}")).collect::<Vec<_>>().join("\n"))]
    Contract(Vec<String>),
    /// The compiler refused it, or reached a limit.
    #[error("it can't be compiled: {0}")]
    Compile(String),
    /// `connector.describe` failed.
    #[error("it can't say who it is: {0}")]
    Describe(#[from] CallFailure),
    /// What `connector.describe` returned breaks the rules, all of it.
    #[error("what it says of itself breaks the contract:\n{}", .0.iter().map(|problem| format!("  - {problem}")).collect::<Vec<_>>().join("\n"))]
    Descriptor(Vec<String>),
    /// The host could not do its part.
    #[error("the host can't load it now: {0}")]
    Host(String),
}

impl LoadError {
    /// What to branch on.
    #[must_use]
    pub fn kind(&self) -> LoadErrorKind {
        match self {
            Self::TooLarge { .. } | Self::NotAComponent { .. } | Self::Invalid(_) => LoadErrorKind::File,
            Self::Contract(_) => LoadErrorKind::Contract,
            Self::Compile(_) => LoadErrorKind::Compile,
            Self::Describe(failure) if failure.kind == crate::failure::FailureKind::Refused => LoadErrorKind::Host,
            Self::Describe(_) | Self::Descriptor(_) => LoadErrorKind::Describe,
            Self::Host(_) => LoadErrorKind::Host,
        }
    }

    /// Wasmtime's own check of names and types: it tells one problem at a time.
    pub(super) fn contract(error: &wasmtime::Error) -> Self {
        Self::Contract(vec![format!("{error:#}")])
    }

    pub(super) fn compile(error: impl std::fmt::Display) -> Self {
        Self::Compile(format!("{error:#}"))
    }
}
