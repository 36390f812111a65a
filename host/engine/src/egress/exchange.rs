//! One HTTP/1.1 request over one connection, and its answer.
//!
//! The connection is made for this request and belongs to it: no proxy, no redirect, no compression, no trailers. Whoever
//! stops waiting closes it.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use http::header::{self, HeaderValue};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use jackfield_model::wire::HttpResponse;
use jackfield_model::{Blob, Fault};
use tokio_util::task::AbortOnDropHandle;

use super::audit::{Departed, Failure};
use super::ceilings::Ceilings;
use super::check::Plan;
use super::wire::Wire;
use crate::secret::{Mask, Secrets};

/// What a request says of itself when its connector says nothing.
const USER_AGENT: &str = concat!("Jackfield/", env!("CARGO_PKG_VERSION"));

/// An answer whose body is still on its way. The connection lives as long as it.
pub(super) struct Answer {
    pub(super) response: Response<Incoming>,
    connection: AbortOnDropHandle<()>,
}

/// Fills the gaps and puts the host's own headers in. Nothing is checked here any more.
pub(super) fn build(plan: &Plan, secrets: &Secrets) -> Result<Request<Full<Bytes>>, Fault> {
    let impossible = |part: &str| Fault::Invalid(format!("{part}: can't be sent with the secrets filled in"));
    let path = plan.path.fill(secrets)?;
    let mut request = Request::new(Full::new(plan.body.fill(secrets)?));
    *request.method_mut() = plan.method.clone();
    // Origin form: where it goes is decided by the connection alone.
    *request.uri_mut() = http::Uri::from_maybe_shared(path).map_err(|_| impossible("url"))?;

    let head = request.headers_mut();
    let host = HeaderValue::from_str(&plan.destination.authority()).map_err(|_| impossible("host"))?;
    head.insert(header::HOST, host);
    for (name, template) in &plan.headers {
        let mut value =
            HeaderValue::from_maybe_shared(template.fill(secrets)?).map_err(|_| impossible(name.as_str()))?;
        value.set_sensitive(template.has_gaps());
        head.append(name.clone(), value);
    }
    // What was compressed can't be scanned for secrets, and can grow without end.
    head.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    head.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
    Ok(request)
}

/// Sends a request and waits for the head of its answer. `left` is set when it may have reached the other side.
pub(super) async fn send(
    wire: Wire,
    request: Request<Full<Bytes>>,
    ceilings: &Ceilings,
    left: &Departed,
) -> Result<Answer, Failure> {
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(ceilings.headers)
        .max_header_size(ceilings.header_bytes)
        .max_buf_size(ceilings.header_bytes.max(8 * 1024))
        .handshake(TokioIo::new(wire))
        .await
        .map_err(|error| Failure::unavailable(format!("begin HTTP: {error}")))?;
    let connection = AbortOnDropHandle::new(tokio::spawn(async move {
        // How it ended is told by the request.
        let _ = connection.with_upgrades().await;
    }));
    left.set(true);
    match sender.try_send_request(request).await {
        Ok(response) => Ok(Answer { response, connection }),
        Err(mut error) => {
            // The request comes back when not a byte of it was written.
            let unsent = error.take_message().is_some();
            let reason = format!("send the request: {}", chain(&error.into_error()));
            if unsent {
                left.set(false);
                return Err(Failure::unavailable(reason));
            }
            Err(Failure::unknown("the answer was lost", reason))
        }
    }
}

impl Answer {
    /// The whole answer, masked. One that is too long, or compressed although that was not asked for, is lost.
    /// `masked` is set when there was something to mask.
    pub(super) async fn collect(
        mut self,
        limit: usize,
        mask: &Mask,
        masked: &mut bool,
    ) -> Result<HttpResponse, Failure> {
        let too_long = || {
            let text = format!("the answer is longer than {limit} bytes");
            Failure::unknown(&text, text.clone())
        };
        let declared = self.response.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        // The answer to HEAD declares a body that does not come.
        if declared.and_then(|length| length.parse().ok()).is_some_and(|length: usize| length > limit)
            && !hyper::body::Body::is_end_stream(self.response.body())
        {
            return Err(too_long());
        }
        let mut body = BytesMut::new();
        while let Some(frame) = self.response.body_mut().frame().await {
            let frame = frame.map_err(|error| {
                Failure::unknown("the answer broke off", format!("read the answer: {}", chain(&error)))
            })?;
            // Trailers are dropped: no connector can see them.
            let Ok(data) = frame.into_data() else { continue };
            if body.len() + data.len() > limit {
                return Err(too_long());
            }
            body.extend_from_slice(&data);
        }
        if !body.is_empty() && is_coded(self.response.headers()) {
            let text = "the answer is compressed, which was not asked for";
            return Err(Failure::unknown(text, text));
        }
        let body = body.freeze();
        let before = body.as_ptr();
        let body = mask.bytes(body);
        *masked |= body.as_ptr() != before;
        Ok(HttpResponse { body: Blob::from_bytes(body), ..head(&self.response, mask, masked) })
    }

    /// The connection itself, once the other side agreed to speak something else on it.
    pub(super) async fn upgrade(mut self) -> Result<(Wire, Bytes), Failure> {
        let failed = |reason: String| Failure::unknown("the upgrade broke off", reason);
        let upgraded = hyper::upgrade::on(&mut self.response).await.map_err(|e| failed(format!("upgrade: {e}")))?;
        drop(self.connection);
        let parts = upgraded.downcast::<TokioIo<Wire>>().map_err(|_| failed("upgrade: not our stream".to_owned()))?;
        Ok((parts.io.into_inner(), parts.read_buf))
    }
}

/// Status and headers, masked, without a body.
pub(super) fn head(response: &Response<Incoming>, mask: &Mask, masked: &mut bool) -> HttpResponse {
    let mut text = |bytes: &[u8]| match mask.text(&String::from_utf8_lossy(bytes)) {
        Cow::Borrowed(clean) => clean.to_owned(),
        Cow::Owned(replaced) => {
            *masked = true;
            replaced
        }
    };
    let headers = response.headers().iter();
    HttpResponse {
        status: response.status().as_u16(),
        headers: headers.map(|(name, value)| (text(name.as_str().as_bytes()), text(value.as_bytes()))).collect(),
        body: Blob::from_bytes(Bytes::new()),
    }
}

fn is_coded(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    codings.any(|coding| !coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity"))
}

/// An error and what caused it: hyper keeps the part that says something in the cause.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
