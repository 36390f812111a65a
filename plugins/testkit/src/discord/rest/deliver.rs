//! How an answer gets to the client, or does not.

use std::time::Duration;

use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::Value;
use tokio::time::sleep;

use super::body::{Body, Closed};
use super::limiter;
use super::reply::Reply;
use crate::discord::entry::Ending;
use crate::discord::script::{LimitScope, Mishap};
use crate::discord::server::Answer;

/// What was decided, and how it is sent.
#[derive(Debug)]
pub(crate) struct Served {
    /// None where nothing was decided because the request is not carried out and the connection closed.
    reply: Option<Reply>,
    delivery: Delivery,
}

#[derive(Debug, Clone, Copy)]
enum Delivery {
    Whole,
    Close,
    Cut,
    Drip {
        bytes: usize,
        every: Duration,
    },
    /// After so long; never without a time. Then the answer if there is one, otherwise the end of the connection.
    Stall(Option<Duration>),
}

impl Served {
    pub(crate) fn whole(reply: Reply) -> Self {
        Self { reply: Some(reply), delivery: Delivery::Whole }
    }

    /// A mishap in place of carrying the request out.
    pub(crate) fn instead(mishap: &Mishap) -> Self {
        match mishap {
            Mishap::Answer { status, headers, body, .. } => {
                let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                Self::whole(given(*status, headers, body))
            }
            Mishap::Stall { ms, .. } => Self { reply: None, delivery: Delivery::Stall(ms.map(Duration::from_millis)) },
            _ => Self { reply: None, delivery: Delivery::Close },
        }
    }

    /// A mishap after the request was carried out.
    pub(crate) fn spoilt(reply: Reply, mishap: &Mishap) -> Self {
        let delivery = match mishap {
            Mishap::Cut {} => Delivery::Cut,
            Mishap::Drip { bytes, every_ms } => {
                Delivery::Drip { bytes: *bytes, every: Duration::from_millis(*every_ms) }
            }
            Mishap::Stall { ms, .. } => Delivery::Stall(ms.map(Duration::from_millis)),
            Mishap::Answer { .. } => {
                let message = reply.message;
                let Self { reply, delivery } = Self::instead(mishap);
                return Self { reply: reply.map(|reply| reply.about(message)), delivery };
            }
            Mishap::CloseBefore {} | Mishap::CloseAfter {} => Delivery::Close,
        };
        Self { reply: Some(reply), delivery }
    }

    pub(crate) fn reply(&self) -> Option<&Reply> {
        self.reply.as_ref()
    }

    /// Whose limit the answer speaks of, where a script wrote it.
    pub(crate) fn limit(&self) -> Option<LimitScope> {
        let headers = &self.reply.as_ref()?.headers;
        let (_, scope) = headers.iter().find(|(name, _)| *name == limiter::SCOPE)?;
        LimitScope::named(scope.to_str().ok()?)
    }

    pub(crate) fn ending(&self) -> Ending {
        match self.delivery {
            Delivery::Whole => Ending::Answered,
            Delivery::Close => Ending::ClosedAfter,
            Delivery::Cut => Ending::Cut,
            Delivery::Drip { .. } => Ending::Dripped,
            Delivery::Stall(_) => Ending::Stalled,
        }
    }

    pub(crate) async fn deliver(self) -> Result<Answer, Closed> {
        match self.delivery {
            Delivery::Stall(Some(wait)) => sleep(wait).await,
            // Until the client gives up or the double stops.
            Delivery::Stall(None) => std::future::pending().await,
            _ => {}
        }
        let reply = self.reply.ok_or(Closed)?;
        let text = match reply.body {
            Value::Null => String::new(),
            Value::String(text) => text,
            json => json.to_string(),
        };
        let body = match self.delivery {
            Delivery::Close => return Err(Closed),
            // Nothing to be broken off: closing is all that is left.
            Delivery::Cut if text.is_empty() => return Err(Closed),
            Delivery::Cut => Body::cut(text),
            Delivery::Drip { bytes, every } => Body::drip(text, bytes, every),
            Delivery::Whole | Delivery::Stall(_) => Body::whole(text),
        };
        let mut response = Response::new(body);
        *response.status_mut() = reply.status;
        for (name, value) in reply.headers {
            response.headers_mut().append(name, value);
        }
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().entry(header::CONTENT_TYPE).or_insert(json);
        Ok(response)
    }
}

/// An answer that a script wrote. What can't stand in a head was refused with the script; a test's is left out.
fn given<'a>(status: u16, headers: impl Iterator<Item = (&'a str, &'a str)>, body: &Value) -> Reply {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut reply = Reply::new(status, body.clone());
    let header = |(name, value): (&str, &str)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(value).ok()?))
    };
    reply.headers.extend(headers.filter_map(header));
    if body.is_string() && !reply.headers.iter().any(|(name, _)| *name == header::CONTENT_TYPE) {
        reply.headers.push((header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")));
    }
    reply
}
