//! Contacts' rows: found by key, made, read. Only the living are ever found.
//!
//! Keys are compared in the normal forms of [`jackfield_model::contact`] and kept as they were given. A contact's id is the
//! host's and says nothing; whatever text somebody looks up is compared as text.

use std::borrow::Cow;

use jackfield_model::contact::{Contact, email_key, id_key};
use jackfield_model::{PlatformId, Space, Timestamp};
use rand::Rng as _;
use rusqlite::{Connection, params};

use crate::sqlite::column::int;

/// Most ids on platforms of one contact. A person has a handful; a connector that makes up ids is stopped here.
pub(super) const IDS_MAX: usize = 64;

/// Largest properties of a contact, in bytes. They are read and compared with every message of that person.
pub(super) const PROPERTIES_BYTES_MAX: usize = 16 * 1024;

/// Most contacts that are looked at for one address: an import that gave one to everybody is ambiguous all the same.
const OWNERS_MAX: usize = 32;

/// 100 random bits, in letters and digits that are not mistaken for each other (RFC 4648 base32, lower case).
const ID_LETTERS: usize = 20;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// A living contact, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Person {
    pub(super) number: i64,
    pub(super) id: String,
}

/// What a new contact is made of.
#[derive(Debug, Default)]
pub(super) struct Draft<'a> {
    pub(super) email: Option<&'a str>,
    pub(super) external_id: Option<&'a str>,
    /// Namespace and id.
    pub(super) ids: Vec<(&'a str, &'a str)>,
    pub(super) properties: &'a str,
}

/// A key in normal form, as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'a> {
    /// An id on the platform with this namespace.
    Platform(&'a str),
    /// The operator's own id.
    External,
    /// An address.
    Email,
}

impl Kind<'_> {
    /// Namespaces have no colon, so the three never meet.
    fn column(self) -> Cow<'static, str> {
        match self {
            Self::Platform(namespace) => format!("id:{namespace}").into(),
            Self::External => "external".into(),
            Self::Email => "email".into(),
        }
    }

    /// The normal form of a key of this kind. An empty one is none.
    pub(super) fn normal(self, given: &str) -> Option<String> {
        match self {
            Self::Email => email_key(given),
            Self::Platform(_) | Self::External => id_key(given),
        }
    }
}

/// Whoever has this key, smallest id first. More than one only for an address.
pub(super) fn owners(db: &Connection, space: &Space, kind: Kind<'_>, given: &str) -> rusqlite::Result<Vec<Person>> {
    let Some(key) = kind.normal(given) else { return Ok(Vec::new()) };
    let mut owners: Vec<Person> = db
        .prepare_cached("SELECT contact, contact_id FROM contact_key WHERE space = ?1 AND kind = ?2 AND key = ?3")?
        .query_map([space.as_str(), &kind.column(), &key], |row| Ok(Person { number: row.get(0)?, id: row.get(1)? }))?
        .take(OWNERS_MAX)
        .collect::<rusqlite::Result<_>>()?;
    owners.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(owners)
}

/// Makes a contact. Whoever calls this has seen that its unique keys are free.
pub(super) fn insert(db: &Connection, space: &Space, draft: &Draft<'_>, now: Timestamp) -> rusqlite::Result<Person> {
    let email = draft.email.filter(|email| Kind::Email.normal(email).is_some());
    let external_id = draft.external_id.filter(|id| Kind::External.normal(id).is_some());
    let properties = if draft.properties.is_empty() { "{}" } else { draft.properties };
    let id = new_id();
    db.prepare_cached(
        "INSERT INTO contact (id, space, email, external_id, properties, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![id, space.as_str(), email, external_id, properties, int(now.0)])?;
    let person = Person { number: db.last_insert_rowid(), id };
    let keys = email.map(|email| (Kind::Email, email)).into_iter();
    let keys = keys.chain(external_id.map(|id| (Kind::External, id)));
    for (kind, given) in keys.chain(draft.ids.iter().map(|&(namespace, id)| (Kind::Platform(namespace), id))) {
        add_key(db, space, &person, kind, given)?;
    }
    Ok(person)
}

/// Adds a key that is free. An empty one is none.
pub(super) fn add_key(
    db: &Connection,
    space: &Space,
    person: &Person,
    kind: Kind<'_>,
    given: &str,
) -> rusqlite::Result<()> {
    let Some(key) = kind.normal(given) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO contact_key (space, kind, key, contact, contact_id, given) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO NOTHING",
    )?
    .execute(params![space.as_str(), kind.column(), key, person.number, person.id, given.trim()])
    .map(|_| ())
}

/// Frees all keys of a contact.
pub(super) fn free_keys(db: &Connection, number: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM contact_key WHERE contact = ?1")?.execute([number]).map(|_| ())
}

/// A contact, whole.
pub(super) fn load(db: &Connection, number: i64) -> rusqlite::Result<Contact> {
    let ids = db
        .prepare_cached(
            "SELECT substr(kind, 4), given FROM contact_key WHERE contact = ?1 AND kind LIKE 'id:%' ORDER BY kind, key",
        )?
        .query_map([number], |row| Ok(PlatformId { namespace: row.get(0)?, id: row.get(1)? }))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut contact = db
        .prepare_cached("SELECT id, email, external_id, properties FROM contact WHERE number = ?1")?
        .query_row([number], |row| {
            let (id, email, external_id) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Contact { id, email, external_id, ids: Vec::new(), properties: row.get(3)? })
        })?;
    contact.ids = ids;
    Ok(contact)
}

fn new_id() -> String {
    let mut random = rand::rng();
    let letter = |_| char::from(*ALPHABET.get(random.random_range(0..ALPHABET.len())).unwrap_or(&b'a'));
    format!("c_{}", (0..ID_LETTERS).map(letter).collect::<String>())
}
