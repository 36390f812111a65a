//! Rate limits: who may pass, what the headers say, and what is said to who may not.
//!
//! A window begins with the first request in it and ends after its time, however many came. A refused request counts against the
//! global limit, and not against the window that refused it.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use super::bucket::Bucket;
use super::reply::Reply;
use crate::discord::script::{Allowance, LimitScope, Limits};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const RESET_AFTER: HeaderName = HeaderName::from_static("x-ratelimit-reset-after");
const BUCKET: HeaderName = HeaderName::from_static("x-ratelimit-bucket");
const GLOBAL: HeaderName = HeaderName::from_static("x-ratelimit-global");
pub(super) const SCOPE: HeaderName = HeaderName::from_static("x-ratelimit-scope");

/// Windows kept before those that ended are let go. A client that asks for ever new ids makes one each.
const WINDOWS_MAX: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Limiter {
    limits: Limits,
    global: Window,
    windows: BTreeMap<(LimitIndex, Bucket), Window>,
}

/// Which of the route limits.
type LimitIndex = usize;

/// How many requests came since when.
#[derive(Debug, Default, Clone, Copy)]
struct Window {
    ends_at_ms: u64,
    used: u32,
}

/// Where a request stands in its bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    bucket: String,
    limit: u32,
    remaining: u32,
    reset_after_ms: u64,
}

/// Why a request may not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) scope: LimitScope,
    retry_after_ms: u64,
    code: Option<u32>,
    standing: Option<Standing>,
}

impl Limiter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Counts a request. `path` is what follows the version.
    pub(crate) fn take(
        &mut self,
        method: &str,
        path: &str,
        bucket: &Bucket,
        now_ms: u64,
    ) -> Result<Option<Standing>, Refusal> {
        if let Some(allowance) = self.limits.global
            && let Err(retry_after_ms) = self.global.take(allowance, now_ms)
        {
            return Err(Refusal { scope: LimitScope::Global, retry_after_ms, code: None, standing: None });
        }
        let standing = match self.take_of(LimitScope::User, method, path, bucket, now_ms) {
            None => None,
            Some((Ok(()), _, standing)) => Some(standing),
            Some((Err(retry_after_ms), code, standing)) => {
                return Err(Refusal { scope: LimitScope::User, retry_after_ms, code, standing: Some(standing) });
            }
        };
        match self.take_of(LimitScope::Shared, method, path, bucket, now_ms) {
            Some((Err(retry_after_ms), code, shared)) => {
                // The headers speak of the bot's own limit where there is one: the resource is used by others too.
                let standing = standing.or(Some(shared));
                Err(Refusal { scope: LimitScope::Shared, retry_after_ms, code, standing })
            }
            _ => Ok(standing),
        }
    }

    /// Counts a request against the first limit of this scope that is about it.
    fn take_of(
        &mut self,
        scope: LimitScope,
        method: &str,
        path: &str,
        bucket: &Bucket,
        now_ms: u64,
    ) -> Option<(Result<(), u64>, Option<u32>, Standing)> {
        let mut limits = self.limits.routes.iter().enumerate();
        let (index, limit) = limits.find(|(_, limit)| limit.scope == scope && limit.pattern().matches(method, path))?;
        if self.windows.len() >= WINDOWS_MAX {
            self.windows.retain(|_, window| window.ends_at_ms > now_ms);
        }
        let window = self.windows.entry((index, bucket.clone())).or_default();
        let taken = window.take(limit.allowance(), now_ms);
        let standing = Standing {
            bucket: bucket.hash.clone(),
            limit: limit.requests,
            remaining: limit.requests.saturating_sub(window.used),
            reset_after_ms: window.ends_at_ms.saturating_sub(now_ms),
        };
        Some((taken, limit.code, standing))
    }
}

impl Window {
    /// Counts a request, or says how many milliseconds are left until one may pass.
    fn take(&mut self, allowance: Allowance, now_ms: u64) -> Result<(), u64> {
        if now_ms >= self.ends_at_ms {
            *self = Self { ends_at_ms: now_ms + allowance.per_ms, used: 0 };
        }
        if self.used >= allowance.requests {
            return Err(self.ends_at_ms - now_ms);
        }
        self.used += 1;
        Ok(())
    }
}

impl Standing {
    /// The headers of every answer from the bucket. `unix_ms` is the time now.
    pub(crate) fn headers(&self, unix_ms: u64) -> Vec<(HeaderName, HeaderValue)> {
        let headers = [
            (LIMIT, self.limit.to_string()),
            (REMAINING, self.remaining.to_string()),
            (RESET, seconds(unix_ms + self.reset_after_ms)),
            (RESET_AFTER, seconds(self.reset_after_ms)),
            (BUCKET, self.bucket.clone()),
        ];
        headers.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::from_str(&value).ok()?))).collect()
    }
}

impl Refusal {
    /// The 429. A global one has no bucket to speak of.
    pub(crate) fn reply(&self, unix_ms: u64) -> Reply {
        let message = match (self.code, self.scope) {
            (Some(20_028), _) => "The write action you are performing on the channel has hit the write rate limit.",
            (Some(20_029), _) => "The write action you are performing on the server has hit the write rate limit.",
            (Some(40_003), _) => "You are opening direct messages too fast.",
            (Some(40_062), _) => "Service resource is being rate limited.",
            (_, LimitScope::Shared) => "The resource is being rate limited.",
            (_, LimitScope::User | LimitScope::Global) => "You are being rate limited.",
        };
        let global = self.scope == LimitScope::Global;
        let mut body = json!({ "message": message, "retry_after": float(self.retry_after_ms), "global": global });
        if let (Some(code), Some(fields)) = (self.code, body.as_object_mut()) {
            fields.insert("code".to_owned(), Value::from(code));
        }
        let mut reply = Reply::new(StatusCode::TOO_MANY_REQUESTS, body);
        // Whole seconds, rounded up: who waits them has waited long enough.
        reply.headers.push((header::RETRY_AFTER, HeaderValue::from(self.retry_after_ms.div_ceil(1000))));
        reply.headers.push((SCOPE, HeaderValue::from_static(self.scope.name())));
        if global {
            reply.headers.push((GLOBAL, HeaderValue::from_static("true")));
        }
        reply.headers.extend(self.standing.iter().flat_map(|standing| standing.headers(unix_ms)));
        reply
    }
}

/// Seconds with three decimals.
fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// Seconds as a number. No window is longer than 2^32 ms, which are 49 days.
fn float(ms: u64) -> f64 {
    f64::from(u32::try_from(ms).unwrap_or(u32::MAX)) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::call::Call;
    use super::*;
    use crate::discord::script::RouteLimit;

    fn route(requests: u32, per_ms: u64, scope: LimitScope) -> RouteLimit {
        let path = Some("/channels/*/messages".to_owned());
        RouteLimit { method: Some("POST".to_owned()), path, requests, per_ms, scope, code: None }
    }

    fn take(limiter: &mut Limiter, channel: u64, now_ms: u64) -> Result<Option<Standing>, Refusal> {
        let path = format!("/channels/{channel}/messages");
        let request = http::Request::builder().method("POST").uri(format!("/api/v10{path}")).body(()).unwrap();
        let bucket = Bucket::of(&Call::new(&request.into_parts().0));
        limiter.take("POST", &path, &bucket, now_ms)
    }

    fn left(standing: Result<Option<Standing>, Refusal>) -> (u32, u64) {
        let standing = standing.unwrap().unwrap();
        (standing.remaining, standing.reset_after_ms)
    }

    #[test]
    fn a_window_begins_with_its_first_request() {
        let mut limiter = Limiter::new(Limits { global: None, routes: vec![route(2, 1000, LimitScope::User)] });
        assert_eq!(left(take(&mut limiter, 1, 5_400)), (1, 1000));
        assert_eq!(left(take(&mut limiter, 1, 6_000)), (0, 400));
        let refused = take(&mut limiter, 1, 6_399).unwrap_err();
        assert_eq!((refused.scope, refused.retry_after_ms), (LimitScope::User, 1));
        assert_eq!(left(take(&mut limiter, 1, 6_400)), (1, 1000), "a refused request does not count");
    }

    #[test]
    fn channels_are_counted_apart_and_other_routes_are_free() {
        let mut limiter = Limiter::new(Limits { global: None, routes: vec![route(1, 1000, LimitScope::User)] });
        for channel in [1, 2] {
            assert_eq!(left(take(&mut limiter, channel, 0)), (0, 1000));
        }
        assert!(take(&mut limiter, 2, 0).is_err());
        let request = http::Request::builder().uri("/api/v10/users/@me").body(()).unwrap();
        let bucket = Bucket::of(&Call::new(&request.into_parts().0));
        assert_eq!(limiter.take("GET", "/users/@me", &bucket, 0), Ok(None));
    }

    #[test]
    fn the_global_limit_comes_first_and_counts_what_others_refuse() {
        let global = Some(Allowance { requests: 3, per_ms: 1000 });
        let mut limiter = Limiter::new(Limits { global, routes: vec![route(1, 5000, LimitScope::User)] });
        let scopes: Vec<_> =
            (0..4).map(|at| take(&mut limiter, 1, at).map_err(|refused| refused.scope).err()).collect();
        assert_eq!(scopes, [None, Some(LimitScope::User), Some(LimitScope::User), Some(LimitScope::Global)]);
    }

    #[test]
    fn a_shared_refusal_speaks_of_the_bots_own_limit() {
        let shared = RouteLimit { code: Some(20_028), ..route(1, 90_000, LimitScope::Shared) };
        let routes = vec![shared, route(10, 64_570, LimitScope::User)];
        let mut limiter = Limiter::new(Limits { global: None, routes });
        take(&mut limiter, 1, 0).unwrap();
        let refused = take(&mut limiter, 1, 0).unwrap_err();
        assert_eq!((refused.scope, refused.retry_after_ms, refused.code), (LimitScope::Shared, 90_000, Some(20_028)));
        let standing = refused.standing.unwrap();
        assert_eq!((standing.limit, standing.remaining, standing.reset_after_ms), (10, 8, 64_570));
    }

    #[test]
    fn a_refusal_has_floats_in_the_body_and_whole_seconds_in_the_head() {
        let standing = Standing { bucket: "ab".to_owned(), limit: 5, remaining: 0, reset_after_ms: 1_337 };
        let refusal = Refusal { scope: LimitScope::User, retry_after_ms: 1_337, code: None, standing: Some(standing) };
        let reply = refusal.reply(1_470_173_021_786);
        let expected = json!({ "message": "You are being rate limited.", "retry_after": 1.337, "global": false });
        assert_eq!(reply.body, expected);
        let header = |name: &str| {
            let found = reply.headers.iter().find(|(header, _)| header.as_str() == name);
            found.map(|(_, value)| value.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        for (name, value) in [
            ("retry-after", "2"),
            ("x-ratelimit-scope", "user"),
            ("x-ratelimit-limit", "5"),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "1470173023.123"),
            ("x-ratelimit-reset-after", "1.337"),
            ("x-ratelimit-bucket", "ab"),
            ("x-ratelimit-global", ""),
        ] {
            assert_eq!(header(name), value, "{name}");
        }
    }

    #[test]
    fn windows_that_ended_are_let_go() {
        let mut limiter = Limiter::new(Limits { global: None, routes: vec![route(1, 10, LimitScope::User)] });
        for channel in 0..20_000 {
            take(&mut limiter, channel, channel).unwrap();
        }
        assert!(limiter.windows.len() <= WINDOWS_MAX);
    }
}
