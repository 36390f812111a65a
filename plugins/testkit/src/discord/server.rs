//! The listener: one port for the REST API and the gateway, HTTP/1.1 without TLS.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Request, Response, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::rest::{self, Body, Closed};
use super::shared::Shared;
use super::upgrade;

pub(crate) type Answer = Response<Body>;

/// How long to wait when no connection can be accepted (no file descriptors left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let accepted = tokio::select! {
            () = shared.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                // Without it small frames wait for the client's acknowledgement; a failure only costs speed.
                _ = stream.set_nodelay(true);
                shared.tasks.spawn(carry(stream, Arc::clone(&shared)));
            }
            Err(error) => {
                tracing::warn!(%error, "accept a connection to the double");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn carry(stream: TcpStream, shared: Arc<Shared>) {
    let stop = shared.stop.clone();
    let service = service_fn(move |request| answer(request, Arc::clone(&shared)));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades();
    if let Some(Err(error)) = stop.run_until_cancelled(connection).await {
        tracing::debug!(%error, "serve a connection to the double");
    }
}

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Answer, Closed> {
    if upgrade::asked(&request) { Ok(upgrade::answer(request, &shared)) } else { rest::answer(request, &shared).await }
}

/// The `Host` header, for the log and to know under which name the client reached us.
pub(crate) fn host(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.unwrap_or_default().to_ascii_lowercase()
}

/// Whether the host is this domain or below it.
pub(crate) fn is_under(host: &str, domain: &str) -> bool {
    let name = host.split(':').next().unwrap_or_default();
    name.strip_suffix(domain).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_matched_by_label() {
        for host in ["discord.gg", "gateway.discord.gg", "gateway.discord.gg:443"] {
            assert!(is_under(host, "discord.gg"), "{host}");
        }
        for host in ["", "notdiscord.gg", "discord.gg.example.com", "127.0.0.1:80"] {
            assert!(!is_under(host, "discord.gg"), "{host}");
        }
    }
}
