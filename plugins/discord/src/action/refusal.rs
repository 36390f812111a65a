//! What Discord says when it refuses: a code, a sentence, and where a form is wrong the first place in it.

use std::borrow::Cow;
use std::fmt;

use jackfield_sdk::HttpResponse;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::wire::is_too_deep;

/// Deepest place in a form that is looked for.
const PLACE_DEPTH_MAX: usize = 8;

/// Longest sentence that is passed on, in scalar values.
const TEXT_MAX: usize = 300;

/// The list of what is wrong in one place of a form.
const ERRORS: &str = "_errors";

/// A refusal, as far as Discord says something of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Refusal {
    /// Discord's own code; 0 says no more than the status.
    pub(super) code: u64,
    text: String,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default)]
    code: u64,
    #[serde(default, borrow)]
    message: Cow<'a, str>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Wrong<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
}

impl Refusal {
    /// Of an answer that is not a success. Nothing of the request is in it.
    pub(super) fn of(response: &HttpResponse) -> Self {
        let body = response.body.as_text().filter(|body| !is_too_deep(body));
        let Some(body) = body.and_then(|body| serde_json::from_str::<Body<'_>>(body).ok()) else {
            return Self::default();
        };
        let mut text = body.message.into_owned();
        if let Some((place, why)) = body.errors.and_then(first_error) {
            text = format!("{text}: {place}: {why}");
        }
        Self { code: body.code, text: text.chars().take(TEXT_MAX).collect() }
    }

    /// One line for people, with the status where Discord has no code.
    pub(super) fn line(&self, status: u16) -> String {
        let code = if self.code == 0 { format!("status {status}") } else { self.code.to_string() };
        match self.text.as_str() {
            "" => format!("Discord refused ({code})"),
            text => format!("Discord refused ({code}): {text}"),
        }
    }
}

/// The first entry of an object.
struct First<'a> {
    key: Cow<'a, str>,
    value: &'a RawValue,
}

impl<'de: 'a, 'a> Deserialize<'de> for First<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = First<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object that is not empty")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<First<'de>, M::Error> {
                let first = map.next_entry()?.ok_or_else(|| M::Error::custom("an empty object"))?;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(First { key: first.0, value: first.1 })
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// The first place in a form where something is wrong, and what. Each key leads one field or element deeper, up to the list.
fn first_error(errors: &RawValue) -> Option<(String, String)> {
    let mut place = String::new();
    let mut inner = errors;
    for _ in 0..PLACE_DEPTH_MAX {
        let first: First<'_> = serde_json::from_str(inner.get()).ok()?;
        if first.key == ERRORS {
            let list: Vec<Wrong<'_>> = serde_json::from_str(first.value.get()).ok()?;
            return Some((place, list.into_iter().next()?.message.into_owned()));
        }
        if !place.is_empty() {
            place.push('.');
        }
        place.push_str(&first.key);
        inner = first.value;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, code: u64, line: &str) {
        let refusal = Refusal::of(&HttpResponse::text(status, body));
        assert_eq!((refusal.code, refusal.line(status).as_str()), (code, line));
    }

    #[test]
    fn a_refusal_is_one_line() {
        let missing = r#"{"message":"Missing Permissions","code":50013}"#;
        check(403, missing, 50_013, "Discord refused (50013): Missing Permissions");
        check(404, r#"{"message":"404: Not Found","code":0}"#, 0, "Discord refused (status 404): 404: Not Found");
        check(400, "<html>", 0, "Discord refused (status 400)");
        check(302, "", 0, "Discord refused (status 302)");
        let nested = r#"{"code":50035,"message":"Invalid Form Body","errors":{"a":{"0":{"b":{"_errors":[{"code":"X","message":"Too \"long\"."}]}}}}}"#;
        check(400, nested, 50_035, r#"Discord refused (50035): Invalid Form Body: a.0.b: Too "long"."#);
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let odd = r#"{"code":50035,"message":"Invalid Form Body","errors":[1]}"#;
        check(400, odd, 50_035, "Discord refused (50035): Invalid Form Body");
        let deep = format!(r#"{{"code":1,"message":"m","errors":{}1{}}}"#, r#"{"a":"#.repeat(100), "}".repeat(100));
        check(400, &deep, 1, "Discord refused (1): m");
        check(400, &"[".repeat(100_000), 0, "Discord refused (status 400)");
        let long = format!(r#"{{"code":1,"message":"{}"}}"#, "ö".repeat(10_000));
        let line = Refusal::of(&HttpResponse::text(400, long)).line(400);
        assert_eq!(line.chars().filter(|char| *char == 'ö').count(), TEXT_MAX);
    }
}
