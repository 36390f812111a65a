//! How values of the model stand in columns.

use bytes::Bytes;
use jackfield_model::{Blob, ConnectionId, Digest, Dispatch, ExecutionId, Generation, Timestamp, Transport};
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};

use crate::commit::Reception;

/// SQLite's integers are signed. The bits are kept, so that every value comes back; what is compared in SQL (positions,
/// epochs, times of this host) stays below the sign.
pub(super) fn int(value: u64) -> i64 {
    value.cast_signed()
}

/// The way back of [`int`].
pub(super) fn uint(value: i64) -> u64 {
    value.cast_unsigned()
}

/// How many rows to ask for: no more than `ceiling`.
pub(super) fn limit(wanted: usize, ceiling: usize) -> i64 {
    i64::try_from(wanted.min(ceiling)).unwrap_or(i64::MAX)
}

/// A blob, borrowed: text as TEXT, anything else as BLOB, so that it comes back as the same of the two.
pub(super) struct Payload<'a>(pub(super) &'a Blob);

impl ToSql for Payload<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Blob::Text(_) => ValueRef::Text(self.0.bytes()),
            Blob::Binary(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// A blob that was read.
pub(super) struct Read(pub(super) Blob);

impl FromSql for Read {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Text(_) => value.as_str().map(|text| Self(Blob::from(text))),
            ValueRef::Blob(bytes) => Ok(Self(Blob::Binary(Bytes::copy_from_slice(bytes)))),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// A column whose text or number is not what this version writes.
pub(super) fn odd(column: usize, reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into())
}

/// An unsigned number.
pub(super) fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(uint)
}

/// A time.
pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    number(row, column).map(Timestamp)
}

/// JSON.
pub(super) fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(|error| odd(column, error))?;
    text.map(|text| serde_json::from_str(text).map_err(|error| odd(column, error))).transpose()
}

/// A connection's id.
pub(super) fn connection(row: &Row<'_>, column: usize) -> rusqlite::Result<ConnectionId> {
    row.get::<_, String>(column)?.parse().map_err(|error: jackfield_model::InvalidId| odd(column, error))
}

/// A digest.
pub(super) fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    row.get::<_, String>(column)?.parse().map_err(|error: jackfield_model::InvalidId| odd(column, error))
}

/// The id of an execution.
pub(super) fn execution(row: &Row<'_>, column: usize) -> rusqlite::Result<ExecutionId> {
    row.get(column).map(ExecutionId::from_be_bytes)
}

/// A transport as a number.
pub(super) fn via(transport: Transport) -> i64 {
    match transport {
        Transport::Socket => 0,
        Transport::Poll => 1,
        Transport::Webhook => 2,
        Transport::Action => 3,
    }
}

/// The way back of [`via`].
pub(super) fn transport(row: &Row<'_>, column: usize) -> rusqlite::Result<Transport> {
    match row.get(column)? {
        0 => Ok(Transport::Socket),
        1 => Ok(Transport::Poll),
        2 => Ok(Transport::Webhook),
        3 => Ok(Transport::Action),
        other => Err(odd(column, format!("{other} is no transport"))),
    }
}

/// `kind, lane, context, payload`, from this column on.
pub(super) fn dispatch(row: &Row<'_>, first: usize) -> rusqlite::Result<Dispatch> {
    Ok(Dispatch {
        kind: row.get(first)?,
        lane: row.get(first + 1)?,
        context: row.get(first + 2)?,
        payload: row.get::<_, Read>(first + 3)?.0,
    })
}

/// `received_at, via, submitted_by`, from this column on.
pub(super) fn reception(row: &Row<'_>, first: usize) -> rusqlite::Result<Reception> {
    Ok(Reception { at: time(row, first)?, via: transport(row, first + 1)?, by: Generation(number(row, first + 2)?) })
}
