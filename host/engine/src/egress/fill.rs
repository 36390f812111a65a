//! Where secrets go: `{{secret:name}}`, and only where a request lists it.
//!
//! A template is cut once, at the listed placeholders, and put together once. What is filled in is never read again, so a
//! secret that looks like a placeholder stays what it is, and so does every placeholder that nobody listed.

use bytes::Bytes;
use jackfield_model::Fault;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::origin::Destination;
use crate::secret::Secrets;

/// How a value is written, so that it stays one value where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As it is.
    Raw,
    /// As it is, where no control character may stand.
    Header,
    /// Percent-encoded but for what a path segment may hold (RFC 3986 `pchar`): a `:` stays, as Telegram wants it.
    Path,
    /// Percent-encoded but for unreserved characters: in a query, or a form.
    Query,
    /// With the escapes of a JSON string (RFC 8259 §7).
    Json,
}

/// RFC 3986 §2.3.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// RFC 3986 §3.3, `pchar` without percent-encoding.
const PCHAR: &AsciiSet = &UNRESERVED
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// Bytes with gaps for secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Bytes),
    Gap { secret: String, encoding: Encoding },
}

/// The placeholder of a secret.
pub(super) fn placeholder(secret: &str) -> String {
    format!("{{{{secret:{secret}}}}}")
}

/// How often the placeholder of a secret stands in a text.
pub(super) fn count(text: &[u8], secret: &str) -> usize {
    memchr::memmem::find_iter(text, &placeholder(secret)).count()
}

impl Template {
    /// Cuts a text at the placeholders of these secrets. Whoever calls has counted them.
    pub(super) fn cut<'a>(text: &Bytes, secrets: impl Iterator<Item = &'a str>, encoding: Encoding) -> Self {
        Self::cut_at(text, secrets.map(|secret| (placeholder(secret), secret, encoding)))
    }

    /// Cuts a text at these marks: each stands for this secret, written like this.
    pub(super) fn cut_at<'a>(text: &Bytes, marks: impl Iterator<Item = (String, &'a str, Encoding)>) -> Self {
        let mut gaps: Vec<_> = marks
            .filter_map(|(mark, secret, encoding)| {
                let at = memchr::memmem::find(text, mark.as_bytes())?;
                Some((at..at + mark.len(), Part::Gap { secret: secret.to_owned(), encoding }))
            })
            .collect();
        gaps.sort_by_key(|(range, _)| range.start);
        let mut parts = Vec::with_capacity(gaps.len() * 2 + 1);
        let mut done = 0;
        for (range, gap) in gaps {
            parts.extend([Part::Text(text.slice(done..range.start)), gap]);
            done = range.end;
        }
        parts.push(Part::Text(text.slice(done..)));
        Self { parts }
    }

    /// Whether each secret in it exists, may go there, and can be written the way it stands. No value is used yet.
    pub(super) fn check(&self, secrets: &Secrets, destination: &Destination) -> Result<(), Fault> {
        for part in &self.parts {
            let Part::Gap { secret, encoding } = part else { continue };
            let known = secrets.get(secret).ok_or_else(|| denied(secret, "is not configured for this connection"))?;
            if !known.may_go_to(destination) {
                return Err(Fault::Denied(format!("secret `{secret}` may not be sent to `{destination}`")));
            }
            encoding.write(known.value(), &mut Vec::new()).map_err(|reason| denied(secret, reason))?;
        }
        Ok(())
    }

    /// The text with every gap filled.
    pub(super) fn fill(&self, secrets: &Secrets) -> Result<Bytes, Fault> {
        if let [Part::Text(whole)] = self.parts.as_slice() {
            return Ok(whole.clone());
        }
        let mut filled = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.extend_from_slice(text),
                Part::Gap { secret, encoding } => {
                    let known = secrets.get(secret).ok_or_else(|| denied(secret, "is no longer configured"))?;
                    encoding.write(known.value(), &mut filled).map_err(|reason| denied(secret, reason))?;
                }
            }
        }
        Ok(filled.into())
    }

    /// There is a gap in it.
    pub(super) fn has_gaps(&self) -> bool {
        self.parts.len() > 1
    }
}

impl Encoding {
    /// How a body of this content type has to be written. One without a type is not touched.
    pub(super) fn of_content_type(content_type: Option<&str>) -> Self {
        let essence =
            content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" => Self::Json,
            essence if essence.ends_with("+json") => Self::Json,
            "application/x-www-form-urlencoded" => Self::Query,
            _ => Self::Raw,
        }
    }

    /// How a message of a socket has to be written: it says no type, so JSON is recognised by being JSON.
    pub(super) fn of_message(message: &[u8]) -> Self {
        match serde_json::from_slice::<serde::de::IgnoredAny>(message) {
            Ok(_) => Self::Json,
            Err(_) => Self::Raw,
        }
    }

    fn write(self, value: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
        match self {
            Self::Raw => out.extend_from_slice(value),
            Self::Header if value.iter().any(u8::is_ascii_control) => {
                return Err("has control characters, which can't stand in a header");
            }
            Self::Header => out.extend_from_slice(value),
            Self::Path => out.extend(percent_encode(value, PCHAR).flat_map(str::bytes)),
            Self::Query => out.extend(percent_encode(value, UNRESERVED).flat_map(str::bytes)),
            Self::Json => {
                let text = std::str::from_utf8(value).map_err(|_| "is not text, which JSON needs")?;
                let quoted = serde_json::to_string(text).map_err(|_| "can't be written as JSON")?;
                let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                out.extend_from_slice(inner.unwrap_or_default().as_bytes());
            }
        }
        Ok(())
    }
}

fn denied(secret: &str, reason: &str) -> Fault {
    Fault::Denied(format!("secret `{secret}` {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::SecretEntry;

    fn secrets() -> Secrets {
        let entry = |name: &str, value: &str| SecretEntry {
            name: name.to_owned(),
            value: value.as_bytes().to_vec(),
            to: vec!["https://a.example".to_owned()],
        };
        Secrets::new(vec![
            entry("token", "123456:A/B \"c\""),
            entry("nested", "{{secret:token}}"),
            entry("broken", "line\r\nbreak"),
        ])
        .unwrap()
    }

    fn filled(text: &str, names: &[&str], encoding: Encoding) -> String {
        let template = Template::cut(&Bytes::from(text.to_owned()), names.iter().copied(), encoding);
        String::from_utf8(template.fill(&secrets()).unwrap().to_vec()).unwrap()
    }

    #[test]
    fn case_61_what_is_not_listed_stays_text() {
        let text = "{{secret:token}} {{secret:nested}}";
        assert_eq!(filled(text, &[], Encoding::Raw), text);
        // And what was filled in is not read again, in whatever order.
        for names in [["nested", "token"], ["token", "nested"]] {
            assert_eq!(filled(text, &names, Encoding::Raw), "123456:A/B \"c\" {{secret:token}}");
        }
        assert_eq!(filled(text, &["nested"], Encoding::Raw), "{{secret:token}} {{secret:token}}");
    }

    #[test]
    fn a_value_stays_one_value_where_it_stands() {
        for (encoding, expected) in [
            (Encoding::Raw, "123456:A/B \"c\""),
            (Encoding::Path, "123456:A%2FB%20%22c%22"),
            (Encoding::Query, "123456%3AA%2FB%20%22c%22"),
            (Encoding::Json, r#"123456:A/B \"c\""#),
        ] {
            assert_eq!(filled("{{secret:token}}", &["token"], encoding), expected);
        }
        for (content_type, encoding) in [
            (None, Encoding::Raw),
            (Some("text/plain"), Encoding::Raw),
            (Some("Application/JSON; charset=utf-8"), Encoding::Json),
            (Some("application/vnd.api+json"), Encoding::Json),
            (Some("application/x-www-form-urlencoded"), Encoding::Query),
        ] {
            assert_eq!(Encoding::of_content_type(content_type), encoding, "{content_type:?}");
        }
    }

    #[test]
    fn case_29_a_secret_can_not_break_a_header() {
        let destination = "https://a.example".parse::<url::Url>().map(|url| Destination::of(&url).unwrap()).unwrap();
        let check = |encoding| {
            let template = Template::cut(&Bytes::from_static(b"{{secret:broken}}"), ["broken"].into_iter(), encoding);
            template.check(&secrets(), &destination)
        };
        assert!(matches!(check(Encoding::Header), Err(Fault::Denied(_))));
        assert_eq!(check(Encoding::Path), Ok(()));
        assert_eq!(filled("{{secret:broken}}", &["broken"], Encoding::Path), "line%0D%0Abreak");
    }
}
