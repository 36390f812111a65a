//! The keys under which callers submit: claimed before anything is sent, ended with their execution.
//!
//! A key names one request for as long as it is kept. What is asked under it with other arguments is a conflict, also after
//! an ending that left nothing: an earlier attempt may be the one whose outcome is not known, and whoever changes a
//! request has another request.

use jackfield_model::action::{Ending, EndingKind};
use jackfield_model::{Digest, ExecutionId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::execution::{Opened, Opening};
use crate::sqlite::column::{self, int, time};

/// What is told of a key whose last attempt did nothing while an earlier one may have.
const DOUBT: &str = "an earlier attempt under this key may have done it";

/// What stands under a key.
struct Standing {
    number: i64,
    args_digest: Digest,
    execution: ExecutionId,
    attempt: u32,
    submitted_at: Timestamp,
    /// When the first attempt before this one was submitted that ended as unknown.
    doubt: Option<Timestamp>,
    ending: Option<Ending>,
}

/// Which attempt it is, and since when one before it may have done it.
pub(super) type Claim = (u32, Option<Timestamp>);

/// Claims the key for this opening; or says why it is not its turn.
pub(super) fn claim(
    db: &Connection,
    connection: i64,
    key: &str,
    opening: &Opening,
) -> rusqlite::Result<Result<Claim, Opened>> {
    let Some(standing) = find(db, connection, &opening.action, key)? else {
        let attempt = opening.attempt.max(1);
        db.prepare_cached(
            "INSERT INTO submission (connection, action, key, args_digest, execution, attempt, submitted_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            connection,
            opening.action,
            key,
            opening.args_digest.to_string(),
            opening.id.to_be_bytes(),
            attempt,
            int(opening.submitted_at.0)
        ])?;
        return Ok(Ok((attempt, None)));
    };
    let (number, before) = (standing.number, standing.attempt);
    let doubt = match standing.admit(opening) {
        Ok(doubt) => doubt,
        Err(refused) => return Ok(Err(refused)),
    };
    let attempt = opening.attempt.max(before.saturating_add(1));
    db.prepare_cached(
        "UPDATE submission SET execution = ?2, attempt = ?3, submitted_at = ?4, doubt_since = ?5, ending = NULL
         WHERE number = ?1",
    )?
    .execute(params![
        number,
        opening.id.to_be_bytes(),
        attempt,
        int(opening.submitted_at.0),
        doubt.map(|since| int(since.0))
    ])?;
    Ok(Ok((attempt, doubt)))
}

/// Ends the submission of this execution, if it is one's. `ending` is JSON.
pub(super) fn end(db: &Connection, execution: ExecutionId, ending: &str) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE submission SET ending = ?2 WHERE execution = ?1")?
        .execute(params![execution.to_be_bytes(), ending])
        .map(|_| ())
}

/// Ends the submissions of all executions that run. `ending` is JSON.
pub(super) fn end_open(db: &Connection, ending: &str) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE submission SET ending = ?1 WHERE execution IN (SELECT id FROM execution WHERE finished_at IS NULL)",
    )?
    .execute([ending])
    .map(|_| ())
}

impl Standing {
    /// Since when an attempt whose outcome is not known lies behind, if one does; or why there is no further attempt.
    fn admit(self, opening: &Opening) -> Result<Option<Timestamp>, Opened> {
        let (id, attempt) = (self.execution, self.attempt);
        if self.args_digest != opening.args_digest {
            return Err(Opened::Conflict { id });
        }
        let Some(ending) = self.ending else { return Err(Opened::Same { id, attempt, ending: None }) };
        // That the last attempt did nothing says nothing of the one before it.
        let ending = if self.doubt.is_some() && ending.kind().claims_nothing() {
            Ending::Unknown { reason: DOUBT.to_owned() }
        } else {
            ending
        };
        let since = self.doubt.unwrap_or(self.submitted_at);
        match ending.kind() {
            EndingKind::Unknown if opening.repeats.harmless(since, opening.submitted_at) => Ok(Some(since)),
            kind if kind.left_nothing() => Ok(None),
            _ => Err(Opened::Same { id, attempt, ending: Some(ending) }),
        }
    }
}

fn find(db: &Connection, connection: i64, action: &str, key: &str) -> rusqlite::Result<Option<Standing>> {
    db.prepare_cached(
        "SELECT number, args_digest, execution, attempt, submitted_at, doubt_since, ending FROM submission
         WHERE connection = ?1 AND action = ?2 AND key = ?3",
    )?
    .query_row(params![connection, action, key], read)
    .optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Standing> {
    Ok(Standing {
        number: row.get(0)?,
        args_digest: column::digest(row, 1)?,
        execution: column::execution(row, 2)?,
        attempt: row.get(3)?,
        submitted_at: time(row, 4)?,
        doubt: row.get::<_, Option<i64>>(5)?.map(|_| time(row, 5)).transpose()?,
        ending: column::json(row, 6)?,
    })
}
