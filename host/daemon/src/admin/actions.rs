//! Actions: what can be asked of the platforms, and asking for it.
//!
//! A run ends with its connection: whoever hangs up has left, the handler's future is dropped, and with it the execution. So
//! a run has no ceiling of time here; the action's own and the operator's apply, and the caller's.

use std::time::Duration;

use axum::extract::{FromRequest as _, Query, Request as HttpRequest, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use jackfield_model::action::{Ending, EndingKind, Patch, PatchOp};
use jackfield_model::semantics::Semantics;
use jackfield_model::{ConnectionId, ExecutionId, Generation};
use jackfield_store::execution::Surface;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::failure::{Class, Failure};
use super::json::raw;
use super::peer::Peer;
use super::server::Admin;
use crate::config::nearest;
use crate::outbound::{Listed, Refused, Report, Request};

/// Where a run is asked for.
pub(crate) const RUN: &str = "/v0/actions/run";

/// Longest arguments, in bytes: a message and what belongs to it.
pub(crate) const ARGS_BYTES_MAX: usize = 1024 * 1024;

/// Longest body of a run, in bytes: arguments, names and a key.
pub(super) const RUN_BYTES_MAX: usize = ARGS_BYTES_MAX + 16 * 1024;

/// Time for the body of a run: a client that dribbles is cut off before anything began.
const BODY_TIME_MAX: Duration = Duration::from_secs(10);

/// Which actions.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Of this connection only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connection: Option<ConnectionId>,
    /// Of this name only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<String>,
}

/// Actions.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Actions {
    pub(crate) actions: Vec<ActionDocument>,
}

/// One thing that can be done on a connection.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ActionDocument {
    pub(crate) connection: ConnectionId,
    pub(crate) action: String,
    pub(crate) summary: String,
    pub(crate) semantics: Semantics,
    /// Somebody has to look at it before it is run.
    pub(crate) needs_approval: bool,
    pub(crate) timeout_ms: u64,
    pub(crate) implements: Vec<String>,
    pub(crate) required_scopes: Vec<String>,
    pub(crate) input_schema: Box<RawValue>,
    pub(crate) output_schema: Box<RawValue>,
    pub(crate) generation: Generation,
}

/// What is to be run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) connection: ConnectionId,
    pub(crate) action: String,
    /// Digit for digit as the caller wrote it.
    pub(crate) args: Box<RawValue>,
    pub(crate) key: Option<String>,
    pub(crate) attempt: u32,
    pub(crate) approve: bool,
    pub(crate) timeout_ms: Option<u64>,
}

/// How it ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReportDocument {
    pub(crate) id: ExecutionId,
    pub(crate) outcome: EndingKind,
    pub(crate) attempt: u32,
    /// Nothing was sent now: it had ended before, under the same key.
    pub(crate) recorded: bool,
    pub(crate) reason: Option<String>,
    pub(crate) after_ms: Option<u64>,
    /// Absent where nothing is known to have been done.
    pub(crate) output: Option<Box<RawValue>>,
    pub(crate) provider_ids: Vec<String>,
    pub(crate) effects: Vec<EffectDocument>,
    pub(crate) notes: Vec<String>,
}

/// One change that an outcome suggests to its caller.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EffectDocument {
    pub(crate) op: PatchOp,
    pub(crate) path: String,
    pub(crate) value: Box<RawValue>,
}

pub(super) async fn list(
    State(admin): State<Admin>,
    Query(wanted): Query<Wanted>,
) -> Result<impl IntoResponse, Failure> {
    if let Some(id) = &wanted.connection {
        admin.served(id)?;
    }
    let mut actions: Vec<Listed> = admin.host.actions(wanted.connection.as_ref());
    if let Some(name) = &wanted.action {
        let near = nearest::word(name, actions.iter().map(|listed| listed.spec.name.as_str())).map(str::to_owned);
        actions.retain(|listed| listed.spec.name == *name);
        if let (Some(connection), []) = (wanted.connection, actions.as_slice()) {
            return Err(Refused::NoAction { connection, name: name.clone(), near }.into());
        }
    }
    Ok(Json(Actions { actions: actions.into_iter().map(ActionDocument::from).collect() }))
}

pub(super) async fn run(
    State(admin): State<Admin>,
    Extension(peer): Extension<Peer>,
    request: HttpRequest,
) -> Result<impl IntoResponse, Failure> {
    let _place = admin.runs.try_acquire().map_err(|_| {
        let text = "so many actions run for commands already that no more are taken: try again later";
        Failure::new(StatusCode::TOO_MANY_REQUESTS, text).case(Class::Failed, "full")
    })?;
    let Run { connection, action, args, key, attempt, approve, timeout_ms } = body(request).await?;
    let request = Request {
        connection,
        action,
        args: args.get().to_owned(),
        key,
        attempt,
        approve,
        timeout: timeout_ms.map(Duration::from_millis),
        surface: Surface::Admin,
        caller: peer.caller().await,
    };
    let report = admin.host.run(request).await?;
    Ok(Json(ReportDocument::from(report)))
}

async fn body(request: HttpRequest) -> Result<Run, Failure> {
    let read = tokio::time::timeout(BODY_TIME_MAX, Json::from_request(request, &())).await;
    let read = read.map_err(|_| Failure::new(StatusCode::REQUEST_TIMEOUT, "the arguments did not come in time"))?;
    match read {
        Ok(Json(run)) => Ok(run),
        Err(rejection) => Err(Failure::new(rejection.status(), rejection.body_text()).case(Class::Usage, "invalid")),
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let text = refused.to_string();
        let (status, class, code) = match &refused {
            Refused::NoConnection { .. } => (StatusCode::NOT_FOUND, Class::Usage, "no-connection"),
            Refused::NoAction { .. } => (StatusCode::NOT_FOUND, Class::Usage, "no-action"),
            Refused::Arguments { .. } => (StatusCode::UNPROCESSABLE_ENTITY, Class::Usage, "arguments"),
            Refused::Invalid(_) => (StatusCode::BAD_REQUEST, Class::Usage, "invalid"),
            Refused::NeedsApproval { .. } => (StatusCode::FORBIDDEN, Class::Refused, "needs-approval"),
            Refused::Repeat { .. } => (StatusCode::CONFLICT, Class::Refused, "repeat"),
            Refused::Conflict { .. } => (StatusCode::CONFLICT, Class::Refused, "key-conflict"),
            Refused::Running { .. } => (StatusCode::CONFLICT, Class::Failed, "running"),
            Refused::Full(_) => (StatusCode::TOO_MANY_REQUESTS, Class::Failed, "full"),
            Refused::Failed(_) => (StatusCode::INTERNAL_SERVER_ERROR, Class::Failed, "executor"),
            Refused::Store(_) => (StatusCode::SERVICE_UNAVAILABLE, Class::Failed, "store"),
            Refused::Stopping => (StatusCode::SERVICE_UNAVAILABLE, Class::Failed, "stopping"),
        };
        let failure = Self::new(status, text).case(class, code);
        match refused {
            Refused::Arguments { problems, .. } => {
                failure.with("problems", serde_json::to_value(problems).unwrap_or_default())
            }
            Refused::Conflict { id } | Refused::Running { id } => failure.with("execution", id.to_string()),
            _ => failure,
        }
    }
}

impl From<Listed> for ActionDocument {
    fn from(Listed { connection, generation, spec }: Listed) -> Self {
        Self {
            connection,
            action: spec.name,
            summary: spec.summary,
            needs_approval: spec.semantics.needs_approval(),
            semantics: spec.semantics,
            timeout_ms: u64::try_from(spec.timeout.as_millis()).unwrap_or(u64::MAX),
            implements: spec.implements,
            required_scopes: spec.required_scopes,
            input_schema: raw(&spec.input_schema),
            output_schema: raw(&spec.output_schema),
            generation,
        }
    }
}

impl From<Report> for ReportDocument {
    fn from(Report { id, attempt, ending, recorded, notes }: Report) -> Self {
        let (outcome, reason) = (ending.kind(), ending.reason().map(str::to_owned));
        let done = ending.outcome().cloned();
        Self {
            id,
            outcome,
            attempt,
            recorded,
            reason,
            after_ms: if let Ending::Retry { after_ms, .. } = ending { after_ms } else { None },
            output: done.as_ref().map(|done| raw(&done.output)),
            provider_ids: done.as_ref().map(|done| done.provider_ids.clone()).unwrap_or_default(),
            effects: done.map(|done| done.effects.into_iter().map(EffectDocument::from).collect()).unwrap_or_default(),
            notes,
        }
    }
}

impl From<Patch> for EffectDocument {
    fn from(Patch { op, path, value }: Patch) -> Self {
        Self { op, path, value: raw(&value) }
    }
}
