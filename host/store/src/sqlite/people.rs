//! Contacts, for whoever looks them up or keeps them.

use async_trait::async_trait;
use jackfield_model::Space;
use jackfield_model::contact::{Contact, Reference, Resolution};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::contact::{Contacts, Created, Draft};
use crate::error::{Result, StoreError};
use crate::sqlite::Sqlite;
use crate::sqlite::column::{int, limit};
use crate::sqlite::contact::{self, IDS_MAX, Kind, PROPERTIES_BYTES_MAX};
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
    let ranks = match reference {
        Reference::Email(email) => vec![(Kind::Email, email)],
        Reference::ExternalId(id) => vec![(Kind::External, id)],
        Reference::Platform(id) => vec![(Kind::Platform(&id.namespace), &id.id)],
        Reference::Text { text, namespace } => {
            let platform = namespace.as_deref().map(|namespace| (Kind::Platform(namespace), text));
            [(Kind::Email, text), (Kind::External, text)].into_iter().chain(platform).collect()
        }
    };
    for (kind, given) in ranks {
        match contact::owners(db, space, kind, given)?.as_slice() {
            [] => {}
            [person] => return contact::load(db, person.number).map(Resolution::Found),
            several => return Ok(Resolution::Ambiguous(several.iter().map(|person| person.id.clone()).collect())),
        }
    }
    Ok(Resolution::None)
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
    let external = draft.external_id.iter().map(|id| (Kind::External, id, "external_id"));
    let platform = draft.ids.iter().map(|id| (Kind::Platform(&id.namespace), &id.id, "platform_id"));
    for (kind, given, key) in external.chain(platform) {
        if let Some(owner) = contact::owners(db, space, kind, given)?.pop() {
            return Ok(Created::Taken { contact: owner.id, key });
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
    contact::free_keys(pass.db, number)?;
    Ok(true)
}
