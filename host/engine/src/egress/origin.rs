//! Origins that the operator grants, and where a request wants to go.
//!
//! Both sides are normalised by the URL parser of the browsers (WHATWG): lower case, punycode, IP addresses in any
//! notation, default ports. A trailing dot is dropped. They are then compared exactly: scheme, host and port.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// The port of `https` and `wss`.
const DEFAULT_PORT: u16 = 443;

/// What a connector may speak. Both are encrypted; plain ones exist only as targets of `connect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the word itself")]
pub enum Scheme {
    Https,
    Wss,
}

impl Scheme {
    /// As it stands in a URL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Wss => "wss",
        }
    }

    fn of(text: &str) -> Option<Self> {
        [Self::Https, Self::Wss].into_iter().find(|scheme| scheme.as_str().eq_ignore_ascii_case(text))
    }
}

/// An origin as it is granted: `https://host[:port]` or `wss://host[:port]`. A host that begins with `*.` stands for every
/// name below the rest, any number of labels deep, but not for the rest itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin {
    scheme: Scheme,
    hosts: Hosts,
    port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Hosts {
    One(Host<String>),
    Below(String),
}

/// Where one request goes, normalised.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Destination {
    /// Scheme.
    pub scheme: Scheme,
    /// Name or address.
    pub host: Host<String>,
    /// Port, the default one filled in.
    pub port: u16,
}

/// Why a text is no origin, and what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// Neither `https://` nor `wss://`.
    #[error("`{0}`: begin with `https://` or `wss://`")]
    Scheme(String),
    /// More than scheme, host and port.
    #[error("`{origin}`: an origin is scheme, host and port: remove the {part}")]
    Surplus {
        /// As written.
        origin: String,
        /// What is too much.
        part: &'static str,
    },
    /// A `*` that is not the first label, or with fewer than two labels behind it.
    #[error("`{0}`: `*.` may only stand first, before a name of at least two labels, as in `*.example.com`")]
    Wildcard(String),
    /// The host or port is none.
    #[error("`{origin}`: {reason}")]
    Host {
        /// As written.
        origin: String,
        /// What is wrong.
        reason: String,
    },
}

impl Origin {
    /// Whether a request to there is of this origin.
    #[must_use]
    pub fn admits(&self, destination: &Destination) -> bool {
        self.scheme == destination.scheme
            && self.port == destination.port
            && match (&self.hosts, &destination.host) {
                (Hosts::One(host), other) => host == other,
                (Hosts::Below(base), Host::Domain(name)) => is_below(name, base),
                (Hosts::Below(_), Host::Ipv4(_) | Host::Ipv6(_)) => false,
            }
    }

    /// What both allow: again an origin, or nothing.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        let narrower = match (&self.hosts, &other.hosts) {
            (mine, theirs) if mine == theirs => self,
            (Hosts::One(Host::Domain(name)), Hosts::Below(base)) if is_below(name, base) => self,
            (Hosts::Below(base), Hosts::One(Host::Domain(name))) if is_below(name, base) => other,
            (Hosts::Below(mine), Hosts::Below(theirs)) if is_below(mine, theirs) => self,
            (Hosts::Below(mine), Hosts::Below(theirs)) if is_below(theirs, mine) => other,
            _ => return None,
        };
        (self.scheme == other.scheme && self.port == other.port).then(|| narrower.clone())
    }

    /// Scheme of everything in it.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// How exactly it names its hosts: a single one most, then the longest name behind the `*.`.
    pub(super) fn specificity(&self) -> usize {
        match &self.hosts {
            Hosts::One(_) => usize::MAX,
            Hosts::Below(base) => base.len(),
        }
    }
}

impl FromStr for Origin {
    type Err = OriginError;
    fn from_str(text: &str) -> Result<Self, OriginError> {
        let (scheme, rest) = text
            .split_once("://")
            .and_then(|(scheme, rest)| Some((Scheme::of(scheme)?, rest)))
            .ok_or_else(|| OriginError::Scheme(text.to_owned()))?;
        let (wildcard, authority) = match rest.strip_prefix("*.") {
            Some(authority) => (true, authority),
            None => (false, rest),
        };
        if authority.contains('*') {
            return Err(OriginError::Wildcard(text.to_owned()));
        }
        let (host, port) = authority_of(text, authority)?;
        let hosts = match host {
            Host::Domain(base) if wildcard && base.contains('.') => Hosts::Below(base),
            _ if wildcard => return Err(OriginError::Wildcard(text.to_owned())),
            host => Hosts::One(host),
        };
        Ok(Self { scheme, hosts, port: port.unwrap_or(DEFAULT_PORT) })
    }
}

impl TryFrom<String> for Origin {
    type Error = OriginError;
    fn try_from(text: String) -> Result<Self, OriginError> {
        text.parse()
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.to_string()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme.as_str())?;
        match &self.hosts {
            Hosts::One(host) => write!(f, "{host}")?,
            Hosts::Below(base) => write!(f, "*.{base}")?,
        }
        if self.port == DEFAULT_PORT { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

impl Destination {
    /// Where this URL leads.
    ///
    /// # Errors
    /// What is wrong with it, for the connector's author.
    pub fn of(url: &Url) -> Result<Self, String> {
        let scheme = Scheme::of(url.scheme()).ok_or_else(|| "use `https://`, or `wss://` for a socket".to_owned())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("remove user name and password; a credential is a listed secret".to_owned());
        }
        let host = url.host().ok_or_else(|| "name a host".to_owned())?.to_owned();
        Ok(Self { scheme, host: normalised(host)?, port: url.port().unwrap_or(DEFAULT_PORT) })
    }

    /// The `Host` header: the port only where it is not the default one.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.port == DEFAULT_PORT { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.authority())
    }
}

/// Host and port out of what stands behind the `://` of `origin`, and nothing else.
pub(super) fn authority_of(origin: &str, authority: &str) -> Result<(Host<String>, Option<u16>), OriginError> {
    let surplus = [('/', "path"), ('\\', "path"), ('?', "query"), ('#', "fragment"), ('@', "user name and password")];
    if let Some((_, part)) = surplus.into_iter().find(|(mark, _)| authority.contains(*mark)) {
        return Err(OriginError::Surplus { origin: origin.to_owned(), part });
    }
    let wrong = |reason: String| OriginError::Host { origin: origin.to_owned(), reason };
    if authority.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(wrong("remove spaces and control characters".to_owned()));
    }
    let url = Url::parse(&format!("https://{authority}")).map_err(|error| wrong(error.to_string()))?;
    let host = url.host().ok_or_else(|| wrong("name a host".to_owned()))?.to_owned();
    Ok((normalised(host).map_err(wrong)?, explicit_port(authority)))
}

/// The port as written. The URL parser drops the one that is its scheme's default, which a target of `connect` needs.
fn explicit_port(authority: &str) -> Option<u16> {
    let (host, port) = authority.rsplit_once(':')?;
    // Inside an IPv6 address there is none.
    if host.contains('[') && !host.contains(']') { None } else { port.parse().ok() }
}

/// Without a trailing dot, and with every label one that DNS can hold.
fn normalised(host: Host<String>) -> Result<Host<String>, String> {
    let Host::Domain(name) = host else { return Ok(host) };
    let name = name.strip_suffix('.').unwrap_or(&name);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
    };
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err(format!("`{name}` is no host name: use letters, digits, `-` and `_`, 1 to 63 between dots"));
    }
    Ok(Host::Domain(name.to_owned()))
}

fn is_below(name: &str, base: &str) -> bool {
    name.strip_suffix(base).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
