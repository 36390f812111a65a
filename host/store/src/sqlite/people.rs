//! Contacts, for whoever looks them up or keeps them.

use async_trait::async_trait;
use jackfield_model::Space;
use jackfield_model::contact::{Contact, Reference, Resolution, email_key, id_key};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::contact::{Contacts, Created, Draft};
use crate::error::{Result, StoreError};
use crate::sqlite::Sqlite;
use crate::sqlite::column::{int, limit};
use crate::sqlite::contact::{self, IDS_MAX, PROPERTIES_BYTES_MAX, Person};
use crate::sqlite::job::Pass;
use crate::sqlite::read::PAGE_ROWS_MAX;

#[async_trait]
impl Contacts for Sqlite {
    async fn resolve(&self, space: &Space, reference: &Reference) -> Result<Resolution> {
        let (space, reference) = (space.clone(), reference.clone());
        self.readers.read(move |db| resolve(db, &space, &reference)).await
    }

    async fn contacts(&self, space: &Space, after: &str, rows: usize) -> Result<Vec<Contact>> {
        let (space, after) = (space.clone(), after.to_owned());
        self.readers.read(move |db| contacts(db, &space, &after, rows)).await
    }

    async fn create(&self, space: &Space, draft: Draft) -> Result<Created> {
        if let Some(wrong) = refuse(&draft) {
            return Err(StoreError::Unavailable(wrong));
        }
        let space = space.clone();
        self.writer.ride(move |pass| create(pass, &space, &draft)).await
    }

    async fn delete(&self, space: &Space, id: &str) -> Result<bool> {
        let (space, id) = (space.clone(), id.to_owned());
        self.writer.ride(move |pass| delete(pass, &space, &id)).await
    }
}

/// What can't be stored, whatever is free.
fn refuse(draft: &Draft) -> Option<String> {
    let properties = draft.properties.as_str();
    if properties.len() > PROPERTIES_BYTES_MAX {
        return Some(format!("a contact's properties have at most {PROPERTIES_BYTES_MAX} bytes"));
    }
    if draft.ids.len() > IDS_MAX {
        return Some(format!("a contact has at most {IDS_MAX} ids on platforms"));
    }
    let is_object = |text| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok();
    (!properties.is_empty() && !is_object(properties)).then(|| "a contact's properties are a JSON object".to_owned())
}

/// One rank after the other; the first that anybody matches decides.
fn resolve(db: &Connection, space: &Space, reference: &Reference) -> rusqlite::Result<Resolution> {
    let found = match reference {
        Reference::Email(email) => email_owners(db, space, email)?,
        Reference::ExternalId(id) => external_owner(db, space, id)?.into_iter().collect(),
        Reference::Platform(id) => platform_owner(db, space, &id.namespace, &id.id)?.into_iter().collect(),
        Reference::Text { text, namespace } => {
            let mut found = email_owners(db, space, text)?;
            if found.is_empty() {
                found.extend(external_owner(db, space, text)?);
            }
            if let (true, Some(namespace)) = (found.is_empty(), namespace) {
                found.extend(platform_owner(db, space, namespace, text)?);
            }
            found
        }
    };
    Ok(match found.as_slice() {
        [] => Resolution::None,
        [person] => Resolution::Found(contact::load(db, person.number)?),
        _ => Resolution::Ambiguous(found.into_iter().map(|person| person.id).collect()),
    })
}

fn email_owners(db: &Connection, space: &Space, email: &str) -> rusqlite::Result<Vec<Person>> {
    email_key(email).map_or(Ok(Vec::new()), |key| contact::by_email(db, space, &key))
}

fn external_owner(db: &Connection, space: &Space, id: &str) -> rusqlite::Result<Option<Person>> {
    id_key(id).map_or(Ok(None), |key| contact::by_external_id(db, space, &key))
}

fn platform_owner(db: &Connection, space: &Space, namespace: &str, id: &str) -> rusqlite::Result<Option<Person>> {
    id_key(id).map_or(Ok(None), |key| contact::by_platform_id(db, space, namespace, &key))
}

fn contacts(db: &Connection, space: &Space, after: &str, rows: usize) -> rusqlite::Result<Vec<Contact>> {
    let numbers: Vec<i64> = db
        .prepare_cached(
            "SELECT number FROM contact WHERE space = ?1 AND id > ?2 AND deleted_at IS NULL ORDER BY id LIMIT ?3",
        )?
        .query_map(params![space.as_str(), after, limit(rows, PAGE_ROWS_MAX)], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    numbers.into_iter().map(|number| contact::load(db, number)).collect()
}

fn create(pass: &mut Pass<'_>, space: &Space, draft: &Draft) -> rusqlite::Result<Created> {
    let db = pass.db;
    if let Some(id) = &draft.external_id
        && let Some(owner) = external_owner(db, space, id)?
    {
        return Ok(Created::Taken { contact: owner.id, key: "external_id" });
    }
    for id in &draft.ids {
        if let Some(owner) = platform_owner(db, space, &id.namespace, &id.id)? {
            return Ok(Created::Taken { contact: owner.id, key: "platform_id" });
        }
    }
    let row = contact::Draft {
        email: draft.email.as_deref(),
        external_id: draft.external_id.as_deref(),
        ids: draft.ids.iter().map(|id| (id.namespace.as_str(), id.id.as_str())).collect(),
        properties: &draft.properties,
    };
    let person = contact::insert(db, space, &row, pass.now)?;
    contact::load(db, person.number).map(Created::New)
}

/// The row stays, so that events keep their contact; its keys are free from now on.
fn delete(pass: &mut Pass<'_>, space: &Space, id: &str) -> rusqlite::Result<bool> {
    let deleted: Option<i64> = pass
        .db
        .prepare_cached(
            "UPDATE contact SET deleted_at = ?3 WHERE id = ?1 AND space = ?2 AND deleted_at IS NULL RETURNING number",
        )?
        .query_row(params![id, space.as_str(), int(pass.now.0)], |row| row.get(0))
        .optional()?;
    let Some(number) = deleted else { return Ok(false) };
    pass.db.prepare_cached("UPDATE contact_id SET live = 0 WHERE contact = ?1")?.execute([number])?;
    Ok(true)
}
