//! From a socket request to an open socket: RFC 6455 §4.1, the client's side of the opening handshake.
//!
//! The upgrade is an ordinary request of the gate, so that it is dialled, limited and masked like any other, and a refusal
//! comes back with its body.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use jackfield_model::Fault;
use jackfield_model::session::Cause;
use jackfield_model::wire::SocketRequest;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::audit::{Failure, Line};
use super::check::Rights;
use super::exchange;
use super::gate::{Held, Inner, late, shown_origin};
use super::socket::{self, Socket};
use crate::secret::Mask;

/// Why there is no socket.
enum Refusal {
    /// The platform answered with something else.
    Answer(Box<jackfield_model::wire::HttpResponse>),
    Failure(Failure),
}

impl<F: Into<Failure>> From<F> for Refusal {
    fn from(failure: F) -> Self {
        Self::Failure(failure.into())
    }
}

pub(super) async fn open(gate: &Arc<Inner>, request: &SocketRequest) -> Result<Socket, Cause> {
    let Held { policy, secrets } = gate.held();
    let mask = secrets.mask();
    let mut line = gate.line("socket", &mask);
    line.origin = shown_origin(&request.url);
    let limit = gate.ceilings.open_time;

    let work = async {
        let rights = Rights { policy: &policy, secrets: &secrets, ceilings: &gate.ceilings };
        let plan = rights.socket(request)?;
        let place = gate
            .sockets
            .place()
            .ok_or_else(|| Fault::Exhausted(format!("sockets: {} are open or opening", gate.ceilings.sockets)))?;
        let wire = gate.dial(&plan, &mut line).await?;
        let key = STANDARD.encode(rand::random::<[u8; 16]>());
        let mut upgrade = exchange::build(&plan, &secrets)?;
        ask(upgrade.headers_mut(), &key, &request.subprotocols)?;
        let answer = exchange::send(wire, upgrade, &gate.ceilings, &line.left).await?;
        line.status = Some(answer.response.status().as_u16());
        if answer.response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(refused(answer, gate.ceilings.refusal_bytes, &mask, &mut line.masked).await);
        }
        agreed(&answer.response, &key, &request.subprotocols)?;
        let (wire, early) = answer.upgrade().await?;
        socket::begin(gate, plan.destination, place, wire, early).await.map_err(Refusal::from)
    };
    let outcome = timeout(limit, work).await.unwrap_or_else(|_| Err(late(line.left.get(), limit).into()));
    settle(line, outcome)
}

fn settle(mut line: Line<'_>, outcome: Result<Socket, Refusal>) -> Result<Socket, Cause> {
    match outcome {
        Ok(socket) => {
            line.allowed();
            Ok(socket)
        }
        Err(Refusal::Answer(response)) => {
            line.received = response.body.len();
            line.failed(&Failure::unavailable("the platform refused the upgrade"));
            Err(Cause::Refused(*response))
        }
        Err(Refusal::Failure(Failure { fault: Fault::Unknown(_), reason })) => {
            // An upgrade that was not answered opened nothing: there is nothing to be unsure about.
            let failure = Failure::unavailable(reason);
            line.failed(&failure);
            Err(Cause::Failed(failure.fault))
        }
        Err(Refusal::Failure(failure)) => {
            line.failed(&failure);
            Err(Cause::Failed(failure.fault))
        }
    }
}

/// The headers of an upgrade. No extension is offered, so no message is ever compressed.
fn ask(head: &mut HeaderMap, key: &str, subprotocols: &[String]) -> Result<(), Fault> {
    let value = |text: &str| HeaderValue::from_str(text).map_err(|_| Fault::Invalid("subprotocols".to_owned()));
    head.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    head.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    head.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    head.insert(header::SEC_WEBSOCKET_KEY, value(key)?);
    if !subprotocols.is_empty() {
        head.insert(header::SEC_WEBSOCKET_PROTOCOL, value(&subprotocols.join(", "))?);
    }
    Ok(())
}

/// Whether the other side agreed to what was asked, and to nothing else.
fn agreed<B>(response: &Response<B>, key: &str, subprotocols: &[String]) -> Result<(), Failure> {
    let head = response.headers();
    let has = |name, token: &str| {
        let values = head.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case(token))
    };
    let accept = derive_accept_key(key.as_bytes());
    let wrong = if !has(header::UPGRADE, "websocket") || !has(header::CONNECTION, "upgrade") {
        "it does not say `Upgrade: websocket`"
    } else if head.get(header::SEC_WEBSOCKET_ACCEPT).is_none_or(|value| value.as_bytes() != accept.as_bytes()) {
        "`Sec-WebSocket-Accept` does not fit the key"
    } else if head.contains_key(header::SEC_WEBSOCKET_EXTENSIONS) {
        "it uses an extension that was not offered"
    } else if head
        .get_all(header::SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .any(|chosen| !subprotocols.iter().any(|offered| offered.as_bytes() == chosen.as_bytes()))
    {
        "it chose a subprotocol that was not offered"
    } else {
        return Ok(());
    };
    Err(Failure::unavailable(format!("the answer to the upgrade is wrong: {wrong}")))
}

/// The answer of a platform that did not agree. A body that is too long, or that breaks off, is left out: cutting it could
/// cut a secret, which would then not be recognised.
async fn refused(answer: exchange::Answer, limit: usize, mask: &Mask, masked: &mut bool) -> Refusal {
    let head = exchange::head(&answer.response, mask, masked);
    let response = answer.collect(limit, mask, masked).await.unwrap_or(head);
    Refusal::Answer(Box::new(response))
}
