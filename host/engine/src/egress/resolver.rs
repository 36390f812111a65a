//! From a name to addresses. What they are worth is decided elsewhere.

use std::net::IpAddr;

use async_trait::async_trait;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::LookupIpStrategy;

/// Finds the addresses of a name. Asked once for each connection that is made, and never again for that one.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of this name, in order of preference. The name has no trailing dot.
    ///
    /// # Errors
    /// There are none, or nobody could say.
    async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, ResolveError>;
}

/// A name without addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResolveError(
    /// What the name server said. For the log alone.
    pub String,
);

/// The name servers and hosts file of this machine. Search domains are not used: a granted name is a whole one.
pub struct SystemResolver {
    inner: TokioResolver,
}

impl SystemResolver {
    /// Reads the system's configuration.
    ///
    /// # Errors
    /// There is none that can be read.
    pub fn new() -> Result<Self, ResolveError> {
        let failed = |error: hickory_resolver::net::NetError| ResolveError(error.to_string());
        let mut builder = TokioResolver::builder_tokio().map_err(failed)?;
        builder.options_mut().ip_strategy = LookupIpStrategy::Ipv6AndIpv4;
        Ok(Self { inner: builder.build().map_err(failed)? })
    }
}

#[async_trait]
impl Resolver for SystemResolver {
    async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, ResolveError> {
        // The dot makes it a whole name: no search domain is tried.
        let found = self.inner.lookup_ip(format!("{host}.")).await.map_err(|error| ResolveError(error.to_string()))?;
        Ok(found.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn this_machine_is_known_without_a_network() {
        let addresses = SystemResolver::new().unwrap().lookup("localhost").await.unwrap();
        assert!(!addresses.is_empty() && addresses.iter().all(IpAddr::is_loopback), "{addresses:?}");
    }
}
