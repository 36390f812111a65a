//! Contacts: people, as the operator knows them, and how a reference is read.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::event::PlatformId;

/// A live contact of one contact space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// The host's id for it.
    pub id: String,
    /// As first given; matched in its normal form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The operator's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Ids on platforms.
    pub ids: Vec<PlatformId>,
    /// A JSON object, as text.
    pub properties: String,
}

/// What somebody means by a contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Tried as email, then external id, then a platform id of this namespace (where one is given).
    Text {
        /// The text.
        text: String,
        /// Namespace of the platform id that is tried last.
        namespace: Option<String>,
    },
    /// An email address.
    Email(String),
    /// The operator's own id.
    ExternalId(String),
    /// An id on a platform.
    Platform(PlatformId),
}

/// Whom a reference means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Exactly one live contact.
    Found(Contact),
    /// None.
    None,
    /// Several live contacts at the same rank: their ids, smallest first.
    Ambiguous(Vec<String>),
}

/// An email address as it is matched: trimmed, NFC, lower case. `None` when nothing is left: an empty key matches nobody.
#[must_use]
pub fn email_key(email: &str) -> Option<String> {
    let key: String = email.trim().nfc().collect::<String>().to_lowercase();
    (!key.is_empty()).then_some(key)
}

/// An external or platform id as it is matched: trimmed, NFC. `None` when nothing is left.
#[must_use]
pub fn id_key(id: &str) -> Option<String> {
    let key: String = id.trim().nfc().collect();
    (!key.is_empty()).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_normal_forms() {
        assert_eq!(email_key(" JUNO@Example.COM ").as_deref(), Some("juno@example.com"));
        assert_eq!(email_key("u\u{308}@example.org"), email_key("Ü@example.org"));
        assert_eq!(email_key("  "), None);
        assert_eq!(id_key(" crm-17 ").as_deref(), Some("crm-17"));
        assert_eq!(id_key("CRM-17").as_deref(), Some("CRM-17"));
        assert_eq!(id_key("\t"), None);
    }
}
