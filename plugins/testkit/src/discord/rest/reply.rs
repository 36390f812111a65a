//! What a request is answered: the status, the JSON, and Discord's words for what it refuses.

use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use crate::discord::snowflake::Id;

/// An answer before it is sent.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Value,
    /// The message that the answer shows.
    pub(crate) message: Option<Id>,
}

impl Reply {
    pub(crate) fn new(status: StatusCode, body: Value) -> Self {
        Self { status, headers: Vec::new(), body, message: None }
    }

    pub(crate) fn ok(body: Value) -> Self {
        Self::new(StatusCode::OK, body)
    }

    /// A refusal with one of Discord's JSON error codes.
    pub(crate) fn error(status: StatusCode, code: u32, message: &str) -> Self {
        Self::new(status, json!({ "message": message, "code": code }))
    }

    /// 400 with code 50035: which field is wrong (an empty path is the whole body), and how.
    pub(crate) fn form(path: &[&str], code: &str, message: &str) -> Self {
        let leaf = json!({ "_errors": [{ "code": code, "message": message }] });
        let errors =
            path.iter().rev().fold(leaf, |inner, name| Value::from(Map::from_iter([((*name).to_owned(), inner)])));
        let body = json!({ "message": "Invalid Form Body", "code": 50_035, "errors": errors });
        Self::new(StatusCode::BAD_REQUEST, body)
    }

    pub(crate) fn unauthorised() -> Self {
        Self::error(StatusCode::UNAUTHORIZED, 0, "401: Unauthorized")
    }

    pub(crate) fn not_found() -> Self {
        Self::error(StatusCode::NOT_FOUND, 0, "404: Not Found")
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::error(StatusCode::METHOD_NOT_ALLOWED, 0, "405: Method Not Allowed")
    }

    pub(crate) fn unknown_version() -> Self {
        Self::error(StatusCode::BAD_REQUEST, 50_041, "Invalid API version provided")
    }

    pub(crate) fn unknown_channel() -> Self {
        Self::error(StatusCode::NOT_FOUND, 10_003, "Unknown Channel")
    }

    pub(crate) fn unknown_guild() -> Self {
        Self::error(StatusCode::NOT_FOUND, 10_004, "Unknown Guild")
    }

    pub(crate) fn unknown_message() -> Self {
        Self::error(StatusCode::NOT_FOUND, 10_008, "Unknown Message")
    }

    pub(crate) fn unknown_user() -> Self {
        Self::error(StatusCode::NOT_FOUND, 10_013, "Unknown User")
    }

    pub(crate) fn missing_access() -> Self {
        Self::error(StatusCode::FORBIDDEN, 50_001, "Missing Access")
    }

    pub(crate) fn not_the_author() -> Self {
        Self::error(StatusCode::FORBIDDEN, 50_005, "Cannot edit a message authored by another user")
    }

    pub(crate) fn empty_message() -> Self {
        Self::error(StatusCode::BAD_REQUEST, 50_006, "Cannot send an empty message")
    }

    /// 403 for a message; 400 where the bot wants to open a direct channel with itself.
    pub(crate) fn no_direct_messages(status: StatusCode) -> Self {
        Self::error(status, 50_007, "Cannot send messages to this user")
    }

    pub(crate) fn missing_permissions() -> Self {
        Self::error(StatusCode::FORBIDDEN, 50_013, "Missing Permissions")
    }

    /// Says which message the answer shows.
    pub(crate) fn about(self, message: Option<Id>) -> Self {
        Self { message, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_errors_are_a_tree() {
        let reply = Reply::form(&["allowed_mentions", "users"], "X", "y");
        let expected = json!({ "allowed_mentions": { "users": { "_errors": [{ "code": "X", "message": "y" }] } } });
        assert_eq!(
            (reply.status, &reply.body["code"], &reply.body["errors"]),
            (StatusCode::BAD_REQUEST, &json!(50_035), &expected)
        );
        let whole = Reply::form(&[], "X", "y");
        assert_eq!(whole.body["errors"], json!({ "_errors": [{ "code": "X", "message": "y" }] }));
    }
}
