//! The two requests that a session makes.

use jackfield_sdk::{HttpMethod, HttpRequest};
use serde::Deserialize;

use crate::rest::request;
pub(super) use crate::rest::{Wait, wait};

/// Messages in one page. Discord allows 100; two pages of 50 and a full batch of live messages stay below the 256
/// effects that one call may have.
pub(super) const PAGE_MESSAGES: u32 = 50;

/// Where to connect, and how many starts are left.
pub(super) fn gateway_bot() -> HttpRequest {
    request(HttpMethod::Get, "/gateway/bot")
}

/// The oldest messages of a channel that are newer than `after`.
pub(super) fn messages(channel: u64, after: u64) -> HttpRequest {
    request(HttpMethod::Get, &format!("/channels/{channel}/messages?after={after}&limit={PAGE_MESSAGES}"))
}

/// The answer to [`gateway_bot`].
#[derive(Deserialize, Debug)]
pub(super) struct GatewayBot {
    pub(super) url: String,
    pub(super) shards: Option<u32>,
    pub(super) session_start_limit: Option<StartLimit>,
}

#[derive(Deserialize, Debug)]
pub(super) struct StartLimit {
    pub(super) remaining: u32,
    /// Milliseconds.
    pub(super) reset_after: u64,
    pub(super) max_concurrency: Option<u32>,
}
