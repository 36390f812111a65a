//! Dead letters: looking at them, and the two ways out.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use jackfield_model::{ConnectionId, Generation, Timestamp, Transport};
use jackfield_store::commit::Stage;
use jackfield_store::dead_letter::Letter;
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::server::Admin;
use crate::redact;

/// Most letters of one answer.
const PAGE_MAX: usize = 200;

/// What is asked for.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Of this connection only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connection: Option<ConnectionId>,
    /// With larger numbers only.
    #[serde(default)]
    pub(crate) after: u64,
    /// At most so many.
    pub(crate) limit: usize,
}

/// How one is to be shown.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Show {
    /// As received.
    #[serde(default)]
    pub(crate) raw: bool,
}

/// A letter without what it carries.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Envelope {
    pub(crate) id: u64,
    pub(crate) connection: ConnectionId,
    pub(crate) kind: String,
    pub(crate) lane: String,
    pub(crate) stage: Stage,
    pub(crate) error: String,
    pub(crate) attempts: u32,
    pub(crate) digest: String,
    pub(crate) via: Transport,
    pub(crate) received_at: Timestamp,
    pub(crate) died_at: Timestamp,
    /// How often it died again since.
    pub(crate) repeats: u64,
    pub(crate) submitted_by: Generation,
    pub(crate) bytes: usize,
}

/// A letter with what it carries.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Whole {
    #[serde(flatten)]
    pub(crate) envelope: Envelope,
    pub(crate) redacted: bool,
    /// JSON where the payload is JSON, else text; absent when it can't be shown redacted.
    pub(crate) payload: Option<serde_json::Value>,
    /// The payload as received, where asked for, as text; or in base64 where it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) raw: Option<String>,
    /// `raw` is base64.
    #[serde(default)]
    pub(crate) base64: bool,
    pub(crate) context: Option<serde_json::Value>,
}

/// Letters.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Letters {
    pub(crate) dead_letters: Vec<Envelope>,
}

pub(super) async fn list(
    State(admin): State<Admin>,
    Query(wanted): Query<Wanted>,
) -> Result<impl IntoResponse, Failure> {
    let limit = wanted.limit.clamp(1, PAGE_MAX);
    let letters = admin.host.stores().dead_letters.letters(wanted.connection.as_ref(), wanted.after, limit).await?;
    Ok(Json(Letters { dead_letters: letters.iter().map(Envelope::from).collect() }))
}

pub(super) async fn show(
    State(admin): State<Admin>,
    Path(id): Path<u64>,
    Query(show): Query<Show>,
) -> Result<impl IntoResponse, Failure> {
    let letter = letter(&admin, id).await?;
    let bytes = letter.dispatch.payload.bytes();
    let (text, base64) = if show.raw { original(bytes) } else { (None, false) };
    let whole = Whole {
        envelope: Envelope::from(&letter),
        redacted: !show.raw,
        payload: if show.raw { None } else { redact::payload(bytes) },
        raw: text,
        base64,
        context: redact::payload(letter.dispatch.context.as_bytes()),
    };
    Ok(Json(whole))
}

fn original(bytes: &[u8]) -> (Option<String>, bool) {
    use base64::Engine as _;
    match std::str::from_utf8(bytes) {
        Ok(text) => (Some(text.to_owned()), false),
        Err(_) => (Some(base64::prelude::BASE64_STANDARD.encode(bytes)), true),
    }
}

pub(super) async fn redrive(State(admin): State<Admin>, Path(id): Path<u64>) -> Result<impl IntoResponse, Failure> {
    let letter = letter(&admin, id).await?;
    admin.host.stores().dead_letters.redrive(id).await?.ok_or_else(|| gone(id))?;
    let served = admin.host.inbox_changed(&letter.connection);
    tracing::info!(connection = %letter.connection, id, served, "dead letter redriven");
    Ok(Json(Redriven { id, connection: letter.connection, served }))
}

/// What became of a redrive.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Redriven {
    pub(crate) id: u64,
    pub(crate) connection: ConnectionId,
    /// The connection is served, so the dispatch is tried at once.
    pub(crate) served: bool,
}

pub(super) async fn discard(State(admin): State<Admin>, Path(id): Path<u64>) -> Result<impl IntoResponse, Failure> {
    if !admin.host.stores().dead_letters.discard(id).await? {
        return Err(gone(id));
    }
    tracing::info!(id, "dead letter discarded");
    Ok(StatusCode::NO_CONTENT)
}

async fn letter(admin: &Admin, id: u64) -> Result<Letter, Failure> {
    admin.host.stores().dead_letters.letter(id).await?.ok_or_else(|| gone(id))
}

fn gone(id: u64) -> Failure {
    Failure::missing(format!("there is no dead letter {id}: see `jackfield dead-letters list`"))
}

impl From<&Letter> for Envelope {
    fn from(letter: &Letter) -> Self {
        Self {
            id: letter.id,
            connection: letter.connection.clone(),
            kind: letter.dispatch.kind.clone(),
            lane: letter.dispatch.lane.clone(),
            stage: letter.death.stage,
            error: letter.death.error.clone(),
            attempts: letter.death.attempts,
            digest: letter.death.digest.to_string(),
            via: letter.reception.via,
            received_at: letter.reception.at,
            died_at: letter.died_at,
            repeats: letter.repeats,
            submitted_by: letter.reception.by,
            bytes: letter.dispatch.payload.len(),
        }
    }
}
