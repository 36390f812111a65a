//! The requests of actions, each with the bucket that it counts in.
//!
//! Discord counts by route and by the channel or guild in it. It says in an answer which routes share a bucket
//! (`x-ratelimit-bucket`), but a place has to be reserved before anything is asked, so the names are the routes'.

use std::fmt::Write as _;

use jackfield_sdk::{HttpMethod, HttpRequest};
use serde::Serialize;

use crate::rest;
use crate::wire::Id;

/// Members in an answer to a search: as many as Discord gives at once.
pub(super) const MEMBERS_MAX: usize = 1_000;

/// A request and its bucket.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Request {
    pub(super) bucket: String,
    pub(super) http: HttpRequest,
}

/// Who a message notifies. Without this object Discord notifies everybody whom the text names.
#[derive(Serialize, Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct AllowedMentions<'a> {
    /// Kinds of mentions that are taken from the text: `everyone`, or none.
    pub(super) parse: &'static [&'static str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) users: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) roles: Vec<&'a str>,
    /// The author of the message that is replied to.
    pub(super) replied_user: bool,
}

/// A message to be made.
#[derive(Serialize, Debug)]
pub(super) struct NewMessage<'a> {
    pub(super) content: &'a str,
    /// What makes a second message with the same nonce the first one, for some minutes.
    pub(super) nonce: &'a str,
    pub(super) enforce_nonce: bool,
    pub(super) allowed_mentions: &'a AllowedMentions<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message_reference: Option<Reference<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) flags: Option<u32>,
}

/// `SUPPRESS_NOTIFICATIONS`: no push and no sound.
pub(super) const SILENT: u32 = 1 << 12;

/// The message that is replied to.
#[derive(Serialize, Clone, Copy, Debug)]
pub(super) struct Reference<'a> {
    pub(super) message_id: &'a str,
}

#[derive(Serialize)]
struct NewContent<'a> {
    content: &'a str,
    allowed_mentions: &'a AllowedMentions<'a>,
}

#[derive(Serialize)]
struct NewDirect<'a> {
    recipient_id: &'a str,
}

fn json(of: &impl Serialize) -> String {
    // Plain structures of text: nothing in them can fail, and Discord refuses what is empty.
    serde_json::to_string(of).unwrap_or_default()
}

/// `POST /channels/{channel}/messages`.
pub(super) fn create_message(channel: &str, message: &NewMessage<'_>) -> Request {
    let path = format!("/channels/{channel}/messages");
    let http = rest::request(HttpMethod::Post, &path).json(json(message));
    Request { bucket: format!("POST {path}"), http }
}

/// `PATCH /channels/{channel}/messages/{message}`. Nobody is notified of an edit.
pub(super) fn edit_message(channel: Id<'_>, message: Id<'_>, content: &str) -> Request {
    let path = format!("/channels/{channel}/messages");
    let body = json(&NewContent { content, allowed_mentions: &AllowedMentions::default() });
    let http = rest::request(HttpMethod::Patch, &format!("{path}/{message}")).json(body);
    Request { bucket: format!("PATCH {path}"), http }
}

/// `POST /users/@me/channels`: the private channel with somebody, the same one each time.
pub(super) fn open_direct(user: &str) -> Request {
    const PATH: &str = "/users/@me/channels";
    let http = rest::request(HttpMethod::Post, PATH).json(json(&NewDirect { recipient_id: user }));
    Request { bucket: format!("POST {PATH}"), http }
}

/// `GET /guilds/{guild}/members/search`: members whose username or nickname begins so.
pub(super) fn search_members(guild: Id<'_>, query: &str) -> Request {
    let path = format!("/guilds/{guild}/members/search");
    let target = format!("{path}?limit={MEMBERS_MAX}&query={}", percent(query));
    Request { bucket: format!("GET {path}"), http: rest::request(HttpMethod::Get, &target) }
}

/// Everything but the unreserved characters of RFC 3986 as `%XX`.
fn percent(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string can't fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_can_not_leave_its_place() {
        let guild = Id::parse("839760432494458817").unwrap();
        let request = search_members(guild, "a&limit=1#/ö ~");
        let url = "https://discord.com/api/v10/guilds/839760432494458817/members/search?limit=1000&query=a%26limit%3D1%23%2F%C3%B6%20~";
        assert_eq!(request.http.url, url);
        assert_eq!(request.bucket, "GET /guilds/839760432494458817/members/search");
    }
}
