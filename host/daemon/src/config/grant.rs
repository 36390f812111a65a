//! What an operator allows, and where allowed origins really lead.

use std::fmt;
use std::str::FromStr;

pub use jackfield_engine::egress::{Origin, OriginError, Target, TargetError};

use super::{nearest, units};

/// Something that an operator allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Requests or sockets to an origin.
    Origin(Origin),
    /// Look-up of contacts.
    Contacts,
    /// Short critical sections.
    Lease,
    /// Bytes of durable state.
    State(u64),
}

/// Not a grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadGrant {
    /// An origin with something wrong.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// `state:` with something else than a size.
    #[error(transparent)]
    State(#[from] units::BadQuantity),
    /// None of the words.
    #[error("`{text}` is not a grant{}: write `https://host`, `wss://host`, `contacts`, `lease` or `state:64KiB`", .near.as_ref().map(|near| format!(", did you mean `{near}`")).unwrap_or_default())]
    Unknown {
        /// As written.
        text: String,
        /// A word that is much like it.
        near: Option<String>,
    },
}

impl FromStr for Grant {
    type Err = BadGrant;

    fn from_str(text: &str) -> Result<Self, BadGrant> {
        match text {
            "contacts" => Ok(Self::Contacts),
            "lease" => Ok(Self::Lease),
            _ => match text.strip_prefix("state:") {
                Some(size) => Ok(Self::State(units::size(size)?)),
                None if text.contains("://") => Ok(Self::Origin(text.parse()?)),
                None => {
                    let near = nearest::word(text, ["contacts", "lease", "state:64KiB"]).map(str::to_owned);
                    Err(BadGrant::Unknown { text: text.to_owned(), near })
                }
            },
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Origin(origin) => origin.fmt(f),
            Self::Contacts => f.write_str("contacts"),
            Self::Lease => f.write_str("lease"),
            Self::State(bytes) => write!(f, "state:{}", units::show_size(*bytes)),
        }
    }
}

/// Whether everything that `inner` allows is allowed by `outer` too.
#[must_use]
pub(super) fn within(inner: &Origin, outer: &Origin) -> bool {
    inner.meet(outer).as_ref() == Some(inner)
}

/// A granted origin that really leads somewhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The grant, as written.
    pub from: Origin,
    /// Where it leads.
    pub to: Target,
}

/// An entry of a `connect` map that can't be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadRoute {
    pub(super) about_key: bool,
    pub(super) message: String,
    pub(super) help: String,
}

impl Route {
    /// Reads an entry of a `connect` map. Whether both speak the same protocol is the gate's to say.
    pub(super) fn new(from: &str, to: &str) -> Result<Self, BadRoute> {
        let bad = |about_key, message, help: &str| BadRoute { about_key, message, help: help.to_owned() };
        let from = from
            .parse()
            .map_err(|error: OriginError| bad(true, error.to_string(), "write it as the grant is written"))?;
        let to = to.parse().map_err(|error: TargetError| {
            bad(false, error.to_string(), "write scheme, host and port; the path of a request stays as it is")
        })?;
        Ok(Self { from, to })
    }

    /// What to change where its origin is not granted: nothing that a connection does not reach can be led elsewhere.
    pub(super) fn unless_granted(&self, grants: &[Grant]) -> Option<BadRoute> {
        let from = &self.from;
        if grants.iter().any(|grant| matches!(grant, Grant::Origin(origin) if origin == from)) {
            return None;
        }
        let origins = grants.iter().filter(|grant| matches!(grant, Grant::Origin(_)));
        let origins: Vec<String> = origins.map(Grant::to_string).collect();
        let near = nearest::word(&from.to_string(), origins.iter().map(String::as_str)).map(str::to_owned);
        let help = match near {
            Some(near) => format!("did you mean \"{near}\"? Else add \"{from}\" to `grants`"),
            None => format!("add \"{from}\" to `grants`, or write one of the grants"),
        };
        Some(BadRoute { about_key: true, message: format!("`{from}` is not one of this connection's grants"), help })
    }
}
