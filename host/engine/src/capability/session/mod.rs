//! What a running session may ask of the host: sockets, timers, requests, and what status shows. In `runtime` alone.
//!
//! Promised: everything is checked at once, against the grants and against what the session has (the call's view, and what
//! the call itself has asked for since); everything but `spend-start` is done when the call has returned, in order.

mod host;
mod labels;

use async_trait::async_trait;
use jackfield_model::clock::SharedClock;
use jackfield_model::session::{Condition, Effect, Notice, Spend};
use jackfield_model::wire::{HttpRequest, SocketRequest};
use jackfield_model::{Blob, Fault};
use wasmtime::component::{HasData, Linker};

pub(crate) use self::labels::Seen;
use self::labels::close_code;
use crate::effects::{Effects, label};
use crate::failure::{Refusal, Stop};
use crate::guest::Guest;
use crate::json;
use crate::limits::{GuestLimits, LABEL_BYTES_MAX};
use crate::log::{LogSink, MESSAGE_BYTES_MAX};
use crate::phase::{Call, RUNTIME};
use crate::runtime::Host;

/// The start budget of the connection's credential.
#[async_trait]
pub trait Starts: Send + Sync {
    /// Counts one start, durably, before it answers; or refuses.
    ///
    /// # Errors
    /// `Unavailable` while the store is away.
    async fn spend(&self) -> Result<Spend, Fault>;
}

/// What this import works on.
pub(super) struct SessionView<'a> {
    call: &'a mut Call,
    effects: &'a mut Effects,
    seen: &'a mut Seen,
    limits: &'a GuestLimits,
    log: &'a LogSink,
    clock: &'a SharedClock,
    host: Option<&'a Host>,
    starts: Option<&'a dyn Starts>,
}

impl<'a> SessionView<'a> {
    fn admit(&mut self, import: &'static str) -> Result<&'a Host, Stop> {
        self.call.admit(import, RUNTIME)?;
        super::host(self.host, import)
    }

    fn open(&mut self, name: String, request: SocketRequest) -> Result<(), Refusal> {
        let host = self.admit("session.open")?;
        label("label", &name)?;
        json::object(&request.annotations).map_err(|problem| Fault::Invalid(format!("annotations: {problem}")))?;
        host.gate.check_socket(&request)?;
        self.seen.opening(&name, &request)?;
        let bytes = name.len() + request.url.len() + pairs(&request.headers) + request.annotations.len();
        Ok(self.effects.push(Effect::Open { label: name, request }, bytes)?)
    }

    fn send(&mut self, name: String, message: Blob, secrets: Vec<String>) -> Result<(), Refusal> {
        let host = self.admit("session.send")?;
        let request = self.seen.open_socket(&name)?;
        if message.len() > self.limits.frame {
            let problem = format!("message: {} bytes, at most {}", message.len(), self.limits.frame);
            return Err(Fault::Invalid(problem).into());
        }
        host.gate.check_frame(&request, &message, &secrets)?;
        let bytes = name.len() + message.len();
        Ok(self.effects.push(Effect::Send { label: name, message, secrets }, bytes)?)
    }

    fn close(&mut self, name: String, code: Option<u16>, reason: String) -> Result<(), Stop> {
        const IMPORT: &str = "session.close";
        self.admit(IMPORT)?;
        unanswerable(IMPORT, label("label", &name))?;
        close_code(code, &reason).map_err(|problem| Stop::misuse(IMPORT, problem))?;
        self.seen.closing(&name);
        let bytes = name.len() + reason.len();
        self.effects.push(Effect::Close { label: name, code, reason }, bytes)
    }

    fn set_timer(&mut self, name: String, after: std::time::Duration) -> Result<(), Stop> {
        const IMPORT: &str = "session.set-timer";
        self.admit(IMPORT)?;
        unanswerable(IMPORT, label("label", &name))?;
        self.seen.setting(&name)?;
        let bytes = name.len();
        self.effects.push(Effect::SetTimer { label: name, after }, bytes)
    }

    fn cancel_timer(&mut self, name: String) -> Result<(), Stop> {
        const IMPORT: &str = "session.cancel-timer";
        self.admit(IMPORT)?;
        unanswerable(IMPORT, label("label", &name))?;
        self.seen.cancelling(&name);
        let bytes = name.len();
        self.effects.push(Effect::CancelTimer { label: name }, bytes)
    }

    fn fetch(&mut self, name: String, request: HttpRequest) -> Result<(), Refusal> {
        let host = self.admit("session.fetch")?;
        label("label", &name)?;
        self.seen.free_to_fetch(&name)?;
        host.gate.check_http(&request)?;
        let bytes = name.len() + request.url.len() + pairs(&request.headers) + request.body.len();
        self.effects.push(Effect::Fetch { label: name.clone(), request }, bytes)?;
        self.seen.fetching(name);
        Ok(())
    }

    fn cancel_fetch(&mut self, name: String) -> Result<(), Stop> {
        const IMPORT: &str = "session.cancel-fetch";
        self.admit(IMPORT)?;
        unanswerable(IMPORT, label("label", &name))?;
        let bytes = name.len();
        self.effects.push(Effect::CancelFetch { label: name }, bytes)
    }

    /// What people read is made fit for that here, once.
    fn report(&mut self, condition: Condition) -> Result<(), Stop> {
        self.admit("session.report")?;
        let condition = match condition {
            Condition::Degraded(Notice { code, message, todo }) => Condition::Degraded(Notice {
                code: self.log.fit(&code, LABEL_BYTES_MAX).into_owned(),
                message: self.log.fit(&message, MESSAGE_BYTES_MAX).into_owned(),
                todo: todo.map(|todo| self.log.fit(&todo, MESSAGE_BYTES_MAX).into_owned()),
            }),
            Condition::Connecting | Condition::Ready => condition,
        };
        self.effects.push(Effect::Report(condition), MESSAGE_BYTES_MAX)
    }

    async fn spend_start(&mut self) -> Result<(), Refusal> {
        const IMPORT: &str = "session.spend-start";
        self.admit(IMPORT)?;
        let starts = self.starts.ok_or_else(|| Stop::misuse(IMPORT, "there is no session behind this call"))?;
        match starts.spend().await? {
            Spend::Spent => Ok(()),
            Spend::Refused { until } => Err(Fault::Unavailable(Some(until.since(self.clock.now()))).into()),
        }
    }

    fn starts_left(&mut self, remaining: u32, resets_in: std::time::Duration) -> Result<(), Stop> {
        self.admit("session.starts-left")?;
        self.effects.push(Effect::StartsLeft { remaining, resets_in }, 0)
    }

    fn metadata(&mut self, patch: String) -> Result<(), Stop> {
        const IMPORT: &str = "session.metadata";
        self.admit(IMPORT)?;
        json::object(&patch).map_err(|problem| Stop::misuse(IMPORT, format!("patch: {problem}")))?;
        let bytes = patch.len();
        self.effects.push(Effect::Metadata(patch), bytes)
    }
}

/// A function without a result can't say what is wrong: the guest is broken.
fn unanswerable(import: &'static str, checked: Result<(), Fault>) -> Result<(), Stop> {
    checked.map_err(|fault| Stop::misuse(import, fault.to_string()))
}

fn pairs(headers: &[(String, String)]) -> usize {
    headers.iter().map(|(name, value)| name.len() + value.len()).sum()
}

struct HasSession;

impl HasData for HasSession {
    type Data<'a> = SessionView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::session::add_to_linker::<_, HasSession>(linker, |guest| SessionView {
        call: &mut guest.call,
        effects: &mut guest.effects,
        seen: &mut guest.seen,
        limits: &guest.limits,
        log: &guest.log,
        clock: &guest.clock,
        host: guest.host.as_ref(),
        starts: guest.starts.as_deref(),
    })
}
