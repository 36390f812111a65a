//! From a destination to a connected stream: resolve once, judge every address, dial the judged ones.
//!
//! What is dialled is the address that was judged, never the name: a name server that answers differently the second
//! time is not asked a second time.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use url::Host;

use super::address;
use super::ceilings::Ceilings;
use super::origin::Destination;
use super::policy::{Route, Target};
use super::resolver::Resolver;
use super::tls;
use super::wire::Wire;

/// Most addresses of one name that are tried. Platforms publish two to eight.
const ADDRESSES_MAX: usize = 8;

/// Head start of an address before the next one is tried beside it (RFC 8305 §5).
const HEAD_START: Duration = Duration::from_millis(250);

/// Port and peer of what was dialled: what the log needs.
pub(super) struct Dialled {
    pub(super) wire: Wire,
    pub(super) peer: SocketAddr,
}

/// Why there is no connection. Nothing has left.
#[derive(Debug)]
pub(super) enum DialError {
    /// An address that must not be reached. The text is for the log.
    Forbidden(String),
    /// It may work later. The text is for the log.
    Failed(String),
}

/// Everything that dialling needs.
pub(super) struct Dialler {
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) tls: TlsConnector,
    pub(super) ceilings: Ceilings,
}

impl Dialler {
    pub(super) async fn dial(&self, destination: &Destination, route: &Route) -> Result<Dialled, DialError> {
        let (host, port, encrypted) = match route {
            Route::Public => (&destination.host, destination.port, true),
            Route::Mapped(target) => (&target.host, target.port, target.encrypted),
        };
        let addresses = match route {
            Route::Public => self.public(host).await?,
            Route::Mapped(target) => self.mapped(target).await?,
        };
        let candidates: Vec<_> = interleaved(addresses).into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
        let (tcp, peer) = race(&candidates, self.ceilings.connect_time)
            .await
            .map_err(|error| DialError::Failed(format!("connect {candidates:?}: {error}")))?;
        // Requests are written whole; waiting for more would only add latency. Not critical, so not checked.
        let _ = tcp.set_nodelay(true);
        let wire = if encrypted { self.encrypt(host, tcp, peer).await? } else { Wire::plain(tcp) };
        Ok(Dialled { wire, peer })
    }

    async fn encrypt(&self, host: &Host<String>, tcp: TcpStream, peer: SocketAddr) -> Result<Wire, DialError> {
        match timeout(self.ceilings.connect_time, tls::encrypt(&self.tls, host, tcp)).await {
            Ok(Ok(wire)) => Ok(wire),
            Ok(Err(error)) => Err(DialError::Failed(format!("TLS with {peer}: {error}"))),
            Err(_) => Err(DialError::Failed(format!("TLS with {peer}: no answer in {:?}", self.ceilings.connect_time))),
        }
    }

    /// Addresses of a host on the public network: every single one has to be public.
    async fn public(&self, host: &Host<String>) -> Result<Vec<IpAddr>, DialError> {
        let addresses = self.resolve(host).await?;
        for &ip in &addresses {
            address::check(ip).map_err(|forbidden| {
                let address::Forbidden { kind, rule } = forbidden;
                DialError::Forbidden(format!("{host} resolves to {ip}: {kind} ({rule})"))
            })?;
        }
        Ok(addresses)
    }

    /// Addresses of what the operator named: private ones too, and without TLS loopback alone.
    async fn mapped(&self, target: &Target) -> Result<Vec<IpAddr>, DialError> {
        let loopback = target.loopback();
        if loopback.is_empty() { self.resolve(&target.host).await } else { Ok(loopback) }
    }

    async fn resolve(&self, host: &Host<String>) -> Result<Vec<IpAddr>, DialError> {
        let name = match host {
            Host::Ipv4(address) => return Ok(vec![(*address).into()]),
            Host::Ipv6(address) => return Ok(vec![(*address).into()]),
            Host::Domain(name) => name,
        };
        match timeout(self.ceilings.resolve_time, self.resolver.lookup(name)).await {
            Err(_) => Err(DialError::Failed(format!("resolve {name}: no answer in {:?}", self.ceilings.resolve_time))),
            Ok(Err(error)) => Err(DialError::Failed(format!("resolve {name}: {error}"))),
            Ok(Ok(addresses)) if addresses.is_empty() => {
                Err(DialError::Failed(format!("resolve {name}: no addresses")))
            }
            Ok(Ok(addresses)) => Ok(addresses),
        }
    }
}

/// The two families in turn, beginning with what the resolver put first, so that a broken one costs one head start.
fn interleaved(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let first_is_v6 = addresses.first().is_some_and(IpAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|ip| ip.is_ipv6() == first_is_v6);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut mixed = Vec::new();
    while mixed.len() < ADDRESSES_MAX {
        let before = mixed.len();
        mixed.extend(first.next());
        mixed.extend(second.next());
        if mixed.len() == before {
            break;
        }
    }
    mixed.truncate(ADDRESSES_MAX);
    mixed
}

/// The first address that answers, each with a head start on the next (RFC 8305).
async fn race(candidates: &[SocketAddr], limit: Duration) -> io::Result<(TcpStream, SocketAddr)> {
    let connect = async |peer: SocketAddr| match timeout(limit, TcpStream::connect(peer)).await {
        Ok(connected) => connected.map(|tcp| (tcp, peer)),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    };
    let mut waiting = candidates.iter();
    let mut attempts = FuturesUnordered::new();
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let more = waiting.next().map(|&peer| attempts.push(connect(peer))).is_some();
        if attempts.is_empty() {
            return Err(failure);
        }
        tokio::select! {
            Some(attempt) = attempts.next() => match attempt {
                Ok(connected) => return Ok(connected),
                Err(error) => failure = error,
            },
            () = sleep(HEAD_START), if more => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[test]
    fn families_take_turns() {
        let ips = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
        assert_eq!(interleaved(ips(&["::1", "::2", "::3", "1.1.1.1"])), ips(&["::1", "1.1.1.1", "::2", "::3"]));
        assert_eq!(interleaved(ips(&["1.1.1.1", "::1"])), ips(&["1.1.1.1", "::1"]));
        assert_eq!(interleaved(vec![IpAddr::from([1, 1, 1, 1]); 99]).len(), ADDRESSES_MAX);
    }

    #[tokio::test]
    async fn an_address_that_refuses_costs_nothing() {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let open = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let open_at = open.local_addr().unwrap();
        let (_, peer) = race(&[closed, open_at], Duration::from_secs(10)).await.unwrap();
        assert_eq!(peer, open_at);
        assert!(race(&[closed, closed], Duration::from_secs(10)).await.is_err());
        assert!(race(&[], Duration::from_secs(10)).await.is_err());
    }
}
