//! What goes wrong with REST requests on command, to which of them, and how often.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Times;
use super::pattern::Pattern;

/// Something that goes wrong with REST requests. As JSON it is flat: `fault` names the mishap, its fields stand beside the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct RestFault {
    /// The method; any unless given.
    pub method: Option<String>,
    /// The path below the version; `*` is one segment, `**` all that follow. Any unless given.
    pub path: Option<String>,
    /// How many such requests pass before.
    pub skip: u32,
    /// How many it happens to.
    pub count: Times,
    /// What happens.
    pub mishap: Mishap,
}

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Mishap {
    /// The connection is closed before the body is read: nothing happened, and there is no answer.
    CloseBefore {},
    /// The request is carried out, then the connection is closed without an answer.
    CloseAfter {},
    /// The request is carried out, then the connection is closed in the middle of the answer's body.
    Cut {},
    /// The request is carried out, and the body of the answer comes in pieces. One large pause makes an answer that never ends.
    Drip {
        /// Bytes in a piece, 1 unless given.
        #[serde(default = "one")]
        bytes: usize,
        /// Milliseconds between two pieces.
        every_ms: u64,
    },
    /// The answer is held back, head and all.
    Stall {
        /// Milliseconds; for ever unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
        /// Whether the request is carried out, before the wait. If not, the connection is closed after the wait.
        #[serde(default = "yes")]
        carried_out: bool,
    },
    /// Something else is answered: an error of the server, a refusal, a redirect.
    Answer {
        /// The status, 200 to 599.
        status: u16,
        /// Headers beside `Content-Type`, which is JSON, or text for a body that is a string, unless given here.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
        /// The body: JSON, or a string that is sent as it is. Empty unless given.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        body: Value,
        /// Whether the request is carried out nevertheless.
        #[serde(default)]
        carried_out: bool,
    },
}

/// When a mishap takes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before its body is read.
    Head,
    /// Before it is looked at.
    Instead,
    /// Once it got past the token and the limits.
    Afterwards,
}

const fn one() -> usize {
    1
}

const fn yes() -> bool {
    true
}

impl RestFault {
    /// Happens to the next request, whatever it is.
    #[must_use]
    pub const fn new(mishap: Mishap) -> Self {
        Self { method: None, path: None, skip: 0, count: Times::Count(1), mishap }
    }

    /// Happens to these requests alone: `POST`, `/channels/*/messages`.
    #[must_use]
    pub fn on(self, method: &str, path: &str) -> Self {
        Self { method: Some(method.to_owned()), path: Some(path.to_owned()), ..self }
    }

    /// Happens once so many of these requests have passed.
    #[must_use]
    pub fn after(self, skip: u32) -> Self {
        Self { skip, ..self }
    }

    /// Happens so often.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self { count: Times::Count(count), ..self }
    }

    /// Happens every time.
    #[must_use]
    pub fn always(self) -> Self {
        Self { count: Times::Always, ..self }
    }

    pub(crate) fn pattern(&self) -> Pattern<'_> {
        Pattern { method: self.method.as_deref(), path: self.path.as_deref() }
    }

    pub(crate) fn problem(&self) -> Option<String> {
        if self.count == Times::Count(0) {
            return Some("`count` is 0: use 1 or more, or \"always\"".to_owned());
        }
        self.pattern().problem().or_else(|| self.mishap.problem())
    }
}

impl Mishap {
    /// This status with Discord's usual body of it, in place of carrying the request out or after it.
    #[must_use]
    pub fn status(status: u16, carried_out: bool) -> Self {
        let reason = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let message = format!("{status}: {}", reason.unwrap_or("Unknown"));
        let body = serde_json::json!({ "message": message, "code": 0 });
        Self::Answer { status, headers: BTreeMap::new(), body, carried_out }
    }

    /// 302 to this place, without carrying the request out.
    #[must_use]
    pub fn redirect(location: &str) -> Self {
        let headers = BTreeMap::from([("Location".to_owned(), location.to_owned())]);
        Self::Answer { status: 302, headers, body: Value::Null, carried_out: false }
    }

    /// As scripts and the log have it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CloseBefore {} => "close-before",
            Self::CloseAfter {} => "close-after",
            Self::Cut {} => "cut",
            Self::Drip { .. } => "drip",
            Self::Stall { .. } => "stall",
            Self::Answer { .. } => "answer",
        }
    }

    pub(crate) const fn stage(&self) -> Stage {
        match self {
            Self::CloseBefore {} => Stage::Head,
            Self::Stall { carried_out: false, .. } | Self::Answer { carried_out: false, .. } => Stage::Instead,
            _ => Stage::Afterwards,
        }
    }

    fn problem(&self) -> Option<String> {
        match self {
            Self::Drip { bytes: 0, .. } => Some("`bytes` is 0: use 1 or more".to_owned()),
            Self::Answer { status, .. } if !(200..600).contains(status) => {
                Some(format!("`status` {status} ends no request: use 200 to 599"))
            }
            Self::Answer { headers, .. } => headers.iter().find_map(|(name, value)| {
                let name_is_one = http::HeaderName::from_bytes(name.as_bytes()).is_ok();
                let fits = name_is_one && http::HeaderValue::from_str(value).is_ok();
                (!fits).then(|| format!("`headers` has \"{name}\": \"{value}\", which can't stand in a head"))
            }),
            _ => None,
        }
    }
}

impl TryFrom<Map<String, Value>> for RestFault {
    type Error = String;

    fn try_from(mut fields: Map<String, Value>) -> Result<Self, Self::Error> {
        let method = text(&mut fields, "method")?;
        let path = text(&mut fields, "path")?;
        let skip = match fields.remove("skip") {
            None => 0,
            Some(skip) => serde_json::from_value(skip).map_err(|error| format!("`skip`: {error}"))?,
        };
        let count = fields.remove("count").map_or(Ok(Times::Count(1)), |count| Times::read("count", &count))?;
        let mishap = serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())?;
        Ok(Self { method, path, skip, count, mishap })
    }
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    fields
        .remove(name)
        .map(|value| serde_json::from_value(value).map_err(|error| format!("`{name}`: {error}")))
        .transpose()
}

impl From<RestFault> for Map<String, Value> {
    fn from(fault: RestFault) -> Self {
        // A mishap is an enum of structs of names, numbers and JSON: it always becomes an object.
        let mut fields = match serde_json::to_value(&fault.mishap) {
            Ok(Value::Object(fields)) => fields,
            _ => Self::new(),
        };
        let count = match fault.count {
            Times::Count(count) => Value::from(count),
            Times::Always => Value::from("always"),
        };
        fields.insert("count".to_owned(), count);
        if fault.skip > 0 {
            fields.insert("skip".to_owned(), Value::from(fault.skip));
        }
        for (name, value) in [("method", fault.method), ("path", fault.path)] {
            if let Some(value) = value {
                fields.insert(name.to_owned(), Value::from(value));
            }
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RestFault, String> {
        serde_json::from_str::<RestFault>(text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_mishap_survives_the_way_out_and_back() {
        for text in [
            r#"{ "fault": "close-before" }"#,
            r#"{ "fault": "close-after", "method": "POST", "path": "/channels/*/messages", "skip": 2, "count": "always" }"#,
            r#"{ "fault": "cut", "count": 3 }"#,
            r#"{ "fault": "drip", "every_ms": 5 }"#,
            r#"{ "fault": "stall" }"#,
            r#"{ "fault": "stall", "ms": 5, "carried_out": false }"#,
            r#"{ "fault": "answer", "status": 503, "headers": { "Retry-After": "2" }, "body": { "a": [1.5] }, "carried_out": true }"#,
        ] {
            let fault = read(text).unwrap();
            assert_eq!(read(&serde_json::to_string(&fault).unwrap()).unwrap(), fault, "{text}");
            assert_eq!(fault.problem(), None, "{text}");
        }
    }

    #[test]
    fn problems_say_what_to_change() {
        let problem = |text: &str| read(text).map_or_else(|error| error, |fault| fault.problem().unwrap());
        for (text, expected) in [
            (r#"{ "fault": "explode" }"#, "unknown variant `explode`"),
            (r#"{ "status": 500 }"#, "missing field `fault`"),
            (r#"{ "fault": "cut", "bytes": 5 }"#, "unknown field `bytes`"),
            (r#"{ "fault": "drip", "bytes": 0, "every_ms": 5 }"#, "`bytes` is 0"),
            (r#"{ "fault": "answer", "status": 101 }"#, "use 200 to 599"),
            (r#"{ "fault": "answer", "status": 500, "headers": { "a b": "c" } }"#, "can't stand in a head"),
            (r#"{ "fault": "cut", "count": 0 }"#, "from 1, or \"always\""),
            (r#"{ "fault": "cut", "skip": -1 }"#, "`skip`"),
            (r#"{ "fault": "cut", "path": "channels" }"#, "write what follows the version"),
        ] {
            let found = problem(text);
            assert!(found.contains(expected), "{text}: {found}");
        }
        assert!(RestFault::new(Mishap::Cut {}).times(0).problem().unwrap().contains("`count` is 0"));
    }
}
