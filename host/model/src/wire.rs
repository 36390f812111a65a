//! Requests that leave the host and what comes back, before any secret is filled in.

use std::time::Duration;

use crate::dispatch::Blob;

/// An HTTP method that a connector may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the word itself")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl Method {
    /// As it stands in a request line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }
}

/// Where in a request a secret stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the word itself")]
pub enum Place {
    Url,
    Header,
    Body,
}

/// `{{secret:name}}` stands exactly once in that place and is to be filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SecretUse {
    /// Name of the secret, as configured.
    pub secret: String,
    /// Where its placeholder stands.
    pub place: Place,
}

/// An HTTP request as a connector asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// Method.
    pub method: Method,
    /// Absolute `https` URL.
    pub url: String,
    /// In the order given. Connection and framing headers belong to the host.
    pub headers: Vec<(String, String)>,
    /// Body, maybe empty.
    pub body: Blob,
    /// Secrets to fill in.
    pub secrets: Vec<SecretUse>,
    /// Total time from now, connect to last byte. The operator's ceiling applies besides.
    pub timeout: Duration,
}

/// What came back, masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// Status code.
    pub status: u16,
    /// Names in lower case, as often as they came.
    pub headers: Vec<(String, String)>,
    /// Body, decompressed never: the host asks for none.
    pub body: Blob,
}

/// A WebSocket as a connector asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketRequest {
    /// Absolute `wss` URL.
    pub url: String,
    /// Extra headers of the upgrade.
    pub headers: Vec<(String, String)>,
    /// Secrets in `url` and `headers`, each placeholder exactly once.
    pub secrets: Vec<String>,
    /// Offered in this order.
    pub subprotocols: Vec<String>,
    /// Longest time without a single byte, pongs included, before it counts as broken.
    pub silence: Duration,
    /// A JSON object for what later versions may read.
    pub annotations: String,
}
