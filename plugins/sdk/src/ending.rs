//! How an action ended.
//!
//! Whether it happened is the first thing a caller has to know: the translations here from a fault or a status say "no"
//! only where that is certain.

use std::fmt;

use crate::action::{ActionFault, Outcome, Pause};
use crate::{Fault, HttpResponse};

/// Longest wait that a `retry-after` is believed to ask for, in milliseconds: an hour.
const RETRY_AFTER_MS_MAX: f64 = 3_600_000.0;

impl Outcome {
    /// This output (JSON), with nothing made on the platform.
    pub fn new(output: impl Into<String>) -> Self {
        Self { output: output.into(), provider_ids: Vec::new(), effects: Vec::new() }
    }

    /// The platform's ids of what was made, in order.
    #[must_use]
    pub fn made(mut self, ids: impl IntoIterator<Item = String>) -> Self {
        self.provider_ids = ids.into_iter().collect();
        self
    }
}

impl Pause {
    /// After this many milliseconds, where that is known; nothing else has to wait.
    #[must_use]
    pub fn after(ms: Option<u32>) -> Self {
        Self { after: ms, bucket: None }
    }

    /// Everything of this bucket has to wait with it; `*` is the whole connection.
    #[must_use]
    pub fn of(mut self, bucket: impl Into<String>) -> Self {
        self.bucket = Some(bucket.into());
        self
    }
}

impl From<Fault> for ActionFault {
    /// What a fault of `http.send` says of a call that did nothing else.
    ///
    /// `cancelled` may come while a request is under way, so it is "maybe" here. Of imports that send nothing
    /// (`http.reserve`, `contacts.resolve`) both it and `unknown` mean that nothing was done.
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unavailable(after) => Self::Retry(Pause::after(after)),
            // A ceiling of the host, met before anything left: there will be room again.
            Fault::Exhausted(_) => Self::Retry(Pause::after(None)),
            Fault::Invalid(what) | Fault::Denied(what) => Self::Rejected(what),
            Fault::Unknown(what) => Self::Unknown(what),
            Fault::Cancelled => Self::Unknown("cancelled while a request was under way".to_owned()),
        }
    }
}

impl HttpResponse {
    /// What a status says of a call that did nothing else; `None` for 200 to 299. `why` is the platform's own word for it.
    ///
    /// 401 is `unauthorized`, 429 `retry` after what [`HttpResponse::retry_after_ms`] says, 500 and above `unknown`,
    /// since the platform may have failed after it did what was asked, and anything else `rejected`.
    pub fn action_fault(&self, why: impl Into<String>) -> Option<ActionFault> {
        match self.status {
            200..=299 => None,
            401 => Some(ActionFault::Unauthorized(why.into())),
            429 => Some(ActionFault::Retry(Pause::after(self.retry_after_ms()))),
            500.. => Some(ActionFault::Unknown(why.into())),
            _ => Some(ActionFault::Rejected(why.into())),
        }
    }

    /// How long `retry-after` asks to wait, in milliseconds, rounded up. Seconds, whole or not; a date is not read, since
    /// it means what the platform's clock means.
    #[must_use]
    pub fn retry_after_ms(&self) -> Option<u32> {
        let seconds: f64 = self.header("retry-after")?.trim().parse().ok()?;
        // In range after the bounds, so the cast loses nothing.
        (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1_000.0).ceil().min(RETRY_AFTER_MS_MAX) as u32)
    }
}

/// A fault as one line; see [`ActionFault::text`].
#[derive(Debug)]
pub struct ActionFaultText<'a>(&'a ActionFault);

impl ActionFault {
    /// One line for people. Code branches on the variant, never on this.
    #[must_use]
    pub fn text(&self) -> ActionFaultText<'_> {
        ActionFaultText(self)
    }
}

impl fmt::Display for ActionFaultText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ActionFault::Rejected(why) | ActionFault::Unauthorized(why) | ActionFault::Unknown(why) => {
                out.write_str(why)
            }
            ActionFault::Retry(Pause { after: Some(after), .. }) => write!(out, "not now; in {after} ms"),
            ActionFault::Retry(_) => out.write_str("not now"),
            ActionFault::Partial(_) => out.write_str("some of it was done"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, retry_after: Option<&str>, want: Option<ActionFault>) {
        let mut response = HttpResponse::text(status, "");
        response.headers.extend(retry_after.map(|value| ("retry-after".to_owned(), value.to_owned())));
        assert_eq!(response.action_fault("why"), want, "{status} {retry_after:?}");
    }

    #[test]
    fn a_status_says_whether_it_happened() {
        let retry = |after| Some(ActionFault::Retry(Pause::after(after)));
        check(200, None, None);
        check(204, None, None);
        check(302, None, Some(ActionFault::Rejected("why".to_owned())));
        check(403, None, Some(ActionFault::Rejected("why".to_owned())));
        check(401, None, Some(ActionFault::Unauthorized("why".to_owned())));
        check(429, Some("2"), retry(Some(2_000)));
        check(429, Some(" 1.3371"), retry(Some(1_338)));
        check(429, Some("9e9"), retry(Some(3_600_000)));
        for nonsense in ["-1", "nan", "inf", "Wed, 21 Oct 2026 07:28:00 GMT", ""] {
            check(429, Some(nonsense), retry(None));
        }
        check(429, None, retry(None));
        check(500, None, Some(ActionFault::Unknown("why".to_owned())));
        check(503, Some("1"), Some(ActionFault::Unknown("why".to_owned())));
    }

    #[test]
    fn a_fault_is_no_only_where_nothing_can_have_left() {
        let of = |fault: Fault| ActionFault::from(fault);
        assert_eq!(of(Fault::Unavailable(Some(5))), ActionFault::Retry(Pause::after(Some(5))));
        assert_eq!(of(Fault::Exhausted("requests".into())), ActionFault::Retry(Pause::after(None)));
        assert_eq!(of(Fault::Denied("a grant".into())), ActionFault::Rejected("a grant".into()));
        assert_eq!(of(Fault::Invalid("url".into())), ActionFault::Rejected("url".into()));
        assert_eq!(of(Fault::Unknown("lost".into())), ActionFault::Unknown("lost".into()));
        assert!(matches!(of(Fault::Cancelled), ActionFault::Unknown(_)));
    }
}
