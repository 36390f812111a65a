//! The forms in which one secret value can come back.
//!
//! Base64 depends on where the value stands in what was encoded: after 0, 1 or 2 bytes of a group of three. The
//! characters that only the value determines are the same for all neighbours; those at the edges also carry bits of the
//! neighbours, and a form says whether there is such a character before or behind it.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret as _, SecretSlice};

/// One form of one secret.
pub(super) struct Form {
    bytes: SecretSlice<u8>,
    /// Index of the secret in the mask's list of names.
    pub(super) secret: usize,
    /// The base64 character before it carries bits of the value.
    pub(super) edge_before: bool,
    /// The base64 character behind it carries bits of the value.
    pub(super) edge_behind: bool,
}

impl Form {
    fn plain(bytes: Vec<u8>, secret: usize) -> Self {
        Self { bytes: bytes.into(), secret, edge_before: false, edge_behind: false }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.expose_secret()
    }
}

/// Every form of this value but escapes, which `view` undoes instead: any character of a value may be escaped or not, so
/// they can't be listed.
pub(super) fn of(value: &[u8], secret: usize) -> Vec<Form> {
    let mut forms = vec![
        Form::plain(value.to_vec(), secret),
        Form::plain(hex::encode(value).into_bytes(), secret),
        Form::plain(hex::encode_upper(value).into_bytes(), secret),
    ];
    if value.contains(&b' ') {
        // `application/x-www-form-urlencoded` writes a space as `+`.
        forms.push(Form::plain(value.iter().map(|&b| if b == b' ' { b'+' } else { b }).collect(), secret));
    }
    for before in 0..3 {
        forms.extend([base64_after(before, value, secret, false), base64_after(before, value, secret, true)]);
    }
    forms.sort_by(|a, b| a.bytes().cmp(b.bytes()));
    forms.dedup_by(|a, b| a.bytes() == b.bytes());
    forms
}

/// The characters that are sure when `before` bytes of a group of three stand before the value.
fn base64_after(before: usize, value: &[u8], secret: usize, url_safe: bool) -> Form {
    let mut group = vec![0; before];
    group.extend_from_slice(value);
    let encoded = if url_safe { URL_SAFE_NO_PAD.encode(&group) } else { STANDARD_NO_PAD.encode(&group) };
    // One character carries 6 bits: skip those with bits from before, stop before one that would carry bits from behind.
    let first = (before * 8).div_ceil(6);
    let end = group.len() * 8 / 6;
    Form {
        bytes: encoded.into_bytes().get(first..end).unwrap_or_default().to_vec().into(),
        secret,
        edge_before: before != 0,
        edge_behind: !group.len().is_multiple_of(3),
    }
}
