//! Contacts' rows: found by key, made, read. Only the living are ever found.
//!
//! Keys are compared in the normal forms of [`jackfield_model::contact`] and kept as they were given. A contact's id is the
//! host's and says nothing; whatever text somebody looks up is compared as text.

use jackfield_model::contact::{Contact, email_key, id_key};
use jackfield_model::{PlatformId, Space, Timestamp};
use rand::Rng as _;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::sqlite::column::int;

/// Most ids on platforms of one contact. A person has a handful; a connector that makes up ids is stopped here.
pub(super) const IDS_MAX: usize = 64;

/// Largest properties of a contact, in bytes. They are read and compared with every message of that person.
pub(super) const PROPERTIES_BYTES_MAX: usize = 16 * 1024;

/// Most contacts that are listed for one ambiguous address.
const AMBIGUOUS_MAX: i64 = 32;

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

/// Who has this id on a platform.
pub(super) fn by_platform_id(
    db: &Connection,
    space: &Space,
    namespace: &str,
    key: &str,
) -> rusqlite::Result<Option<Person>> {
    db.prepare_cached(
        "SELECT contact.number, contact.id FROM contact_id JOIN contact ON contact.number = contact_id.contact
         WHERE contact_id.space = ?1 AND namespace = ?2 AND key = ?3 AND live = 1",
    )?
    .query_row([space.as_str(), namespace, key], person)
    .optional()
}

/// Who has this id of the operator's.
pub(super) fn by_external_id(db: &Connection, space: &Space, key: &str) -> rusqlite::Result<Option<Person>> {
    db.prepare_cached(
        "SELECT number, id FROM contact WHERE space = ?1 AND external_key = ?2 AND deleted_at IS NULL
           AND external_key IS NOT NULL",
    )?
    .query_row([space.as_str(), key], person)
    .optional()
}

/// Everybody who has this address, smallest id first.
pub(super) fn by_email(db: &Connection, space: &Space, key: &str) -> rusqlite::Result<Vec<Person>> {
    db.prepare_cached(
        "SELECT number, id FROM contact WHERE space = ?1 AND email_key = ?2 AND deleted_at IS NULL
           AND email_key IS NOT NULL ORDER BY id LIMIT ?3",
    )?
    .query_map(params![space.as_str(), key, AMBIGUOUS_MAX], person)?
    .collect()
}

/// Makes a contact. Whoever calls this has seen that its unique keys are free.
pub(super) fn insert(db: &Connection, space: &Space, draft: &Draft<'_>, now: Timestamp) -> rusqlite::Result<Person> {
    let id = new_id();
    let email_key = draft.email.and_then(email_key);
    let external_key = draft.external_id.and_then(id_key);
    db.prepare_cached(
        "INSERT INTO contact (id, space, email, email_key, external_id, external_key, properties, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        id,
        space.as_str(),
        email_key.as_ref().and(draft.email),
        email_key,
        external_key.as_ref().and(draft.external_id),
        external_key,
        if draft.properties.is_empty() { "{}" } else { draft.properties },
        int(now.0),
    ])?;
    let number = db.last_insert_rowid();
    for &(namespace, id) in draft.ids.iter().take(IDS_MAX) {
        add_id(db, space, number, namespace, id)?;
    }
    Ok(Person { number, id })
}

/// Adds an id on a platform, unless somebody living has it. An empty one is none.
pub(super) fn add_id(db: &Connection, space: &Space, contact: i64, namespace: &str, id: &str) -> rusqlite::Result<()> {
    let Some(key) = id_key(id) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO contact_id (space, namespace, key, id, contact) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?
    .execute(params![space.as_str(), namespace, key, id.trim(), contact])
    .map(|_| ())
}

/// A contact, whole.
pub(super) fn load(db: &Connection, number: i64) -> rusqlite::Result<Contact> {
    let ids = db
        .prepare_cached("SELECT namespace, id FROM contact_id WHERE contact = ?1 AND live = 1 ORDER BY rowid")?
        .query_map([number], |row| Ok(PlatformId { namespace: row.get(0)?, id: row.get(1)? }))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    db.prepare_cached("SELECT id, email, external_id, properties FROM contact WHERE number = ?1")?.query_row(
        [number],
        |row| {
            Ok(Contact {
                id: row.get(0)?,
                email: row.get(1)?,
                external_id: row.get(2)?,
                ids: ids.clone(),
                properties: row.get(3)?,
            })
        },
    )
}

fn person(row: &rusqlite::Row<'_>) -> rusqlite::Result<Person> {
    Ok(Person { number: row.get(0)?, id: row.get(1)? })
}

fn new_id() -> String {
    let mut random = rand::rng();
    let letter = |_| char::from(*ALPHABET.get(random.random_range(0..ALPHABET.len())).unwrap_or(&b'a'));
    format!("c_{}", (0..ID_LETTERS).map(letter).collect::<String>())
}
