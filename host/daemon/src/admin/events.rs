//! The event log: pages, waiting for more, and named cursors.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use jackfield_model::ConnectionId;
use jackfield_store::event::{Cursor, Filter, Record};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::failure::Failure;
use super::json::EventDocument;
use super::server::Admin;

/// Most events of one answer: at most 1 MiB each, usually 2 KB.
pub(crate) const PAGE_MAX: usize = 1_000;

/// Longest wait for an event. Shorter than any client's patience.
const WAIT_MAX: Duration = Duration::from_secs(25);

/// Longest name of a cursor, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// What is asked for.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Of this connection only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connection: Option<ConnectionId>,
    /// With this name only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Behind this position; the newest ones when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<u64>,
    /// At most so many.
    pub(crate) limit: usize,
    /// Waits for the first one, up to so many seconds.
    #[serde(default)]
    pub(crate) wait: u64,
}

/// A page of the log.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Page {
    /// The events, oldest first.
    pub(crate) events: Vec<Box<RawValue>>,
    /// Everything up to here was looked at.
    pub(crate) seen: u64,
}

/// A cursor's new place.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    /// Everything up to here is dealt with.
    pub(crate) position: u64,
}

/// A cursor as it is shown.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CursorDocument {
    /// Where it is; absent when the name is new.
    pub(crate) position: Option<u64>,
}

pub(super) async fn page(
    State(admin): State<Admin>,
    Query(wanted): Query<Wanted>,
) -> Result<impl IntoResponse, Failure> {
    let limit = wanted.limit.clamp(1, PAGE_MAX);
    let filter = Filter { connection: wanted.connection, name: wanted.name };
    let events = &admin.host.stores().events;
    let mut head = events.head();
    let deadline = tokio::time::sleep(Duration::from_secs(wanted.wait).min(WAIT_MAX));
    tokio::pin!(deadline);
    loop {
        // Read before the page, so that nothing that the page lacks counts as seen.
        let seen = *head.borrow_and_update();
        let records = match wanted.after {
            Some(after) => events.page(&filter, after, limit).await?,
            None => events.newest(&filter, limit).await?,
        };
        if !records.is_empty() || wanted.wait == 0 {
            return Ok(Json(document(&records, limit, seen)));
        }
        tokio::select! {
            changed = head.changed() => if changed.is_err() { return Ok(Json(document(&records, limit, seen))) },
            () = &mut deadline => return Ok(Json(document(&records, limit, seen))),
            () = admin.ending.cancelled() => return Ok(Json(document(&records, limit, seen))),
        }
    }
}

fn document(records: &[Record], limit: usize, seen: u64) -> Page {
    let last = records.last().map(|record| record.position);
    let seen = if records.len() < limit { last.unwrap_or(0).max(seen) } else { last.unwrap_or(seen) };
    let raw = |record| serde_json::value::to_raw_value(&EventDocument::from(record)).ok();
    Page { events: records.iter().filter_map(raw).collect(), seen }
}

pub(super) async fn cursor(State(admin): State<Admin>, Path(name): Path<String>) -> Result<impl IntoResponse, Failure> {
    let cursor = admin.host.stores().events.cursor(checked(&name)?).await?;
    Ok(Json(CursorDocument { position: cursor.map(|Cursor { position, .. }| position) }))
}

pub(super) async fn advance(
    State(admin): State<Admin>,
    Path(name): Path<String>,
    Json(place): Json<Place>,
) -> Result<impl IntoResponse, Failure> {
    let head = *admin.host.stores().events.head().borrow();
    if place.position > head {
        return Err(Failure::bad(format!("position {} is ahead of the log, which ends at {head}", place.position)));
    }
    admin.host.stores().events.advance(checked(&name)?, place.position).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A cursor's name stands in the store and in log lines.
fn checked(name: &str) -> Result<&str, Failure> {
    let fine = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(fine) {
        let text = format!("a cursor's name has 1 to {NAME_BYTES_MAX} letters, digits, `-`, `_` and `.`");
        return Err(Failure::bad(text));
    }
    Ok(name)
}
