//! The WebSocket handshake of the gateway: `?v=10&encoding=json` and nothing else.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::close::Code;
use super::entry::Event;
use super::gateway::{self, Opening};
use super::rest::Body;
use super::server::{self, Answer};
use super::shared::Shared;

const API_VERSION: &str = "10";

/// What READY names to resume at, for clients that came under Discord's own name.
const PUBLIC_RESUME_URL: &str = "wss://gateway-us-east1-b.discord.gg";

/// Whether the request asks for a WebSocket.
pub(crate) fn asked<B>(request: &Request<B>) -> bool {
    has_token(request.headers(), &header::UPGRADE, "websocket")
}

pub(crate) fn answer(mut request: Request<Incoming>, shared: &Arc<Shared>) -> Answer {
    let host = server::host(request.headers());
    let refused = shared.lock().faults.refusal();
    let accepted = match refused {
        Some(status) => Err((status, "refused by the script".to_owned())),
        None => check(&request),
    };
    let (key, refuse) = match accepted {
        Ok(accepted) => accepted,
        Err((status, why)) => {
            shared.log.push(Event::UpgradeRefused { host, status });
            return refusal(status, why);
        }
    };
    let public = server::is_under(&host, "discord.gg");
    let resume_url = if public { PUBLIC_RESUME_URL.to_owned() } else { shared.origin("ws") };
    let target = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let opening = Opening { host, target, resume_url, refuse };
    let upgrade = hyper::upgrade::on(&mut request);
    let gateway = Arc::clone(shared);
    shared.tasks.spawn(async move {
        match upgrade.await {
            Ok(io) => gateway::run(io, opening, gateway).await,
            Err(error) => tracing::debug!(%error, "upgrade a connection to the double"),
        }
    });
    switching(&key)
}

/// The accept key, and the close code when the client speaks another version.
fn check<B>(request: &Request<B>) -> Result<(String, Option<Code>), (u16, String)> {
    let bad = |why: &str| (StatusCode::BAD_REQUEST.as_u16(), why.to_owned());
    if request.uri().path() != "/" {
        return Err((StatusCode::NOT_FOUND.as_u16(), "the gateway is at /".to_owned()));
    }
    let headers = request.headers();
    if !has_token(headers, &header::CONNECTION, "upgrade") {
        return Err(bad("Connection has to name the upgrade"));
    }
    if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err((StatusCode::UPGRADE_REQUIRED.as_u16(), "Sec-WebSocket-Version has to be 13".to_owned()));
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY).ok_or_else(|| bad("Sec-WebSocket-Key is missing"))?;
    let query = request.uri().query().unwrap_or_default();
    let parameter =
        |name: &str| url::form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, v)| v);
    if parameter("encoding").is_some_and(|encoding| encoding != "json") {
        return Err(bad("the double speaks encoding=json only"));
    }
    if parameter("compress").is_some() {
        return Err(bad("the double does not compress: leave `compress` out"));
    }
    let refuse = parameter("v").is_none_or(|version| version != API_VERSION).then_some(Code::INVALID_API_VERSION);
    Ok((derive_accept_key(key.as_bytes()), refuse))
}

fn has_token(headers: &HeaderMap, name: &header::HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case(token))
}

fn switching(key: &str) -> Answer {
    let mut response = Response::new(Body::whole(""));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(key) = HeaderValue::from_str(key) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, key);
    }
    response
}

fn refusal(status: u16, why: String) -> Answer {
    let mut response = Response::new(Body::whole(why));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(target: &str) -> Result<Option<u16>, u16> {
        let request = Request::builder()
            .uri(target)
            .header("connection", "keep-alive, Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
            .body(())
            .unwrap();
        check(&request).map(|(_, refuse)| refuse.map(|code| code.0)).map_err(|(status, _)| status)
    }

    #[test]
    fn version_and_encoding_are_checked() {
        assert_eq!(checked("/?v=10&encoding=json"), Ok(None));
        assert_eq!(checked("/?v=10"), Ok(None));
        assert_eq!(checked("/?v=9&encoding=json"), Ok(Some(4012)));
        assert_eq!(checked("/?encoding=json"), Ok(Some(4012)));
        assert_eq!(checked("/?v=10&encoding=etf"), Err(400));
        assert_eq!(checked("/?v=10&compress=zlib-stream"), Err(400));
        assert_eq!(checked("/elsewhere?v=10"), Err(404));
    }

    #[test]
    fn the_accept_key_is_that_of_the_rfc() {
        assert_eq!(derive_accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
