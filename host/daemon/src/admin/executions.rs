//! The ledger of actions: what was tried, by whom, and how it ended. Read only.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use jackfield_model::action::EndingKind;
use jackfield_model::{ConnectionId, ExecutionId, Generation, Timestamp};
use jackfield_store::execution::{Execution, Filter, Request, Surface};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::failure::Failure;
use super::json::raw;
use super::server::Admin;

/// Most executions of one answer.
pub(crate) const PAGE_MAX: usize = 200;

/// What is asked for.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Of this connection only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connection: Option<ConnectionId>,
    /// Of this action only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<String>,
    /// That ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<EndingKind>,
    /// Submitted under this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// That made this, by the platform's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider_id: Option<String>,
    /// Older than this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<ExecutionId>,
    /// At most so many.
    pub(crate) limit: usize,
}

/// Executions, newest first.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Executions {
    pub(crate) executions: Vec<Envelope>,
}

/// An execution without what it was given, gave and sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Envelope {
    pub(crate) id: ExecutionId,
    pub(crate) connection: ConnectionId,
    pub(crate) action: String,
    /// Absent while it runs.
    pub(crate) outcome: Option<EndingKind>,
    pub(crate) reason: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) attempt: u32,
    pub(crate) surface: Surface,
    pub(crate) caller: String,
    pub(crate) approved: Option<String>,
    pub(crate) submitted_at: Timestamp,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) finished_at: Option<Timestamp>,
    pub(crate) waited_ms: u64,
    pub(crate) provider_ids: Vec<String>,
    pub(crate) generation: Generation,
    pub(crate) digest: String,
}

/// An execution, all of it. Arguments and result are as the ledger keeps them: redacted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Whole {
    #[serde(flatten)]
    pub(crate) envelope: Envelope,
    pub(crate) args: Box<RawValue>,
    pub(crate) result: Option<Box<RawValue>>,
    pub(crate) notes: Vec<String>,
    pub(crate) requests: Vec<Request>,
}

pub(super) async fn list(
    State(admin): State<Admin>,
    Query(wanted): Query<Wanted>,
) -> Result<impl IntoResponse, Failure> {
    let Wanted { connection, action, outcome, key, provider_id, before, limit } = wanted;
    let filter = Filter { connection, action, outcome, key, provider_id };
    let executions = &admin.host.stores().executions;
    let found = executions.executions(&filter, before, limit.clamp(1, PAGE_MAX)).await?;
    Ok(Json(Executions { executions: found.iter().map(Envelope::from).collect() }))
}

pub(super) async fn show(
    State(admin): State<Admin>,
    Path(id): Path<ExecutionId>,
) -> Result<impl IntoResponse, Failure> {
    let found = admin.host.stores().executions.execution(id).await?;
    let missing = || {
        Failure::missing(format!(
            "there is no execution {id}: see `jackfield executions list`; rows of the ledger end with their retention"
        ))
    };
    Ok(Json(Whole::from(found.ok_or_else(missing)?)))
}

impl From<&Execution> for Envelope {
    fn from(execution: &Execution) -> Self {
        Self {
            id: execution.id,
            connection: execution.connection.clone(),
            action: execution.action.clone(),
            outcome: execution.outcome,
            reason: execution.reason.clone(),
            key: execution.key.clone(),
            attempt: execution.attempt,
            surface: execution.surface,
            caller: execution.caller.clone(),
            approved: execution.approved.clone(),
            submitted_at: execution.submitted_at,
            started_at: execution.started_at,
            finished_at: execution.finished_at,
            waited_ms: execution.waited_ms,
            provider_ids: execution.provider_ids.clone(),
            generation: execution.generation,
            digest: execution.digest.to_string(),
        }
    }
}

impl From<Execution> for Whole {
    fn from(execution: Execution) -> Self {
        let result = (!execution.result.is_empty()).then(|| raw(&execution.result));
        Self {
            envelope: Envelope::from(&execution),
            args: raw(&execution.args),
            result,
            notes: execution.notes,
            requests: execution.requests,
        }
    }
}
