//! What the server answers when it does not do what it was asked: a sentence for people, and what a program branches on.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jackfield_store::{Kind, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A no on the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// What is the case, and what to do.
    pub error: String,
    /// Whose turn it is.
    #[serde(default)]
    pub class: Class,
    /// Words and values for programs, by name; `code` says which case it is.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl Refusal {
    /// As a program is told: the sentence, and the details where there are some.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut members = Map::from_iter([("error".to_owned(), Value::String(self.error.clone()))]);
        members.extend(self.details.clone());
        Value::Object(members)
    }
}

/// Whose turn it is after a no. Decides how the command ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It failed here: later, or after something was mended, the same may work.
    #[default]
    Failed,
    /// It can't be meant as written.
    Usage,
    /// Understood, and not allowed as asked.
    Refused,
}

/// A failure.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    refusal: Refusal,
}

impl Failure {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, refusal: Refusal { error: text.into(), class: Class::Failed, details: Map::new() } }
    }

    pub(super) fn missing(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }

    pub(super) fn bad(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// The same, of this class, and of this case for programs.
    pub(super) fn case(mut self, class: Class, code: &str) -> Self {
        self.refusal.class = class;
        self.with("code", code)
    }

    /// The same with one more detail for programs.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.refusal.details.insert(name.to_owned(), value.into());
        self
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
        (self.status, Json(self.refusal)).into_response()
    }
}
