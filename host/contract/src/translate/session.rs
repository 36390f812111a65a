//! What happened in a session, lent to its guest; what the guest asked for, taken over.
//!
//! Lists inside a lent value have to stand somewhere while they are lent: [`Signals`] and [`StartContext`] are that place.

use jackfield_model::session::{self as model, Cause, Condition, Notice, Signal, StartReason, StopReason};
use jackfield_model::session::{SessionFault, StartFault};
use jackfield_model::wire::HttpResponse;

use super::millis;
use crate::exports::runtime;
use crate::imports::{session, types};

/// Signals, ready to be lent.
pub struct Signals<'a> {
    signals: &'a [Signal],
    /// One for each signal: what of it needs a place.
    lists: Vec<List<'a>>,
}

enum List<'a> {
    None,
    Headers(Vec<(&'a str, &'a str)>),
    Marks(Vec<&'a str>),
}

impl<'a> Signals<'a> {
    /// Prepares signals for lending.
    #[must_use]
    pub fn new(signals: &'a [Signal]) -> Self {
        let lists = signals.iter().map(|signal| match signal {
            Signal::Fetched { outcome: Ok(response), .. } | Signal::Closed { cause: Cause::Refused(response), .. } => {
                List::Headers(headers(response))
            }
            Signal::Committed(marks) => List::Marks(marks.iter().map(String::as_str).collect()),
            _ => List::None,
        });
        Self { signals, lists: lists.collect() }
    }

    /// The signals as `handle` takes them.
    #[must_use]
    pub fn lend(&self) -> Vec<runtime::Signal<'_>> {
        self.signals.iter().zip(&self.lists).map(|(signal, list)| lend(signal, list)).collect()
    }
}

fn headers(response: &HttpResponse) -> Vec<(&str, &str)> {
    response.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn lend<'a>(signal: &'a Signal, list: &'a List<'a>) -> runtime::Signal<'a> {
    match signal {
        Signal::Opened(label) => runtime::Signal::Opened(label),
        Signal::Message { label, message } => {
            runtime::Signal::Message(runtime::Incoming { label, message: message.into() })
        }
        Signal::Closed { label, cause } => {
            runtime::Signal::Closed(runtime::Closure { label, cause: lend_cause(cause, list) })
        }
        Signal::Elapsed(label) => runtime::Signal::Elapsed(label),
        Signal::Fetched { label, outcome } => {
            let outcome = outcome.as_ref().map(|response| lend_response(response, list)).map_err(Into::into);
            runtime::Signal::Fetched(runtime::Fetched { label, outcome })
        }
        Signal::Committed(_) => runtime::Signal::Committed(match list {
            List::Marks(marks) => marks,
            List::None | List::Headers(_) => &[],
        }),
        Signal::Held(label) => runtime::Signal::Held(label),
        Signal::Flowing(label) => runtime::Signal::Flowing(label),
        Signal::Stopping(reason) => runtime::Signal::Stopping((*reason).into()),
    }
}

fn lend_cause<'a>(cause: &'a Cause, list: &'a List<'a>) -> runtime::Cause<'a> {
    match cause {
        Cause::Refused(response) => runtime::Cause::Refused(lend_response(response, list)),
        Cause::Failed(fault) => runtime::Cause::Failed(fault.into()),
        Cause::Peer { code, reason } => runtime::Cause::Peer(runtime::PeerClose { code: *code, reason }),
        Cause::Broken(how) => runtime::Cause::Broken(how),
        Cause::Ours => runtime::Cause::Ours,
    }
}

fn lend_response<'a>(response: &'a HttpResponse, list: &'a List<'a>) -> types::HttpResponseParam<'a> {
    let headers: &[_] = match list {
        List::Headers(headers) => headers,
        List::None | List::Marks(_) => &[],
    };
    types::HttpResponseParam { status: response.status, headers, body: (&response.body).into() }
}

impl From<StopReason> for runtime::StopReason {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Shutdown => Self::Shutdown,
            StopReason::HandOver => Self::HandOver,
            StopReason::Removed => Self::Removed,
            StopReason::Reconfigured => Self::Reconfigured,
            StopReason::LeaseLost => Self::LeaseLost,
        }
    }
}

/// A start context, ready to be lent.
pub struct StartContext<'a> {
    context: &'a model::StartContext,
    sockets: Vec<runtime::SocketState<'a>>,
    timers: Vec<runtime::PendingTimer<'a>>,
    fetches: Vec<&'a str>,
}

impl<'a> StartContext<'a> {
    /// Prepares a context for lending.
    #[must_use]
    pub fn new(context: &'a model::StartContext) -> Self {
        let sockets = context.sockets.iter().map(|(label, open)| runtime::SocketState { label, open: *open });
        let timers =
            context.timers.iter().map(|(label, left)| runtime::PendingTimer { label, remaining: millis(*left) });
        let fetches = context.fetches.iter().map(String::as_str);
        Self { context, sockets: sockets.collect(), timers: timers.collect(), fetches: fetches.collect() }
    }

    /// The context as `start` takes it.
    #[must_use]
    pub fn lend(&self) -> runtime::StartContext<'_> {
        runtime::StartContext {
            reason: match self.context.reason {
                StartReason::Fresh => runtime::StartReason::Fresh,
                StartReason::Restart => runtime::StartReason::Restart,
                StartReason::Takeover => runtime::StartReason::Takeover,
                StartReason::Swap => runtime::StartReason::Swap,
                StartReason::Wake => runtime::StartReason::Wake,
                StartReason::Recover => runtime::StartReason::Recover,
            },
            checkpoint: self.context.checkpoint.as_ref().map(Into::into),
            sockets: &self.sockets,
            timers: &self.timers,
            fetches: &self.fetches,
            annotations: "{}",
        }
    }
}

impl From<runtime::StartFault> for StartFault {
    fn from(fault: runtime::StartFault) -> Self {
        match fault {
            runtime::StartFault::NotConfigured(text) => Self::NotConfigured(text),
            runtime::StartFault::Fatal(text) => Self::Fatal(text),
            runtime::StartFault::Transient(text) => Self::Transient(text),
        }
    }
}

impl From<runtime::SessionFault> for SessionFault {
    fn from(fault: runtime::SessionFault) -> Self {
        match fault {
            runtime::SessionFault::Fatal(text) => Self::Fatal(text),
            runtime::SessionFault::Transient(text) => Self::Transient(text),
        }
    }
}

impl From<session::Condition> for Condition {
    fn from(condition: session::Condition) -> Self {
        match condition {
            session::Condition::Connecting => Self::Connecting,
            session::Condition::Ready => Self::Ready,
            session::Condition::Degraded(session::Notice { code, message, todo }) => {
                Self::Degraded(Notice { code, message, todo })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jackfield_model::Fault;

    use super::*;

    #[test]
    fn lists_are_lent_with_their_signal() {
        let response = HttpResponse { status: 429, headers: vec![("a".into(), "b".into())], body: "slow".into() };
        let signals = [
            Signal::Committed(vec!["m1".into(), "m2".into()]),
            Signal::Closed { label: "gateway".into(), cause: Cause::Refused(response.clone()) },
            Signal::Fetched { label: "url".into(), outcome: Ok(response) },
            Signal::Fetched { label: "url".into(), outcome: Err(Fault::Cancelled) },
        ];
        let signals = Signals::new(&signals);
        let lent = signals.lend();
        assert!(matches!(lent[0], runtime::Signal::Committed(&["m1", "m2"])));
        let runtime::Signal::Closed(runtime::Closure { cause: runtime::Cause::Refused(refused), .. }) = &lent[1] else {
            panic!("{lent:?}")
        };
        assert_eq!(refused.headers, [("a", "b")]);
        let runtime::Signal::Fetched(runtime::Fetched { outcome: Ok(fetched), .. }) = &lent[2] else {
            panic!("{lent:?}")
        };
        assert_eq!((fetched.status, fetched.headers), (429, &[("a", "b")][..]));
        assert!(matches!(
            lent[3],
            runtime::Signal::Fetched(runtime::Fetched { outcome: Err(types::FaultParam::Cancelled), .. })
        ));
    }
}
