//! One run of an action: its requests, under rate limits and a deadline, and what is known of each.
//!
//! What it promises: no request without a place in its bucket; none that the deadline would cut off; "not done" is said
//! only where it is certain. Once something has been done it is finished rather than begun anew: a bucket that is used up is
//! then waited for, since a caller who is told to come back would find half of it there.

use jackfield_sdk::action::{ActionFault, Pause};
use jackfield_sdk::log::Level;
use jackfield_sdk::{Fault, HttpResponse};

use super::host::Host;
use super::refusal::Refusal;
use super::request::Request;
use crate::rest;

/// The bucket of everything that this connection asks for.
const WHOLE: &str = "*";

/// Times that one request may be told to slow down after the call has done something.
const SLOWED_MAX: u8 = 3;

/// Kept of the deadline, to say what was done, in milliseconds.
const RESERVED_MS: u64 = 500;

/// Least time that a request is begun with, in milliseconds: Discord answers within a few hundred.
const REQUEST_MS_MIN: u64 = 1_000;

/// One run.
pub(super) struct Run<'h> {
    pub(super) host: &'h mut dyn Host,
    deadline_ms: u64,
    /// Something that others can see was done, or may have been.
    begun: bool,
    /// Why no further request is made: no time, no grant, no credential, or nobody who waits.
    over: Option<Miss>,
}

/// Why a request did not bring what was asked for.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Miss {
    /// What a call that did nothing else says.
    pub(super) fault: ActionFault,
    /// Discord's code, where it refused.
    pub(super) code: Option<u64>,
    /// One line for people.
    pub(super) why: String,
}

impl Miss {
    /// Not done; may work later.
    pub(super) fn later(pause: Pause, why: impl Into<String>) -> Self {
        Self { fault: ActionFault::Retry(pause), code: None, why: why.into() }
    }

    /// May have been done.
    pub(super) fn unknown(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { fault: ActionFault::Unknown(why.clone()), code: None, why }
    }

    /// Not done, and never will be as asked.
    pub(super) fn rejected(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { fault: ActionFault::Rejected(why.clone()), code: None, why }
    }

    /// Whether it may have been done.
    pub(super) fn is_maybe(&self) -> bool {
        matches!(self.fault, ActionFault::Unknown(_))
    }
}

impl From<Fault> for Miss {
    /// Of a request. What an import says that sends nothing goes through [`Run::refused`].
    fn from(fault: Fault) -> Self {
        let why = fault.text().to_string();
        Self { fault: fault.into(), code: None, why }
    }
}

impl<'h> Run<'h> {
    pub(super) fn new(host: &'h mut dyn Host, deadline_ms: u64) -> Self {
        Self { host, deadline_ms, begun: false, over: None }
    }

    /// Whether something was done, or may have been.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// A request that changes something which others can see.
    pub(super) fn change(&mut self, request: &Request) -> Result<HttpResponse, Miss> {
        let outcome = self.exchange(request);
        self.begun |= outcome.as_ref().map_or_else(Miss::is_maybe, |_| true);
        outcome
    }

    /// A request after which the platform is as it was before, as far as anybody can see: a lost answer is no answer.
    pub(super) fn look(&mut self, request: &Request) -> Result<HttpResponse, Miss> {
        self.exchange(request).map_err(|miss| if miss.is_maybe() { self.lost(miss.why) } else { miss })
    }

    /// What was only looked for was not to be had. Said in the log, since a pause has no room for a reason.
    pub(super) fn lost(&mut self, why: String) -> Miss {
        self.host.log(Level::Warn, "look something up failed", &[("why", &why)]);
        Miss::later(Pause::after(None), why)
    }

    fn exchange(&mut self, request: &Request) -> Result<HttpResponse, Miss> {
        let mut slowed = 0;
        loop {
            self.time()?;
            self.host.reserve(&request.bucket).map_err(|fault| self.no_place(&request.bucket, fault))?;
            let mut http = request.http.clone();
            // Waiting for the place took its time too.
            http.timeout = self.time()?;
            let response = self.host.send(&http).map_err(|fault| self.not_answered(fault))?;
            if response.status != 429 {
                self.count(&request.bucket, &response);
                return self.judge(response);
            }
            let wait = self.slow_down(&request.bucket, &response);
            if !self.begun || slowed == SLOWED_MAX {
                return Err(wait);
            }
            // The next `reserve` waits for it.
            slowed += 1;
        }
    }

    /// Tells the host what an answer says of its bucket.
    fn count(&mut self, bucket: &str, response: &HttpResponse) {
        if let Some((remaining, resets_in_ms)) = rest::left(response) {
            self.host.left(bucket, remaining, resets_in_ms);
        }
    }

    /// Tells the host who has to wait after a 429, and says so. What the headers say of the bucket besides is older news:
    /// Discord would not have refused, had it been true.
    fn slow_down(&mut self, bucket: &str, response: &HttpResponse) -> Miss {
        let wait = rest::wait(response);
        let who = if wait.global { WHOLE } else { bucket };
        self.host.left(who, 0, wait.ms);
        Miss::later(Pause::after(Some(wait.ms)).of(who), format!("Discord allows it in {} ms", wait.ms))
    }

    /// The time that a request may take, in milliseconds.
    fn time(&mut self) -> Result<u32, Miss> {
        if let Some(miss) = &self.over {
            return Err(miss.clone());
        }
        let left = self.deadline_ms.saturating_sub(self.host.now_ms()).saturating_sub(RESERVED_MS);
        if left < REQUEST_MS_MIN {
            return Err(self.end(Miss::later(Pause::after(None), "no time is left")));
        }
        Ok(u32::try_from(left).map_or(rest::TIMEOUT_MS, |left| left.min(rest::TIMEOUT_MS)))
    }

    /// No further request, for this reason.
    fn end(&mut self, miss: Miss) -> Miss {
        self.over = Some(miss.clone());
        miss
    }

    fn no_place(&mut self, bucket: &str, fault: Fault) -> Miss {
        match fault {
            Fault::Unavailable(after) => Miss::later(Pause::after(after).of(bucket), "no place in the rate limit"),
            fault => self.refused(fault),
        }
    }

    /// What an import said no to that sends nothing.
    pub(super) fn refused(&mut self, fault: Fault) -> Miss {
        match fault {
            Fault::Cancelled => self.end(Miss::later(Pause::after(None), "nobody waits for it any more")),
            Fault::Denied(_) => self.end(fault.into()),
            Fault::Unknown(why) => Miss::later(Pause::after(None), why),
            fault => fault.into(),
        }
    }

    /// What a request ended with instead of an answer.
    fn not_answered(&mut self, fault: Fault) -> Miss {
        match fault {
            Fault::Cancelled => {
                self.refused(Fault::Cancelled);
                fault.into()
            }
            Fault::Denied(_) => self.refused(fault),
            fault => fault.into(),
        }
    }

    fn judge(&mut self, response: HttpResponse) -> Result<HttpResponse, Miss> {
        let refusal = Refusal::of(&response);
        let why = match response.status {
            401 => "Discord does not accept the bot token (401)".to_owned(),
            status @ 500.. => format!("Discord failed ({status})"),
            status => refusal.line(status),
        };
        let Some(fault) = response.action_fault(why.as_str()) else {
            return Ok(response);
        };
        let miss = Miss { code: Some(refusal.code), fault, why };
        let is_for_all = matches!(miss.fault, ActionFault::Unauthorized(_));
        Err(if is_for_all { self.end(miss) } else { miss })
    }
}
