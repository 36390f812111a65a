//! Everything that is decided about a request before anything of it leaves: form, rights, secrets. No waiting, no I/O.
//!
//! What passes is a plan with gaps: the secrets are filled in by whoever carries it out, after the addresses have been
//! judged too.

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderName, Method, header};
use jackfield_model::wire::{self, HttpRequest, Place, SocketRequest};
use jackfield_model::{Blob, Fault};
use url::{Position, Url};

use super::ceilings::Ceilings;
use super::fill::{self, Encoding, Template, placeholder};
use super::headers;
use super::origin::{Destination, Scheme};
use super::policy::{Policy, Route};
use crate::secret::Secrets;

/// Longest URL, in bytes: what common servers take.
const URL_BYTES_MAX: usize = 8 * 1024;

/// Most subprotocols that a socket may offer.
const SUBPROTOCOLS_MAX: usize = 16;

/// A request that may be made.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) destination: Destination,
    pub(super) route: Route,
    pub(super) method: Method,
    /// Path and query.
    pub(super) path: Template,
    pub(super) headers: Vec<(HeaderName, Template)>,
    pub(super) body: Template,
}

/// What a connection may do, at one moment.
pub(super) struct Rights<'a> {
    pub(super) policy: &'a Policy,
    pub(super) secrets: &'a Secrets,
    pub(super) ceilings: &'a Ceilings,
}

impl Rights<'_> {
    /// # Errors
    /// `Invalid` says which part to change, `Denied` which right is missing.
    pub(super) fn http(&self, request: &HttpRequest) -> Result<Plan, Fault> {
        if request.timeout.is_zero() {
            return invalid("timeout: use at least 1 ms");
        }
        if request.body.len() > self.ceilings.request_bytes {
            return invalid(&format!("body: at most {} bytes", self.ceilings.request_bytes));
        }
        let in_place = |place| {
            let listed = request.secrets.iter().filter(move |used| used.place == place);
            listed.map(|used| used.secret.as_str()).collect::<Vec<_>>()
        };
        let content_type = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let encoding = Encoding::of_content_type(content_type.map(|(_, value)| value.as_str()));
        let (url, head, body) = (in_place(Place::Url), in_place(Place::Header), in_place(Place::Body));
        let body = cut_once("body", request.body.bytes(), &body, encoding)?;
        self.plan(Scheme::Https, method(request.method), &request.url, &url, &request.headers, &head, body)
    }

    /// # Errors
    /// As above.
    pub(super) fn socket(&self, request: &SocketRequest) -> Result<Plan, Fault> {
        if request.subprotocols.len() > SUBPROTOCOLS_MAX {
            return invalid(&format!("subprotocols: at most {SUBPROTOCOLS_MAX}"));
        }
        for (index, name) in request.subprotocols.iter().enumerate() {
            let is_token = !name.is_empty() && name.bytes().all(headers::is_token_byte);
            if !is_token || request.subprotocols.iter().take(index).any(|earlier| earlier == name) {
                return invalid(&format!("subprotocols: {name:?} is no token, or stands there twice"));
            }
        }
        let in_url = |secret: &&str| fill::count(request.url.as_bytes(), secret) > 0;
        // One that stands in both places is counted once too often in one of them.
        let (url, head): (Vec<_>, Vec<_>) = request.secrets.iter().map(String::as_str).partition(in_url);
        for secret in &url {
            let value_counts = request.headers.iter().map(|(_, value)| fill::count(value.as_bytes(), secret));
            if value_counts.sum::<usize>() > 0 {
                return invalid(&format!("secrets: `{}` must stand exactly once", placeholder(secret)));
            }
        }
        let body = Template::cut(&Bytes::new(), std::iter::empty(), Encoding::Raw);
        self.plan(Scheme::Wss, Method::GET, &request.url, &url, &request.headers, &head, body)
    }

    /// A message for an open socket.
    ///
    /// # Errors
    /// As above.
    pub(super) fn message(
        &self,
        destination: &Destination,
        message: &Blob,
        listed: &[String],
    ) -> Result<Template, Fault> {
        if message.len() > self.ceilings.frame_bytes {
            return invalid(&format!("message: at most {} bytes", self.ceilings.frame_bytes));
        }
        let listed: Vec<_> = listed.iter().map(String::as_str).collect();
        let encoding = if listed.is_empty() { Encoding::Raw } else { Encoding::of_message(message.bytes()) };
        let template = cut_once("message", message.bytes(), &listed, encoding)?;
        template.check(self.secrets, destination)?;
        Ok(template)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a request; each is used once")]
    fn plan(
        &self,
        scheme: Scheme,
        method: Method,
        url: &str,
        url_secrets: &[&str],
        headers: &[(String, String)],
        header_secrets: &[&str],
        body: Template,
    ) -> Result<Plan, Fault> {
        let (destination, path) = locate(scheme, url, url_secrets)?;
        let with_secrets = !url_secrets.is_empty() || !header_secrets.is_empty() || body.has_gaps();
        let headers = self.head(headers, header_secrets, with_secrets)?;
        let route = self.policy.route(&destination)?;
        for template in headers.iter().map(|(_, template)| template).chain([&path, &body]) {
            template.check(self.secrets, &destination)?;
        }
        Ok(Plan { destination, route, method, path, headers, body })
    }

    fn head(
        &self,
        headers: &[(String, String)],
        secrets: &[&str],
        with_secrets: bool,
    ) -> Result<Vec<(HeaderName, Template)>, Fault> {
        if headers.len() > self.ceilings.headers {
            return invalid(&format!("headers: at most {}", self.ceilings.headers));
        }
        let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        if bytes > self.ceilings.header_bytes {
            return invalid(&format!("headers: at most {} bytes", self.ceilings.header_bytes));
        }
        for (index, secret) in secrets.iter().enumerate() {
            let found: usize = headers.iter().map(|(_, value)| fill::count(value.as_bytes(), secret)).sum();
            once("headers", secret, found, secrets.iter().take(index))?;
        }
        let mut checked = Vec::<(HeaderName, Template)>::with_capacity(headers.len());
        for (name, value) in headers {
            let name = headers::name(name, with_secrets)?;
            headers::check_value(&name, value)?;
            if headers::is_credential(&name) {
                headers::check_credential(&name, value, secrets.iter().copied())?;
            }
            if is_single(&name) && checked.iter().any(|(earlier, _)| *earlier == name) {
                return invalid(&format!("header `{name}`: give it once"));
            }
            let value = Template::cut(&Bytes::from(value.clone()), secrets.iter().copied(), Encoding::Header);
            checked.push((name, value));
        }
        Ok(checked)
    }
}

/// Where a URL leads, and its path and query with gaps.
///
/// The parser would percent-encode a placeholder, and what looks like an encoded one may be a stranger's text. So each
/// placeholder is replaced by a word that occurs nowhere else before it is parsed, and that has to come out in path or query.
fn locate(scheme: Scheme, text: &str, secrets: &[&str]) -> Result<(Destination, Template), Fault> {
    if text.len() > URL_BYTES_MAX {
        return invalid(&format!("url: at most {URL_BYTES_MAX} bytes"));
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return invalid("url: remove spaces, control characters and backslashes, or percent-encode them");
    }
    let stem = (0_u32..).map(|n| format!("gap{n}of")).find(|stem| !text.contains(stem)).unwrap_or_default();
    let mut marked = text.to_owned();
    for (index, secret) in secrets.iter().enumerate() {
        once("url", secret, fill::count(text.as_bytes(), secret), secrets.iter().take(index))?;
        marked = marked.replacen(&placeholder(secret), &format!("{stem}{index}."), 1);
    }
    let url = Url::parse(&marked).or_else(|error| invalid(&format!("url: {error}")))?;
    let destination = Destination::of(&url).or_else(|reason| invalid(&format!("url: {reason}")))?;
    if destination.scheme != scheme {
        return invalid(&format!("url: use `{}://` here", scheme.as_str()));
    }
    let path = Bytes::from(url[Position::BeforePath..Position::AfterQuery].to_owned());
    if PathAndQuery::from_maybe_shared(path.clone()).is_err() {
        return invalid("url: percent-encode what can't stand in a path or query");
    }
    let query_at = memchr::memchr(b'?', &path).unwrap_or(path.len());
    let mut marks = Vec::with_capacity(secrets.len());
    for (index, secret) in secrets.iter().enumerate() {
        let mark = format!("{stem}{index}.");
        let mut found = memchr::memmem::find_iter(&path, &mark);
        let (Some(at), None) = (found.next(), found.next()) else {
            return invalid(&format!("url: `{}` may only stand in path or query", placeholder(secret)));
        };
        marks.push((mark, *secret, if at < query_at { Encoding::Path } else { Encoding::Query }));
    }
    Ok((destination, Template::cut_at(&path, marks.into_iter())))
}

/// Cuts a text in which each of these placeholders has to stand exactly once.
fn cut_once(part: &str, text: &Bytes, secrets: &[&str], encoding: Encoding) -> Result<Template, Fault> {
    for (index, secret) in secrets.iter().enumerate() {
        once(part, secret, fill::count(text, secret), secrets.iter().take(index))?;
    }
    Ok(Template::cut(text, secrets.iter().copied(), encoding))
}

/// Refuses a secret that is not found once, or that was listed before.
fn once<'a>(
    part: &str,
    secret: &str,
    found: usize,
    mut earlier: impl Iterator<Item = &'a &'a str>,
) -> Result<(), Fault> {
    if earlier.any(|earlier| *earlier == secret) {
        return invalid(&format!("secrets: `{secret}` is listed twice for the same place"));
    }
    if found != 1 {
        let placeholder = placeholder(secret);
        return invalid(&format!("{part}: `{placeholder}` is listed and must stand there once, not {found} times"));
    }
    Ok(())
}

/// Headers of which a second one would contradict the first.
fn is_single(name: &HeaderName) -> bool {
    headers::is_credential(name) || *name == header::CONTENT_TYPE || *name == header::USER_AGENT
}

fn method(method: wire::Method) -> Method {
    match method {
        wire::Method::Get => Method::GET,
        wire::Method::Head => Method::HEAD,
        wire::Method::Post => Method::POST,
        wire::Method::Put => Method::PUT,
        wire::Method::Patch => Method::PATCH,
        wire::Method::Delete => Method::DELETE,
        wire::Method::Options => Method::OPTIONS,
    }
}

fn invalid<T>(reason: &str) -> Result<T, Fault> {
    Err(Fault::Invalid(reason.to_owned()))
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
