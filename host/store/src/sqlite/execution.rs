//! The ledger of actions: opened durably before anything is sent, ended once. What it is read by is in `ledger`.

use async_trait::async_trait;
use jackfield_model::ExecutionId;
use jackfield_model::action::{Ending, EndingKind};
use rusqlite::{Connection, params};
use serde::Serialize;

use crate::error::{Result, StoreError};
use crate::execution::{Closing, Execution, Executions, Filter, Opened, Opening};
use crate::sqlite::column::int;
use crate::sqlite::job::{Pass, Weight};
use crate::sqlite::{Sqlite, connection, ledger, submission};

#[async_trait]
impl Executions for Sqlite {
    async fn open(&self, opening: Opening) -> Result<Opened> {
        let weight = Weight { dispatches: 0, bytes: opening.args.len() };
        self.writer.run(weight, move |pass| open(pass, &opening)).await
    }

    async fn close(&self, id: ExecutionId, closing: Closing) -> Result<bool> {
        let written = Written::of(&closing)?;
        let bytes = closing.result.len() + written.ending.len() + written.requests.len();
        self.writer.run(Weight { dispatches: 0, bytes }, move |pass| close(pass.db, id, &closing, &written)).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Execution>> {
        self.readers.read(move |db| ledger::one(db, id)).await
    }

    async fn executions(&self, filter: &Filter, before: Option<ExecutionId>, rows: usize) -> Result<Vec<Execution>> {
        let filter = filter.clone();
        self.readers.read(move |db| ledger::page(db, &filter, before, rows)).await
    }

    async fn interrupted(&self, reason: &str) -> Result<u64> {
        let reason = reason.to_owned();
        let ending = json(&Ending::Unknown { reason: reason.clone() })?;
        self.writer.ride(move |pass| interrupted(pass, &reason, &ending)).await
    }
}

/// What of a closing is kept as JSON.
struct Written {
    ending: String,
    provider_ids: String,
    notes: String,
    requests: String,
}

impl Written {
    fn of(closing: &Closing) -> Result<Self> {
        Ok(Self {
            ending: json(&closing.ending)?,
            provider_ids: json(&provider_ids(&closing.ending))?,
            notes: json(&closing.notes)?,
            requests: json(&closing.requests)?,
        })
    }
}

fn open(pass: &mut Pass<'_>, opening: &Opening) -> rusqlite::Result<Opened> {
    let number = connection::ensure(pass.db, &opening.connection)?.number;
    let (attempt, doubt) = match &opening.key {
        None => (opening.attempt.max(1), None),
        Some(key) => match submission::claim(pass.db, number, key, opening)? {
            Ok(claim) => claim,
            Err(refused) => return Ok(refused),
        },
    };
    pass.db
        .prepare_cached(
            "INSERT INTO execution (id, connection, action, generation, digest, surface, caller, key, attempt, approved,
               submitted_at, args)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            opening.id.to_be_bytes(),
            number,
            opening.action,
            int(opening.generation.0),
            opening.digest.to_string(),
            ledger::word(opening.surface),
            opening.caller,
            opening.key,
            attempt,
            opening.approved,
            int(opening.submitted_at.0),
            opening.args,
        ])?;
    Ok(Opened::New { attempt, doubt })
}

fn close(db: &Connection, id: ExecutionId, closing: &Closing, written: &Written) -> rusqlite::Result<bool> {
    let ended = db
        .prepare_cached(
            "UPDATE execution SET outcome = ?2, finished_at = ?3, started_at = ?4, waited_ms = ?5, reason = ?6,
               provider_ids = ?7, notes = ?8, requests = ?9, result = ?10
             WHERE id = ?1 AND finished_at IS NULL",
        )?
        .execute(params![
            id.to_be_bytes(),
            closing.ending.kind().as_str(),
            int(closing.finished_at.0),
            closing.started_at.map(|at| int(at.0)),
            int(closing.waited_ms),
            closing.ending.reason(),
            written.provider_ids,
            written.notes,
            written.requests,
            closing.result,
        ])?;
    if ended == 0 {
        return Ok(false);
    }
    let mut made = db.prepare_cached("INSERT OR IGNORE INTO execution_provider (id, execution) VALUES (?1, ?2)")?;
    for provider_id in provider_ids(&closing.ending) {
        made.execute(params![provider_id, id.to_be_bytes()])?;
    }
    submission::end(db, id, &written.ending)?;
    Ok(true)
}

fn interrupted(pass: &mut Pass<'_>, reason: &str, ending: &str) -> rusqlite::Result<u64> {
    submission::end_open(pass.db, ending)?;
    let ended = pass
        .db
        .prepare_cached("UPDATE execution SET outcome = ?1, reason = ?2, finished_at = ?3 WHERE finished_at IS NULL")?
        .execute(params![EndingKind::Unknown.as_str(), reason, int(pass.now.0)])?;
    Ok(ended as u64)
}

fn provider_ids(ending: &Ending) -> &[String] {
    ending.outcome().map_or(&[], |outcome| &outcome.provider_ids)
}

/// Strings, numbers and lists of them: what fails here can't be told to anybody either.
fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::Unavailable(format!("write an ending as JSON: {error}")))
}
