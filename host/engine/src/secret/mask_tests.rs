use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use proptest::prelude::*;

use super::*;
use crate::secret::{SecretEntry, Secrets};

const CANARY: &str = r#"xoxb/"canary"\?>~é-7"#;

fn mask(value: &[u8]) -> Arc<Mask> {
    let entry = SecretEntry { name: "token".to_owned(), value: value.to_vec(), to: Vec::new() };
    Secrets::new(vec![entry]).unwrap().mask()
}

fn escaped(value: &str) -> String {
    value.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect()
}

#[test]
fn case_35_each_form_is_masked() {
    let mask = mask(CANARY.as_bytes());
    let json = serde_json::to_string(CANARY).unwrap();
    let json = &json[1..json.len() - 1];
    let forms = [
        CANARY.to_owned(),
        hex::encode(CANARY),
        hex::encode_upper(CANARY),
        percent_encode(CANARY.as_bytes(), NON_ALPHANUMERIC).to_string(),
        percent_encode(CANARY.as_bytes(), NON_ALPHANUMERIC).to_string().to_lowercase(),
        CANARY.bytes().map(|b| format!("%{b:02x}")).collect(),
        json.to_owned(),
        json.replace('/', "\\/"),
        escaped(CANARY),
        // Escaped base64: as PHP writes JSON, and as a form field.
        STANDARD_NO_PAD.encode(CANARY).replace('/', "\\/"),
        percent_encode(STANDARD_NO_PAD.encode(CANARY).as_bytes(), NON_ALPHANUMERIC).to_string(),
    ];
    for form in forms {
        assert_eq!(mask.text(&format!("<{form}>")), "<[secret:token]>", "{form}");
        assert_eq!(mask.bytes(Bytes::from(form.clone())), "[secret:token]", "{form}");
    }
    for form in [STANDARD.encode(CANARY), URL_SAFE.encode(CANARY)] {
        assert_eq!(mask.text(&form).trim_end_matches('='), "[secret:token]", "{form}");
    }
}

#[test]
fn case_35_secrets_that_overlap_leave_nothing() {
    let entry = |name: &str, value: &str| SecretEntry {
        name: name.to_owned(),
        value: value.as_bytes().to_vec(),
        to: Vec::new(),
    };
    let mask =
        Secrets::new(vec![entry("left", "abcdefgh12345678"), entry("right", "12345678ijklmnop")]).unwrap().mask();
    assert_eq!(mask.text("-abcdefgh12345678ijklmnop-12345678ijklmnop-"), "-[secret:left]-[secret:right]-");
    assert_eq!(mask.text("abcdefgh12345678abcdefgh12345678"), "[secret:left][secret:left]");
}

#[test]
fn what_holds_no_secret_is_lent_back() {
    let secret = mask(CANARY.as_bytes());
    let bytes = Bytes::from_static(br#"{"a":"b\n%41"}"#);
    assert!(matches!(secret.text(r#"xoxb/"canar \u0041 %41"#), Cow::Borrowed(_)));
    assert_eq!(secret.bytes(bytes.clone()).as_ptr(), bytes.as_ptr());
    assert!(Mask::default().is_empty() && !secret.is_empty());
    assert_eq!(Mask::default().text(CANARY), CANARY);
}

#[test]
fn text_stays_text_when_a_binary_value_cuts_a_character() {
    let value = [&"é".as_bytes()[1..], b"binary-key", &"é".as_bytes()[..1]].concat();
    assert_eq!(mask(&value).text("aébinary-keyéz"), "a[secret:token]z");
}

/// Values as platforms issue them, and worse.
fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 8..40),
        "[A-Za-z0-9._-]{8,80}".prop_map(String::into_bytes),
        "\\PC{8,40}".prop_map(String::into_bytes),
    ]
}

/// Neighbours that can't be part of any form by themselves.
fn neighbour() -> impl Strategy<Value = String> {
    "[ <>(),;.\u{e9}\u{4e16}]{0,20}"
}

proptest! {
    /// Any embedding of any form goes, and its neighbours stay.
    #[test]
    fn case_35_any_embedding_is_masked(value in value(), before in neighbour(), behind in neighbour(), form in 0_usize..7) {
        let encoded = match form {
            0 => value.clone(),
            1 => hex::encode(&value).into_bytes(),
            2 => hex::encode_upper(&value).into_bytes(),
            3 => STANDARD_NO_PAD.encode(&value).into_bytes(),
            4 => URL_SAFE_NO_PAD.encode(&value).into_bytes(),
            5 => percent_encode(&value, NON_ALPHANUMERIC).to_string().into_bytes(),
            _ => match std::str::from_utf8(&value) {
                Ok(text) => escaped(text).into_bytes(),
                Err(_) => return Ok(()),
            },
        };
        let whole = [before.as_bytes(), &encoded, behind.as_bytes()].concat();
        let masked = mask(&value).bytes(Bytes::from(whole.clone()));
        // A value that continues a neighbour's character, or repeats at its own edge, may take more than itself.
        if form == 0 && (std::str::from_utf8(&value).is_err() || before.contains('\u{e9}')) {
            prop_assert!(memchr::memmem::find(&masked, &value).is_none());
        } else {
            prop_assert_eq!(masked, [before.as_bytes(), b"[secret:token]", behind.as_bytes()].concat());
        }
    }

    /// Base64 of a longer text: exactly the characters that carry bits of the value go.
    #[test]
    fn case_35_base64_is_masked_at_any_alignment(
        value in "[A-Za-z0-9._-]{8,80}",
        before in "[!-~]{0,20}",
        behind in "[!-~]{0,20}",
        url_safe in any::<bool>(),
    ) {
        let whole = format!("{before}{value}{behind}");
        let encoded = if url_safe { URL_SAFE_NO_PAD.encode(&whole) } else { STANDARD_NO_PAD.encode(&whole) };
        let first = before.len() * 8 / 6;
        let end = ((before.len() + value.len()) * 8).div_ceil(6);
        let expected = format!("{}[secret:token]{}", &encoded[..first], &encoded[end.min(encoded.len())..]);
        prop_assert_eq!(mask(value.as_bytes()).text(&encoded), expected);
    }

    /// Text without the value is not touched.
    #[test]
    fn case_35_nothing_else_changes(value in "[A-Za-z0-9._-]{12,40}", text in "[\\PC%\\\\]{0,200}") {
        prop_assume!(!text.contains(&value));
        prop_assert_eq!(mask(value.as_bytes()).text(&text), text.as_str());
    }
}
