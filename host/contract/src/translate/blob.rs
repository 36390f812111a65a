//! Bytes that may be text. Towards a guest the host always says `text` where it can: QuickJS guests have no decoder.

use bytes::Bytes;
use jackfield_model::Blob;

use crate::imports::types::{BlobParam, BlobResult};

impl From<BlobResult> for Blob {
    fn from(blob: BlobResult) -> Self {
        match blob {
            BlobResult::Text(text) => text.into(),
            BlobResult::Binary(bytes) => Self::from_bytes(Bytes::from(bytes)),
        }
    }
}

impl<'a> From<&'a Blob> for BlobParam<'a> {
    fn from(blob: &'a Blob) -> Self {
        match blob {
            Blob::Text(text) => Self::Text(text.as_str()),
            Blob::Binary(bytes) => std::str::from_utf8(bytes).map_or(Self::Binary(bytes), Self::Text),
        }
    }
}

impl From<Blob> for BlobResult {
    fn from(blob: Blob) -> Self {
        match BlobParam::from(&blob) {
            BlobParam::Text(text) => Self::Text(text.to_owned()),
            BlobParam::Binary(bytes) => Self::Binary(bytes.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_says_text_where_it_can() {
        let binary = Blob::Binary(Bytes::from_static(b"text all the same"));
        assert!(matches!(BlobParam::from(&binary), BlobParam::Text("text all the same")));
        assert!(matches!(BlobResult::from(binary), BlobResult::Text(_)));
        assert!(matches!(Blob::from(BlobResult::Binary(b"{}".to_vec())), Blob::Text(_)));
        assert!(matches!(BlobResult::from(Blob::Binary(Bytes::from_static(&[0xff]))), BlobResult::Binary(_)));
    }
}
