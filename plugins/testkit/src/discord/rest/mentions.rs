//! Whom a message of the bot may address: `allowed_mentions`.
//!
//! After Discord's page "Allowed Mentions Object": without it everything in the text counts; with it only what it allows, and a
//! kind is either parsed or listed, never both. It makes nothing a mention that the text does not name.

use std::collections::BTreeSet;

use serde_json::Value;

use super::form::{self, Form};
use super::reply::Reply;
use crate::discord::snowflake::Id;

/// Most ids in one list.
const IDS_MAX: usize = 100;

/// What a text may address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) users: Which,
    pub(crate) roles: Which,
    pub(crate) everyone: bool,
    /// Whether a reply addresses the author of what it answers.
    pub(crate) replied_user: bool,
}

/// Which of the ids in a text count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    Listed(BTreeSet<Id>),
}

impl Default for Allowed {
    fn default() -> Self {
        Self { users: Which::All, roles: Which::All, everyone: true, replied_user: true }
    }
}

impl Which {
    pub(crate) fn includes(&self, id: Id) -> bool {
        match self {
            Self::All => true,
            Self::Listed(ids) => ids.contains(&id),
        }
    }
}

impl Allowed {
    /// Reads the field `allowed_mentions` of a body; the default where there is none.
    pub(crate) fn read(body: &Form<'_>) -> Result<Self, Reply> {
        let Some(form) = body.object("allowed_mentions")? else { return Ok(Self::default()) };
        let parsed = parsed(&form)?;
        Ok(Self {
            users: which(&form, "users", &parsed)?,
            roles: which(&form, "roles", &parsed)?,
            everyone: parsed.contains("everyone"),
            replied_user: form.flag("replied_user")?.unwrap_or(false),
        })
    }
}

fn parsed<'a>(form: &Form<'a>) -> Result<BTreeSet<&'a str>, Reply> {
    let list = form.list("parse", IDS_MAX)?.map(Vec::as_slice).unwrap_or_default();
    let known = |kind: &'a Value| kind.as_str().filter(|kind| ["users", "roles", "everyone"].contains(kind));
    let wrong = || form.wrong("parse", "BASE_TYPE_CHOICES", "Value must be one of ('users', 'roles', 'everyone').");
    list.iter().map(|kind| known(kind).ok_or_else(wrong)).collect()
}

fn which(form: &Form<'_>, kind: &str, parsed: &BTreeSet<&str>) -> Result<Which, Reply> {
    let list = form.list(kind, IDS_MAX)?.map(Vec::as_slice).unwrap_or_default();
    let wrong = |value: &Value| form.wrong(kind, "NUMBER_TYPE_COERCE", &format!("Value {value} is not snowflake."));
    let ids: BTreeSet<Id> =
        list.iter().map(|value| form::snowflake(value).ok_or_else(|| wrong(value))).collect::<Result<_, _>>()?;
    if !parsed.contains(kind) {
        return Ok(Which::Listed(ids));
    }
    if ids.is_empty() {
        return Ok(Which::All);
    }
    let message = format!("parse:[\"{kind}\"] and {kind}: [ids...] are mutually exclusive.");
    Err(Reply::form(&["allowed_mentions"], "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", &message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(allowed: Value) -> Result<Allowed, String> {
        let body = json!({ "allowed_mentions": allowed });
        Allowed::read(&Form::new(body.as_object().unwrap())).map_err(|reply| reply.body["errors"].to_string())
    }

    #[test]
    fn nothing_given_allows_everything_and_an_empty_object_nothing() {
        assert_eq!(read(Value::Null).unwrap(), Allowed::default());
        let nothing = Allowed {
            users: Which::Listed(BTreeSet::new()),
            roles: Which::Listed(BTreeSet::new()),
            everyone: false,
            replied_user: false,
        };
        assert_eq!(read(json!({})).unwrap(), nothing);
        assert_eq!(read(json!({ "parse": [] })).unwrap(), nothing);
    }

    #[test]
    fn kinds_are_parsed_or_listed() {
        let mixed = read(json!({ "parse": ["everyone"], "users": ["12", 13], "replied_user": true })).unwrap();
        assert!(mixed.everyone && mixed.replied_user);
        assert!(mixed.users.includes(Id::new(12)) && mixed.users.includes(Id::new(13)));
        assert!(!mixed.users.includes(Id::new(14)) && !mixed.roles.includes(Id::new(12)));
        let empty = read(json!({ "parse": ["users"], "users": [], "roles": null })).unwrap();
        assert_eq!(empty.users, Which::All, "an empty list beside `parse` is no contradiction");
    }

    #[test]
    fn contradictions_are_refused() {
        for (allowed, expected) in [
            (json!({ "parse": ["users"], "users": ["1"] }), "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"),
            (json!({ "parse": ["somebody"] }), "BASE_TYPE_CHOICES"),
            (json!({ "users": ["x"] }), "NUMBER_TYPE_COERCE"),
            (json!({ "users": (0..101).collect::<Vec<_>>() }), "BASE_TYPE_MAX_LENGTH"),
            (json!([]), "MODEL_TYPE_CONVERT"),
        ] {
            let found = read(allowed).unwrap_err();
            assert!(found.contains(expected), "{expected}: {found}");
        }
    }
}
