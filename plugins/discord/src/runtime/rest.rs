//! The two requests that a session makes, and how long to wait when Discord says so.

use jackfield_sdk::{HttpRequest, HttpResponse};
use serde::Deserialize;

use crate::describe::{API, BOT_TOKEN};

/// How a bot names itself to the API: who, and which version.
const USER_AGENT: &str = concat!("DiscordBot (jackfield, ", env!("CARGO_PKG_VERSION"), ")");

/// Longest request, in milliseconds.
const TIMEOUT_MS: u32 = 15_000;

/// Messages in one page. Discord allows 100; two pages of 50 and a full batch of live messages stay below the 256
/// effects that one call may have.
pub(super) const PAGE_MESSAGES: u32 = 50;

/// Wait where Discord says "too many" without saying for how long, in milliseconds.
const UNSAID_WAIT_MS: u32 = 5_000;

/// Longest wait that is believed, in milliseconds: an hour.
const WAIT_MS_MAX: u32 = 3_600_000;

fn get(path: &str) -> HttpRequest {
    HttpRequest::get(format!("{API}/api/v10{path}"))
        .authorization("Bot", BOT_TOKEN)
        .header("user-agent", USER_AGENT)
        .timeout_ms(TIMEOUT_MS)
}

/// Where to connect, and how many starts are left.
pub(super) fn gateway_bot() -> HttpRequest {
    get("/gateway/bot")
}

/// The oldest messages of a channel that are newer than `after`.
pub(super) fn messages(channel: u64, after: u64) -> HttpRequest {
    get(&format!("/channels/{channel}/messages?after={after}&limit={PAGE_MESSAGES}"))
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

/// A wait that Discord asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wait {
    pub(super) ms: u32,
    /// Of every request with this token, not of this one alone.
    pub(super) global: bool,
}

#[derive(Deserialize, Default)]
struct TooMany {
    retry_after: Option<f64>,
    global: Option<bool>,
}

/// How long to wait after a 429. The header is whole seconds and the body a fraction: the longer one, rounded up.
pub(super) fn wait(response: &HttpResponse) -> Wait {
    let body: TooMany = response.body.as_text().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let header = response.header("retry-after").and_then(|seconds| seconds.trim().parse::<f64>().ok());
    let said = [header, body.retry_after]
        .into_iter()
        .flatten()
        .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
        .reduce(f64::max);
    Wait {
        ms: said.map_or(UNSAID_WAIT_MS, whole_ms),
        global: body.global == Some(true) || response.header("x-ratelimit-global").is_some(),
    }
}

fn whole_ms(seconds: f64) -> u32 {
    let ms = (seconds * 1_000.0).ceil().min(f64::from(WAIT_MS_MAX));
    // In range: not negative, and at most the ceiling. The cast of a float saturates besides.
    ms as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackfield_sdk::Blob;

    #[track_caller]
    fn check(headers: &[(&str, &str)], body: &str, want: (u32, bool)) {
        let response = HttpResponse {
            status: 429,
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: Blob::from(body),
        };
        let wait = wait(&response);
        assert_eq!((wait.ms, wait.global), want, "{headers:?} {body}");
    }

    #[test]
    fn seconds_are_whole_or_not_and_the_longer_wait_wins() {
        check(&[("retry-after", "2")], r#"{"retry_after":1.337}"#, (2_000, false));
        check(&[], r#"{"retry_after":1.337,"global":true}"#, (1_337, true));
        check(&[("retry-after", "65"), ("x-ratelimit-global", "true")], "<html>", (65_000, true));
        check(&[], "", (UNSAID_WAIT_MS, false));
        check(&[("retry-after", "1e400")], r#"{"retry_after":-1}"#, (UNSAID_WAIT_MS, false));
        check(&[("retry-after", "9e9")], "", (WAIT_MS_MAX, false));
    }
}
