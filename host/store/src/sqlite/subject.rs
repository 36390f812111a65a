//! Who an event is about: looked up, made or added to, inside the commit.
//!
//! Only a person who is not the connection's own account is looked up at all. Keys in order: platform ids, external id,
//! verified email. An address that nobody vouches for stays in the event and touches no contact.

use jackfield_model::{Sender, Space, Subject};
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use crate::commit::Batch;
use crate::sqlite::contact::{self, Draft, IDS_MAX, Kind, PROPERTIES_BYTES_MAX, Person};
use crate::sqlite::job::Pass;

/// Whom a subject means.
#[derive(Debug, Default)]
pub(super) struct Whom {
    /// The strongest match, or the new contact.
    pub(super) contact: Option<String>,
    /// Other contacts that its keys point to.
    pub(super) conflicts: Vec<String>,
}

/// Finds, makes or adds to the contact. Nothing is written while keys contradict each other.
pub(super) fn settle(pass: &Pass<'_>, batch: &Batch, subject: &Subject, late: bool) -> rusqlite::Result<Whom> {
    if subject.sender != Sender::Person || subject.is_self {
        return Ok(Whom::default());
    }
    let (db, space) = (pass.db, &batch.space);
    let Keys { owners, ambiguous, free } = Keys::look_up(db, space, &batch.namespace, subject)?;
    let mut owners = owners.into_iter();
    match (owners.next(), owners.as_slice()) {
        (Some(owner), []) if ambiguous.is_empty() => {
            add(db, space, &owner, &free, subject, late)?;
            Ok(Whom { contact: Some(owner.id), conflicts: Vec::new() })
        }
        (None, _) if ambiguous.is_empty() => {
            let made = subject.may_create && !free.is_empty();
            let properties = if is_small_object(&subject.properties) { subject.properties.as_str() } else { "" };
            let draft = Draft { email: free.email, external_id: free.external_id, ids: free.ids, properties };
            let contact = made.then(|| contact::insert(db, space, &draft, pass.now)).transpose()?;
            Ok(Whom { contact: contact.map(|person| person.id), conflicts: Vec::new() })
        }
        (strongest, _) => {
            let others = owners.chain(ambiguous).map(|person| person.id).collect();
            Ok(Whom { contact: strongest.map(|person| person.id), conflicts: others })
        }
    }
}

/// Where a subject's keys point to.
struct Keys<'a> {
    /// Whoever has one of them, strongest key first, each once.
    owners: Vec<Person>,
    /// Several have its address, and none of them is an owner by a stronger key.
    ambiguous: Vec<Person>,
    free: Free<'a>,
}

/// Keys that nobody has.
#[derive(Default)]
struct Free<'a> {
    ids: Vec<(&'a str, &'a str)>,
    external_id: Option<&'a str>,
    email: Option<&'a str>,
}

impl Free<'_> {
    fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.external_id.is_none() && self.email.is_none()
    }
}

impl<'a> Keys<'a> {
    fn look_up(db: &Connection, space: &Space, namespace: &'a str, subject: &'a Subject) -> rusqlite::Result<Self> {
        let mut keys = Self { owners: Vec::new(), ambiguous: Vec::new(), free: Free::default() };
        for id in subject.ids.iter().take(IDS_MAX).filter(|id| Kind::Platform(namespace).normal(id).is_some()) {
            match contact::owners(db, space, Kind::Platform(namespace), id)?.pop() {
                Some(owner) => keys.own(owner),
                None => keys.free.ids.push((namespace, id)),
            }
        }
        let external_id = subject.external_id.as_deref().filter(|id| Kind::External.normal(id).is_some());
        if let Some(id) = external_id {
            match contact::owners(db, space, Kind::External, id)?.pop() {
                Some(owner) => keys.own(owner),
                None => keys.free.external_id = Some(id),
            }
        }
        let vouched = subject.email.as_deref().filter(|_| subject.email_verified);
        if let Some(email) = vouched.filter(|email| Kind::Email.normal(email).is_some()) {
            let mut found = contact::owners(db, space, Kind::Email, email)?;
            match found.len() {
                0 => keys.free.email = Some(email),
                1 => found.into_iter().for_each(|owner| keys.own(owner)),
                _ if found.iter().any(|person| keys.owners.contains(person)) => {}
                _ => keys.ambiguous.append(&mut found),
            }
        }
        Ok(keys)
    }

    fn own(&mut self, owner: Person) {
        if !self.owners.contains(&owner) {
            self.owners.push(owner);
        }
    }
}

/// Adds what is free and merges properties. Replaces no key, and writes only on change.
fn add(
    db: &Connection,
    space: &Space,
    owner: &Person,
    free: &Free<'_>,
    subject: &Subject,
    late: bool,
) -> rusqlite::Result<()> {
    if !free.ids.is_empty() {
        let has: u32 = db
            .prepare_cached("SELECT count(*) FROM contact_key WHERE contact = ?1")?
            .query_row([owner.number], |row| row.get(0))?;
        for &(namespace, id) in free.ids.iter().take(IDS_MAX.saturating_sub(has as usize)) {
            contact::add_key(db, space, owner, Kind::Platform(namespace), id)?;
        }
    }
    if let Some(id) = free.external_id {
        let set = "UPDATE contact SET external_id = ?2 WHERE number = ?1 AND external_id IS NULL";
        if db.prepare_cached(set)?.execute(params![owner.number, id])? > 0 {
            contact::add_key(db, space, owner, Kind::External, id)?;
        }
    }
    if let Some(email) = free.email {
        let set = "UPDATE contact SET email = ?2 WHERE number = ?1 AND email IS NULL";
        if db.prepare_cached(set)?.execute(params![owner.number, email])? > 0 {
            contact::add_key(db, space, owner, Kind::Email, email)?;
        }
    }
    merge(db, owner.number, &subject.properties, late)
}

/// New values win, except those of a late event: what is there is newer than that.
fn merge(db: &Connection, number: i64, properties: &str, late: bool) -> rusqlite::Result<()> {
    let Some(news) = object(properties).filter(|news| !news.is_empty()) else { return Ok(()) };
    let known: String =
        db.prepare_cached("SELECT properties FROM contact WHERE number = ?1")?.query_row([number], |row| row.get(0))?;
    if known == properties {
        return Ok(());
    }
    let mut merged = object(&known).unwrap_or_default();
    let mut changed = false;
    for (name, value) in news {
        match merged.get(&name) {
            Some(old) if late || *old == value => {}
            _ => {
                merged.insert(name, value);
                changed = true;
            }
        }
    }
    let text = Value::Object(merged).to_string();
    if !changed {
        return Ok(());
    }
    if text.len() > PROPERTIES_BYTES_MAX {
        tracing::warn!(contact = number, bytes = text.len(), "a contact's properties are full; news are not kept");
        return Ok(());
    }
    db.prepare_cached("UPDATE contact SET properties = ?2 WHERE number = ?1")?
        .execute(params![number, text])
        .map(|_| ())
}

fn is_small_object(properties: &str) -> bool {
    properties.len() <= PROPERTIES_BYTES_MAX && object(properties).is_some()
}

fn object(properties: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(properties).ok()
}
