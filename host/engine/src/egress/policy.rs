//! What one connection may reach, and where that really leads.

use std::net::IpAddr;
use std::str::FromStr;

use jackfield_model::Fault;
use url::Host;

use super::origin::{Destination, Origin, OriginError, Scheme, authority_of};

/// The effective rights of a connection on the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    grants: Vec<Origin>,
    connect: Vec<(Origin, Target)>,
}

/// Where the operator lets a granted origin lead: `https://`, `wss://`, or plain `http://` and `ws://` on loopback.
///
/// The operator's word: private and loopback addresses are allowed here alone. TLS is checked against the target's own
/// name; the `Host` header stays the granted one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    pub(super) encrypted: bool,
    pub(super) scheme: Scheme,
    pub(super) host: Host<String>,
    pub(super) port: u16,
}

/// Why a target of `connect` was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not a scheme that a target can have.
    #[error("`{0}`: begin with `https://` or `wss://`, or with `http://` or `ws://` on loopback")]
    Scheme(String),
    /// Host, port, or something too much.
    #[error(transparent)]
    Authority(#[from] OriginError),
    /// Plain text would leave the machine.
    #[error("`{0}`: without TLS only `localhost` and loopback addresses can be reached; use `https://` or `wss://`")]
    Plain(String),
    /// Another protocol than the origin's.
    #[error(
        "`{origin}` can't lead to `{target}`: an `https` origin leads to `https` or `http`, a `wss` one to `wss` or `ws`"
    )]
    Protocol {
        /// The granted origin.
        origin: Origin,
        /// Its target.
        target: String,
    },
}

/// The way to a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// Over the public network, to the host that was asked for.
    Public,
    /// To where the operator maps it.
    Mapped(Target),
}

impl Policy {
    /// What is asked for and granted, both. `connect` maps origins, written as they are granted, to where they lead; of
    /// several that fit a destination the one that names it most exactly counts.
    ///
    /// # Errors
    /// A target of another protocol than its origin.
    pub fn new(asks: &[Origin], grants: &[Origin], connect: Vec<(Origin, Target)>) -> Result<Self, TargetError> {
        for (origin, target) in &connect {
            if origin.scheme() != target.scheme {
                return Err(TargetError::Protocol { origin: origin.clone(), target: target.to_string() });
            }
        }
        let both = asks.iter().flat_map(|ask| grants.iter().filter_map(|grant| ask.meet(grant)));
        Ok(Self { grants: both.collect(), connect })
    }

    /// What can be reached.
    #[must_use]
    pub fn grants(&self) -> &[Origin] {
        &self.grants
    }

    /// The one decision on where a request may go.
    pub(super) fn route(&self, destination: &Destination) -> Result<Route, Fault> {
        if !self.grants.iter().any(|origin| origin.admits(destination)) {
            return Err(Fault::Denied(format!("`{destination}` is not granted to this connection")));
        }
        let mapped = self.connect.iter().filter(|(origin, _)| origin.admits(destination));
        let mapped = mapped.max_by_key(|(origin, _)| origin.specificity());
        Ok(mapped.map_or(Route::Public, |(_, target)| Route::Mapped(target.clone())))
    }
}

impl FromStr for Target {
    type Err = TargetError;
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let (scheme, authority) = text.split_once("://").ok_or_else(|| TargetError::Scheme(text.to_owned()))?;
        let (scheme, encrypted) = match scheme.to_ascii_lowercase().as_str() {
            "https" => (Scheme::Https, true),
            "http" => (Scheme::Https, false),
            "wss" => (Scheme::Wss, true),
            "ws" => (Scheme::Wss, false),
            _ => return Err(TargetError::Scheme(text.to_owned())),
        };
        let (host, port) = authority_of(text, authority)?;
        let target = Self { encrypted, scheme, host, port: port.unwrap_or(if encrypted { 443 } else { 80 }) };
        if !encrypted && target.loopback().is_empty() {
            return Err(TargetError::Plain(text.to_owned()));
        }
        Ok(target)
    }
}

impl Target {
    /// Its addresses where it is this machine itself. `localhost` is not asked of a name server (RFC 6761 §6.3).
    pub(super) fn loopback(&self) -> Vec<IpAddr> {
        match &self.host {
            Host::Domain(name) if name == "localhost" => {
                vec![std::net::Ipv4Addr::LOCALHOST.into(), std::net::Ipv6Addr::LOCALHOST.into()]
            }
            Host::Ipv4(address) if address.is_loopback() => vec![(*address).into()],
            Host::Ipv6(address) if address.is_loopback() => vec![(*address).into()],
            _ => Vec::new(),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = match (self.scheme, self.encrypted) {
            (Scheme::Https, true) => "https",
            (Scheme::Https, false) => "http",
            (Scheme::Wss, true) => "wss",
            (Scheme::Wss, false) => "ws",
        };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(texts: &[&str]) -> Vec<Origin> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_right_needs_both_keys() {
        let asks = origins(&["https://discord.com", "wss://*.discord.gg", "https://cdn.example"]);
        let grants = origins(&["https://discord.com", "wss://gateway.discord.gg", "https://other.example"]);
        let policy = Policy::new(&asks, &grants, Vec::new()).unwrap();
        assert_eq!(policy.grants(), origins(&["https://discord.com", "wss://gateway.discord.gg"]));
    }

    #[test]
    fn a_target_says_what_is_wrong_with_it() {
        for (text, part) in [
            ("127.0.0.1:80", "begin with"),
            ("ftp://127.0.0.1", "begin with"),
            ("http://127.0.0.1/path", "remove the path"),
            ("http://", "host"),
            ("http://192.168.1.1:80", "without TLS"),
            ("ws://gateway.internal", "without TLS"),
            ("http://localhost.evil.example", "without TLS"),
        ] {
            let error = text.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        for (text, written) in [
            ("http://127.0.0.1", "http://127.0.0.1:80"),
            ("http://127.0.0.1:443", "http://127.0.0.1:443"),
            ("WS://LOCALHOST:4801", "ws://localhost:4801"),
            ("http://[::1]:4801", "http://[::1]:4801"),
            ("https://gateway.internal", "https://gateway.internal:443"),
            ("wss://192.168.1.1:8443", "wss://192.168.1.1:8443"),
        ] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), written);
        }
    }

    #[test]
    fn a_target_speaks_the_protocol_of_its_origin() {
        let lead = |origin: &str, target: &str| {
            Policy::new(&[], &[], vec![(origin.parse().unwrap(), target.parse().unwrap())]).map(drop)
        };
        assert!(lead("https://a.example", "http://localhost").is_ok());
        assert!(lead("wss://a.example", "wss://b.example").is_ok());
        assert!(matches!(lead("wss://a.example", "http://localhost"), Err(TargetError::Protocol { .. })));
        assert!(matches!(lead("https://a.example", "ws://localhost"), Err(TargetError::Protocol { .. })));
    }
}
