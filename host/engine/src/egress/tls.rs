//! Whom an encrypted connection trusts: the public roots (webpki), and what the operator adds.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Host;

use super::wire::Wire;

/// Sessions that a gate remembers, to save a round trip when it connects again. A connector speaks to a few hosts.
const SESSIONS: usize = 16;

/// The authorities whose certificates are accepted. Made once, shared by all gates.
#[derive(Clone)]
pub struct Trust {
    config: Arc<ClientConfig>,
}

/// Why no trust could be set up.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// An added root is no certificate that can be one.
    #[error("additional root certificate {index}: {reason}")]
    Root {
        /// Which, counted from 0.
        index: usize,
        /// What is wrong with it.
        reason: rustls::Error,
    },
    /// The cryptography lacks what the protocol needs: a fault of the build.
    #[error("TLS can't be set up: {0}")]
    Protocol(rustls::Error),
}

impl Trust {
    /// The public roots, and these besides: private authorities, and tests.
    ///
    /// # Errors
    /// One of them is not a root certificate.
    pub fn new(additional: Vec<CertificateDer<'static>>) -> Result<Self, TrustError> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for (index, root) in additional.into_iter().enumerate() {
            roots.add(root).map_err(|reason| TrustError::Root { index, reason })?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TrustError::Protocol)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config) })
    }

    /// Its own memory of sessions for each gate: one tenant's connections are not linked to another's.
    pub(super) fn connector(&self) -> TlsConnector {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Resumption::in_memory_sessions(SESSIONS);
        TlsConnector::from(Arc::new(config))
    }
}

/// Encrypts a connection, and makes sure that it is this host that answers.
pub(super) async fn encrypt(tls: &TlsConnector, host: &Host<String>, tcp: TcpStream) -> std::io::Result<Wire> {
    let name = match host {
        Host::Domain(name) => ServerName::try_from(name.clone()).map_err(std::io::Error::other)?,
        Host::Ipv4(address) => ServerName::IpAddress(std::net::IpAddr::V4(*address).into()),
        Host::Ipv6(address) => ServerName::IpAddress(std::net::IpAddr::V6(*address).into()),
    };
    Ok(Wire::tls(tls.connect(name, tcp).await?))
}
