//! Requests and responses. A secret is named and given its place in one step, so that the two can't disagree.

use crate::{Blob, HttpMethod, HttpRequest, HttpResponse, Place, SecretUse};

/// The placeholder that the host fills in for a secret that the request or frame lists: `{{secret:name}}`.
#[must_use]
pub fn secret(name: &str) -> String {
    format!("{{{{secret:{name}}}}}")
}

/// What a request waits for in total where its author says nothing: generous for an API call, short enough that a
/// hung server is noticed. Milliseconds.
const TIMEOUT_MS: u32 = 10_000;

impl HttpRequest {
    /// A request without headers, body or secrets. `url` is absolute.
    pub fn new(method: HttpMethod, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Blob::empty(),
            secrets: Vec::new(),
            timeout: TIMEOUT_MS,
        }
    }

    /// `GET url`.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(HttpMethod::Get, url)
    }

    /// `POST url` with a JSON body.
    pub fn post_json(url: impl Into<String>, json: impl Into<String>) -> Self {
        Self::new(HttpMethod::Post, url).json(json)
    }

    /// Gives it a JSON body.
    #[must_use]
    pub fn json(mut self, json: impl Into<String>) -> Self {
        self.body = Blob::Text(json.into());
        self.header("content-type", "application/json")
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds `authorization: <scheme> <secret>`, the secret filled in by the host.
    #[must_use]
    pub fn authorization(self, scheme: &str, secret_name: &str) -> Self {
        let value = format!("{scheme} {}", secret(secret_name));
        self.header("authorization", value).with_secret(secret_name, Place::Header)
    }

    /// Lists a secret whose placeholder the request carries already, exactly once in `place`.
    #[must_use]
    pub fn with_secret(mut self, name: &str, place: Place) -> Self {
        self.secrets.push(SecretUse { secret: name.to_owned(), place });
        self
    }

    /// Total time from now, connect to last byte, in milliseconds.
    #[must_use]
    pub fn timeout_ms(mut self, timeout: u32) -> Self {
        self.timeout = timeout;
        self
    }
}

impl HttpResponse {
    /// A response with a body of text, for `webhook`.
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        Self { status, headers: Vec::new(), body: Blob::Text(body.into()) }
    }

    /// The first header of this name, which must be in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// 200 to 299.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authorization_stands_once_and_is_listed_once() {
        let request = HttpRequest::get("https://example.com/").authorization("Bot", "bot-token");
        assert_eq!(request.headers, [("authorization".to_owned(), "Bot {{secret:bot-token}}".to_owned())]);
        assert_eq!(request.secrets, [SecretUse { secret: "bot-token".into(), place: Place::Header }]);
    }
}
