//! Which headers a connector may set, and what may stand in them.
//!
//! Connection and framing belong to the host: whoever can set them can smuggle a second request into the first.

use http::HeaderName;
use http::header;
use jackfield_model::Fault;

use super::fill::placeholder;

/// Headers that the host sets, or that would change how the message is framed or where it ends.
const OWNED: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The same, by how they begin.
const OWNED_PREFIXES: &[&str] = &["proxy-", "sec-websocket-"];

/// Headers that ask for a part of an answer. With a secret under way they are refused: an answer that comes in slices
/// could bring a secret back in slices, which can't be recognised.
const SLICING: &[&str] = &["range", "if-range"];

/// The name, if a connector may set it.
pub(super) fn name(name: &str, with_secrets: bool) -> Result<HeaderName, Fault> {
    let parsed = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| Fault::Invalid(format!("header name {name:?}: use letters, digits and !#$%&'*+-.^_`|~")))?;
    let lower = parsed.as_str();
    if OWNED.contains(&lower) || OWNED_PREFIXES.iter().any(|prefix| lower.starts_with(prefix)) {
        return Err(Fault::Denied(format!("header `{lower}` belongs to the host: leave it out")));
    }
    if with_secrets && SLICING.contains(&lower) {
        return Err(Fault::Denied(format!("header `{lower}` can't go with a secret: ask for the whole answer")));
    }
    Ok(parsed)
}

/// Refuses a value that would end its line: line breaks, NUL and every other control character but the tab.
pub(super) fn check_value(name: &HeaderName, value: &str) -> Result<(), Fault> {
    if value.bytes().any(|b| b.is_ascii_control() && b != b'\t') {
        return Err(Fault::Invalid(format!("header `{name}`: remove line breaks and control characters")));
    }
    if value.trim_matches([' ', '\t']).len() != value.len() {
        return Err(Fault::Invalid(format!("header `{name}`: remove spaces at the ends")));
    }
    Ok(())
}

/// Whether a header carries a credential, so that nothing but a secret may stand in it.
pub(super) fn is_credential(name: &HeaderName) -> bool {
    *name == header::AUTHORIZATION || *name == header::COOKIE
}

/// Refuses a credential that is not exactly one listed secret: alone, behind a scheme (`Bot {{secret:x}}`), or as the value
/// of one cookie (`d={{secret:x}}`).
pub(super) fn check_credential<'a>(
    name: &HeaderName,
    value: &str,
    mut listed: impl Iterator<Item = &'a str>,
) -> Result<(), Fault> {
    let is_token = |text: &str| !text.is_empty() && text.bytes().all(is_token_byte);
    let fits = listed.any(|secret| match value.strip_suffix(&placeholder(secret)) {
        None => false,
        Some("") => true,
        Some(before) if *name == header::COOKIE => before.strip_suffix('=').is_some_and(is_token),
        Some(before) => before.strip_suffix(' ').is_some_and(is_token),
    });
    if fits {
        return Ok(());
    }
    Err(Fault::Denied(format!(
        "header `{name}`: only a listed secret may stand in it, as in `Bearer {{{{secret:name}}}}`"
    )))
}

/// RFC 9110 §5.6.2.
pub(super) fn is_token_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_29_framing_belongs_to_the_host() {
        for owned in [
            "Host",
            "CONTENT-LENGTH",
            "transfer-encoding",
            "Connection",
            "Upgrade",
            "Proxy-Authorization",
            "proxy-connection",
            "TE",
            "Trailer",
            "Expect",
            "Sec-WebSocket-Extensions",
            "sec-websocket-key",
            "Keep-Alive",
            "Accept-Encoding",
        ] {
            assert!(matches!(name(owned, false), Err(Fault::Denied(_))), "{owned}");
        }
        for bad in ["", ":authority", "a b", "a:", "a\r\nb", "é", "a\0"] {
            assert!(matches!(name(bad, false), Err(Fault::Invalid(_))), "{bad:?}");
        }
        assert!(name("X-Audit-Log-Reason", true).is_ok());
        assert!(name("Range", false).is_ok() && name("Range", true).is_err());
    }

    #[test]
    fn case_29_a_value_stays_on_its_line() {
        let plain = HeaderName::from_static("x-plain");
        for bad in ["a\r\nb: c", "a\n b", "a\r", "\0", "\u{1b}[31m", " a", "a "] {
            assert!(matches!(check_value(&plain, bad), Err(Fault::Invalid(_))), "{bad:?}");
        }
        for good in ["", "a b", "a\tb", "é"] {
            assert_eq!(check_value(&plain, good), Ok(()), "{good:?}");
        }
    }

    #[test]
    fn case_36_a_credential_is_a_listed_secret() {
        let check = |name, value: &str| check_credential(&name, value, ["x"].into_iter());
        for good in ["{{secret:x}}", "Bot {{secret:x}}", "Bearer {{secret:x}}"] {
            assert_eq!(check(header::AUTHORIZATION, good), Ok(()), "{good}");
        }
        assert_eq!(check(header::COOKIE, "d={{secret:x}}"), Ok(()));
        for bad in [
            "",
            "Bot abc",
            "Bot {{secret:y}}",
            "Bot {{secret:x}} ",
            "Bot a {{secret:x}}",
            "Bot  {{secret:x}}",
            "a{{secret:x}}",
            "{{secret:x}}{{secret:x}}",
            " {{secret:x}}",
        ] {
            assert!(matches!(check(header::AUTHORIZATION, bad), Err(Fault::Denied(_))), "{bad}");
        }
        for bad in ["a=b", "a=b; d={{secret:x}}", "={{secret:x}}", "Bot {{secret:x}}"] {
            assert!(matches!(check(header::COOKIE, bad), Err(Fault::Denied(_))), "{bad}");
        }
    }
}
