//! What the server answers when it does not do what it was asked.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jackfield_store::{Kind, StoreError};
use serde::{Deserialize, Serialize};

/// A failure on the wire.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    /// What is the case, and what to do.
    pub(super) error: String,
}

/// A failure.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    text: String,
}

impl Failure {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    pub(super) fn missing(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }

    pub(super) fn bad(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let status = match error.kind() {
            Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Kind::Full => StatusCode::INSUFFICIENT_STORAGE,
            Kind::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Kind::Broken | Kind::Locked | Kind::TooNew => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.status, Json(Document { error: self.text })).into_response()
    }
}
