//! What every request to Discord's REST API has in common, and how long to wait when Discord says so.

use jackfield_sdk::{HttpMethod, HttpRequest, HttpResponse};
use serde::Deserialize;

use crate::describe::{API, BOT_TOKEN};

/// How a bot names itself to the API: who, and which version.
const USER_AGENT: &str = concat!("DiscordBot (jackfield, ", env!("CARGO_PKG_VERSION"), ")");

/// Longest request, in milliseconds.
pub const TIMEOUT_MS: u32 = 15_000;

/// Wait where Discord says "too many" without saying for how long, in milliseconds.
const UNSAID_WAIT_MS: u32 = 5_000;

/// Longest wait that is believed, in milliseconds: an hour.
const WAIT_MS_MAX: u32 = 3_600_000;

/// A request to the API with the bot's token. `path` begins with `/` and comes after the version.
#[must_use]
pub fn request(method: HttpMethod, path: &str) -> HttpRequest {
    HttpRequest::new(method, format!("{API}/api/v10{path}"))
        .authorization("Bot", BOT_TOKEN)
        .header("user-agent", USER_AGENT)
        .timeout_ms(TIMEOUT_MS)
}

/// A wait that Discord asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Milliseconds.
    pub ms: u32,
    /// Of every request with this token, not of this one alone.
    pub global: bool,
}

#[derive(Deserialize, Default)]
struct TooMany {
    retry_after: Option<f64>,
    global: Option<bool>,
}

/// How long to wait after a 429. The header is whole seconds and the body a fraction: the longer one, rounded up.
///
/// An answer that neither body nor headers show to be the API's own is from what stands in front of it, and meant for the
/// address: whatever is asked next is answered in the same way.
#[must_use]
pub fn wait(response: &HttpResponse) -> Wait {
    let body: Option<TooMany> = response.body.as_text().and_then(|text| serde_json::from_str(text).ok());
    let is_foreign = body.is_none() && !response.headers.iter().any(|(name, _)| is_about_limits(name));
    let body = body.unwrap_or_default();
    let said = [response.retry_after_ms(), body.retry_after.and_then(whole_ms)].into_iter().flatten().max();
    Wait {
        ms: said.map_or(UNSAID_WAIT_MS, |ms| ms.min(WAIT_MS_MAX)),
        global: is_foreign || body.global == Some(true) || response.header("x-ratelimit-global").is_some(),
    }
}

fn is_about_limits(header: &str) -> bool {
    const PREFIX: &str = "x-ratelimit-";
    header.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

/// What Discord says of a bucket in the headers of any answer: how many requests remain, and in how many milliseconds
/// there will be more. Both or nothing.
#[must_use]
pub fn left(response: &HttpResponse) -> Option<(u32, u32)> {
    let remaining = response.header("x-ratelimit-remaining")?.trim().parse().ok()?;
    let seconds = response.header("x-ratelimit-reset-after")?.trim().parse().ok()?;
    Some((remaining, whole_ms(seconds)?))
}

/// Seconds as whole milliseconds, rounded up: never earlier than asked.
fn whole_ms(seconds: f64) -> Option<u32> {
    if !seconds.is_finite() || seconds < 0.0 {
        return None;
    }
    // In range: not negative, and at most the ceiling.
    Some((seconds * 1_000.0).ceil().min(f64::from(WAIT_MS_MAX)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackfield_sdk::Blob;

    fn response(headers: &[(&str, &str)], body: &str) -> HttpResponse {
        HttpResponse {
            status: 429,
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: Blob::from(body),
        }
    }

    #[track_caller]
    fn check(headers: &[(&str, &str)], body: &str, want: (u32, bool)) {
        let wait = wait(&response(headers, body));
        assert_eq!((wait.ms, wait.global), want, "{headers:?} {body}");
    }

    #[test]
    fn seconds_are_whole_or_not_and_the_longer_wait_wins() {
        check(&[("retry-after", "2")], r#"{"retry_after":1.337}"#, (2_000, false));
        check(&[("retry-after", "1")], r#"{"retry_after":1.3371}"#, (1_338, false));
        check(&[], r#"{"retry_after":1.337,"global":true}"#, (1_337, true));
        check(&[("retry-after", "65"), ("x-ratelimit-global", "true")], "<html>", (65_000, true));
        check(&[("retry-after", "1e400")], r#"{"retry_after":-1}"#, (UNSAID_WAIT_MS, false));
        check(&[("retry-after", "9e9")], "{}", (WAIT_MS_MAX, false));
    }

    #[test]
    fn a_page_that_is_not_the_apis_is_about_the_address() {
        check(&[("retry-after", "65"), ("server", "cloudflare")], "<html>error 1015", (65_000, true));
        check(&[], "", (UNSAID_WAIT_MS, true));
        check(&[("X-RateLimit-Scope", "shared")], "", (UNSAID_WAIT_MS, false));
        check(&[], "{}", (UNSAID_WAIT_MS, false));
    }

    #[test]
    fn what_is_left_of_a_bucket_is_said_whole_or_not_at_all() {
        let of = |remaining: &str, reset: &str| {
            left(&response(&[("x-ratelimit-remaining", remaining), ("x-ratelimit-reset-after", reset)], ""))
        };
        assert_eq!(of("4", "1.337"), Some((4, 1_337)));
        assert_eq!(of("0", "0.0001"), Some((0, 1)));
        assert_eq!(of("-1", "1"), None);
        assert_eq!(of("1", "soon"), None);
        assert_eq!(left(&response(&[("x-ratelimit-remaining", "1")], "")), None);
    }
}
