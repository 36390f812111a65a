//! The ledger of actions, read side: newest first, by whatever an index has; what none has is looked for in steps.

use jackfield_model::action::EndingKind;
use jackfield_model::{ExecutionId, Generation};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};

use crate::execution::{Execution, Filter, Surface};
use crate::sqlite::column::{self, json, limit, number, odd, time, uint};
use crate::sqlite::connection;
use crate::sqlite::read::{PAGE_ROWS_MAX, Page};

/// Rows that one statement looks at when an action or an outcome is wanted, so that a rare one keeps no read transaction
/// open over a whole ledger.
const SCAN_ROWS: usize = 4096;

/// A row's columns, in the order of [`read`].
const COLUMNS: &str =
    "execution.id, connection.id, execution.generation, execution.digest, action, surface, caller, key,
    attempt, approved, args, submitted_at, started_at, finished_at, waited_ms, outcome, reason, result, provider_ids,
    notes, requests";

/// The name of the connection comes last, so that the index on the left says the order.
const NAMED: &str = "CROSS JOIN connection ON connection.number = execution.connection";

/// One row.
pub(super) fn one(db: &Connection, id: ExecutionId) -> rusqlite::Result<Option<Execution>> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM execution {NAMED} WHERE execution.id = ?1"))?
        .query_row([id.to_be_bytes()], |row| read(row).map(|(_, execution)| execution))
        .optional()
}

/// Rows below `before`, newest first.
pub(super) fn page(
    db: &Connection,
    filter: &Filter,
    before: Option<ExecutionId>,
    rows: usize,
) -> rusqlite::Result<Vec<Execution>> {
    let connection = match &filter.connection {
        None => None,
        Some(id) => match connection::find(db, id)? {
            Some(ledger) => Some(ledger.number),
            None => return Ok(Vec::new()),
        },
    };
    let question = Question::new(filter, connection);
    let rows = rows.min(PAGE_ROWS_MAX);
    let (mut found, mut page) = (Vec::new(), Page::default());
    let mut below = before.map(ExecutionId::to_be_bytes);
    while found.len() < rows && !page.is_full() {
        let floor = question.floor(db, below)?;
        found.extend(question.look(db, &mut page, (below, floor), rows - found.len())?);
        let Some(floor) = floor else { break };
        below = Some(floor);
    }
    Ok(found)
}

/// How a surface stands in its column.
pub(super) fn word(surface: Surface) -> &'static str {
    match surface {
        Surface::Admin => "admin",
        Surface::Library => "library",
    }
}

/// An id as it stands in the file.
type Id = [u8; 16];

/// A filter, in SQL.
struct Question {
    /// Where rows come from, in order of their ids.
    from: &'static str,
    /// The column that has the id there.
    id: &'static str,
    /// What the index has, then what has to be looked at.
    indexed: Vec<(&'static str, Value)>,
    looked_at: Vec<(&'static str, Value)>,
}

impl Question {
    fn new(filter: &Filter, connection: Option<i64>) -> Self {
        let made = filter.provider_id.clone().map(|id| ("made.id", Value::from(id)));
        let key = filter.key.clone().map(|key| ("execution.key", Value::from(key)));
        let connection = connection.map(|number| ("execution.connection", Value::from(number)));
        let (from, id) = if made.is_some() {
            ("execution_provider AS made CROSS JOIN execution ON execution.id = made.execution", "made.execution")
        } else if key.is_some() {
            ("execution INDEXED BY execution_by_key", "execution.id")
        } else if connection.is_some() {
            ("execution INDEXED BY execution_by_connection", "execution.id")
        } else {
            ("execution", "execution.id")
        };
        let mut looked_at: Vec<(&'static str, Value)> = [made, key, connection].into_iter().flatten().collect();
        let rest = looked_at.split_off(looked_at.len().min(1));
        let indexed = std::mem::replace(&mut looked_at, rest);
        looked_at.extend(filter.action.clone().map(|action| ("execution.action", Value::from(action))));
        looked_at.extend(filter.outcome.map(|outcome| ("execution.outcome", Value::from(outcome.as_str().to_owned()))));
        Self { from, id, indexed, looked_at }
    }

    /// The id at which this step ends; `None` when it is the last.
    fn floor(&self, db: &Connection, below: Option<Id>) -> rusqlite::Result<Option<Id>> {
        if self.looked_at.is_empty() {
            return Ok(None);
        }
        let (from, id) = (self.from, self.id);
        let (cut, values) = cut(&self.indexed, id, (below, None));
        let sql = format!("SELECT {id} FROM {from} WHERE {cut} ORDER BY {id} DESC LIMIT 1 OFFSET {SCAN_ROWS}");
        db.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0)).optional()
    }

    /// Rows between these ids: below the first, from the second on.
    fn look(
        &self,
        db: &Connection,
        page: &mut Page,
        between: (Option<Id>, Option<Id>),
        rows: usize,
    ) -> rusqlite::Result<Vec<Execution>> {
        let (from, id) = (self.from, self.id);
        let conditions: Vec<_> = self.indexed.iter().chain(&self.looked_at).cloned().collect();
        let (cut, mut values) = cut(&conditions, id, between);
        values.push(limit(rows, PAGE_ROWS_MAX).into());
        let count = values.len();
        let sql = format!("SELECT {COLUMNS} FROM {from} {NAMED} WHERE {cut} ORDER BY {id} DESC LIMIT ?{count}");
        page.fill(db.prepare_cached(&sql)?.query(params_from_iter(values))?, read)
    }
}

/// Conditions and bounds, in SQL.
fn cut(
    conditions: &[(&'static str, Value)],
    id: &str,
    (below, from): (Option<Id>, Option<Id>),
) -> (String, Vec<Value>) {
    let bounds = [below.map(|below| (id, "<", below)), from.map(|from| (id, ">=", from))];
    let bounds = bounds.into_iter().flatten().map(|(id, how, bound)| (id, how, Value::Blob(bound.to_vec())));
    let conditions = conditions.iter().map(|(column, value)| (*column, "=", value.clone()));
    let mut sql = "TRUE".to_owned();
    let mut values = Vec::new();
    for (column, how, value) in conditions.chain(bounds) {
        values.push(value);
        sql.push_str(&format!(" AND {column} {how} ?{}", values.len()));
    }
    (sql, values)
}

/// A row, and what it weighs.
fn read(row: &Row<'_>) -> rusqlite::Result<(usize, Execution)> {
    let optional_time =
        |column| row.get::<_, Option<i64>>(column).map(|at| at.map(|at| jackfield_model::Timestamp(uint(at))));
    let execution = Execution {
        id: column::execution(row, 0)?,
        connection: column::connection(row, 1)?,
        generation: Generation(number(row, 2)?),
        digest: column::digest(row, 3)?,
        action: row.get(4)?,
        surface: surface(row, 5)?,
        caller: row.get(6)?,
        key: row.get(7)?,
        attempt: row.get(8)?,
        approved: row.get(9)?,
        args: row.get(10)?,
        submitted_at: time(row, 11)?,
        started_at: optional_time(12)?,
        finished_at: optional_time(13)?,
        waited_ms: number(row, 14)?,
        outcome: outcome(row, 15)?,
        reason: row.get(16)?,
        result: row.get(17)?,
        provider_ids: json(row, 18)?.unwrap_or_default(),
        notes: json(row, 19)?.unwrap_or_default(),
        requests: json(row, 20)?.unwrap_or_default(),
    };
    let listed = [18, 19, 20].into_iter().map(|column| row.get_ref(column).ok()?.as_bytes().ok().map(<[u8]>::len));
    let listed: usize = listed.map(Option::unwrap_or_default).sum();
    Ok((execution.args.len() + execution.result.len() + listed, execution))
}

fn surface(row: &Row<'_>, column: usize) -> rusqlite::Result<Surface> {
    match row.get_ref(column)?.as_str().map_err(|error| odd(column, error))? {
        "admin" => Ok(Surface::Admin),
        "library" => Ok(Surface::Library),
        other => Err(odd(column, format!("{other} is no surface"))),
    }
}

fn outcome(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<EndingKind>> {
    let word = row.get_ref(column)?.as_str_or_null().map_err(|error| odd(column, error))?;
    word.map(|word| {
        let known = EndingKind::ALL.into_iter().find(|kind| kind.as_str() == word);
        known.ok_or_else(|| odd(column, format!("{word} is no ending")))
    })
    .transpose()
}
