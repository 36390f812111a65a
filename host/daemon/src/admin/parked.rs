//! `unpark`: a parked connection may start again, because somebody has done what it waited for outside this host.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use jackfield_model::ConnectionId;
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::server::Admin;

/// What became of an unpark.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Unparked {
    pub(crate) connection: ConnectionId,
    /// It was parked. Otherwise only its back-off was forgotten.
    pub(crate) was_parked: bool,
}

pub(super) async fn unpark(
    State(admin): State<Admin>,
    Path(id): Path<ConnectionId>,
) -> Result<impl IntoResponse, Failure> {
    let was_parked = admin.host.stores().parked.parked(&id).await?.is_some();
    if !admin.host.unpark(&id) {
        return Err(Failure::missing(format!("no connection is called `{id}`: see `jackfield status`")));
    }
    tracing::info!(connection = %id, was_parked, "unparked");
    Ok(Json(Unparked { connection: id, was_parked }))
}
