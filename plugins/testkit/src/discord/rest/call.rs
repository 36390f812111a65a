//! A request: what its head says, and what came as its body.

use http::request::Parts;
use http::{Method, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde_json::{Map, Value};

use super::reply::Reply;
use crate::discord::server;

/// Where the API is; a version and a route follow.
const API: &str = "/api/";

/// Largest request body; messages are small.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// The head of a request.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// The whole path, without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) host: String,
    credential: Option<String>,
    content_type: Option<String>,
}

/// The body of a request.
#[derive(Debug)]
pub(crate) enum Received {
    Json(Value),
    /// Neither JSON nor whole.
    Garbled,
    TooLarge,
    /// No content type, or one that the double does not read.
    Untyped,
}

impl Call {
    pub(crate) fn new(head: &Parts) -> Self {
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self {
            method: head.method.clone(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            host: server::host(&head.headers),
            credential: text(header::AUTHORIZATION),
            content_type: text(header::CONTENT_TYPE),
        }
    }

    /// The token, if it came as a bot's.
    pub(crate) fn token(&self) -> Option<&str> {
        self.credential.as_deref()?.strip_prefix("Bot ")
    }

    /// The version, and the path that follows it. Without one, none and the whole path.
    pub(crate) fn versioned(&self) -> (Option<&str>, &str) {
        let Some(below) = self.path.strip_prefix(API) else { return (None, &self.path) };
        let end = below.find('/').unwrap_or(below.len());
        let (version, route) = below.split_at(end);
        (Some(version), route)
    }

    /// Reads the body. What is not JSON is only said to be so: who may not ask is told that first.
    pub(crate) async fn receive(&self, body: Incoming) -> Received {
        let bytes = match Limited::new(body, BODY_BYTES_MAX).collect().await {
            Ok(whole) => whole.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return Received::TooLarge,
            Err(_) => return Received::Garbled,
        };
        let media = self.content_type.as_deref().and_then(|value| value.split(';').next()).map(str::trim);
        if !media.is_some_and(|media| media.eq_ignore_ascii_case("application/json")) {
            return Received::Untyped;
        }
        serde_json::from_slice(&bytes).map_or(Received::Garbled, Received::Json)
    }
}

impl Received {
    /// The fields of the body, which has to be an object.
    pub(crate) fn fields(&self) -> Result<&Map<String, Value>, Reply> {
        match self {
            Self::Json(Value::Object(fields)) => Ok(fields),
            Self::Json(_) => Err(Reply::form(&[], "MODEL_TYPE_CONVERT", "Expected an object/dictionary.")),
            Self::Garbled => {
                let message = "The request body contains invalid JSON.";
                Err(Reply::error(http::StatusCode::BAD_REQUEST, 50_109, message))
            }
            Self::TooLarge => {
                let message = "Request entity too large";
                Err(Reply::error(http::StatusCode::PAYLOAD_TOO_LARGE, 40_005, message))
            }
            Self::Untyped => {
                let message = "Expected \"Content-Type\" header to be one of {'application/json'}.";
                Err(Reply::form(&[], "CONTENT_TYPE_INVALID", message))
            }
        }
    }

    /// The nonce, as text, whether it came as a number or as a string.
    pub(crate) fn nonce(&self) -> Option<String> {
        let Self::Json(body) = self else { return None };
        nonce_text(body.get("nonce")?)
    }
}

/// A nonce as text. 5 and "5" are the same.
pub(crate) fn nonce_text(nonce: &Value) -> Option<String> {
    match nonce {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_cut_off() {
        let versioned = |path: &str| {
            let (head, ()) = http::Request::builder().uri(path).body(()).unwrap().into_parts();
            let call = Call::new(&head);
            let (version, route) = call.versioned();
            (version.map(str::to_owned), route.to_owned())
        };
        assert_eq!(versioned("/api/v10/users/@me?a=b"), (Some("v10".to_owned()), "/users/@me".to_owned()));
        assert_eq!(versioned("/api/v10"), (Some("v10".to_owned()), String::new()));
        assert_eq!(versioned("/elsewhere"), (None, "/elsewhere".to_owned()));
    }
}
