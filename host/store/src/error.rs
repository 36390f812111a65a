//! Why a store did not answer.

/// What a caller branches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Try again: nothing was written.
    Unavailable,
    /// No room: nothing was written, nothing will be until somebody makes some.
    Full,
    /// Whoever asks has as many of these as one may have at once: nothing was written, nothing will be until some end.
    TooMany,
    /// Whether it was written is not known, and the store can't be trusted any more: end the process. A failed flush is
    /// such a case; it must not be retried. Also what can't be opened as it is.
    Broken,
    /// Another process has it.
    Locked,
    /// Made by a newer version.
    TooNew,
}

/// An error of a store. Where it came from is in the text and the source; code branches on [`StoreError::kind`].
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Try again.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// No room.
    #[error("no room left in the store: {0}; free space on its disk")]
    Full(String),
    /// As many as may be at once.
    #[error("there are {max} {what} already, as many as may be at once; end some, or wait until they lapse")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// Can't be trusted any more.
    #[error("the store is broken: {0}; the process must restart")]
    Broken(String),
    /// Another process has it.
    #[error("{path} is in use by another process{}; stop that one, or give this one its own data folder", .pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    Locked {
        /// The data folder.
        path: String,
        /// Who holds it, where that is known.
        pid: Option<u32>,
    },
    /// Not what it should be: damaged, another program's, another user's.
    #[error("{path} can't be used: {reason}")]
    Unusable {
        /// The file or folder.
        path: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// Made by a newer version.
    #[error("{path} has schema version {found}, this version knows {known}; use the newer version that wrote it")]
    TooNew {
        /// The file.
        path: String,
        /// What stands in it.
        found: u32,
        /// The newest that this version knows.
        known: u32,
    },
}

impl StoreError {
    /// What to branch on.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Unavailable(_) => Kind::Unavailable,
            Self::Full(_) => Kind::Full,
            Self::TooMany { .. } => Kind::TooMany,
            Self::Broken(_) | Self::Unusable { .. } => Kind::Broken,
            Self::Locked { .. } => Kind::Locked,
            Self::TooNew { .. } => Kind::TooNew,
        }
    }
}

/// What every store function returns.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
