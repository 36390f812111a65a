//! One connection's door to the network.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jackfield_model::clock::SharedClock;
use jackfield_model::session::Cause;
use jackfield_model::wire::{HttpRequest, HttpResponse, SocketRequest};
use jackfield_model::{Blob, ConnectionId, Fault};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::audit::{Departed, Failure, Line};
use super::ceilings::Ceilings;
use super::check::{Plan, Rights};
use super::dial::{DialError, Dialler};
use super::exchange;
use super::policy::Policy;
use super::refusals::Refusals;
use super::resolver::Resolver;
use super::socket::{OpenSockets, Socket};
use super::tally::{Counts, Present, Tally, add};
use super::tls::Trust;
use super::upgrade;
use super::wire::Wire;
use crate::secret::{Mask, Secrets};

/// What a gate is made of.
pub struct GateConfig {
    /// Whose door it is.
    pub connection: ConnectionId,
    /// What it may reach.
    pub policy: Policy,
    /// Its secrets.
    pub secrets: Arc<Secrets>,
    /// How much it may ask for.
    pub ceilings: Ceilings,
    /// Who finds addresses.
    pub resolver: Arc<dyn Resolver>,
    /// Whose certificates are accepted.
    pub trust: Trust,
    /// For durations in the log, and rates.
    pub clock: SharedClock,
}

/// One connection's door to the network. Clones are the same door.
#[derive(Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) connection: ConnectionId,
    pub(super) ceilings: Ceilings,
    pub(super) clock: SharedClock,
    pub(super) tally: Tally,
    pub(super) sockets: OpenSockets,
    refusals: Refusals,
    dialler: Dialler,
    /// Replaced whole, so that a request sees one state of them.
    rights: RwLock<Held>,
    /// Who may be under way.
    requests: Semaphore,
    /// Who may be under way or wait for it.
    admitted: Semaphore,
}

#[derive(Clone)]
pub(super) struct Held {
    pub(super) policy: Arc<Policy>,
    pub(super) secrets: Arc<Secrets>,
}

impl Gate {
    /// Opens nothing yet.
    #[must_use]
    pub fn new(config: GateConfig) -> Self {
        let GateConfig { connection, policy, secrets, ceilings, resolver, trust, clock } = config;
        let inner = Inner {
            refusals: Refusals::new(ceilings.refusals, Arc::clone(&clock)),
            connection,
            ceilings,
            clock,
            tally: Tally::default(),
            sockets: OpenSockets::new(ceilings.sockets),
            dialler: Dialler { resolver, tls: trust.connector(), ceilings },
            rights: RwLock::new(Held { policy: Arc::new(policy), secrets }),
            requests: Semaphore::new(ceilings.requests),
            admitted: Semaphore::new(ceilings.requests.saturating_add(ceilings.waiting)),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Whether a request may be made: form, grants and secrets. Waits for nothing, so that a guest hears it at once.
    ///
    /// # Errors
    /// `Invalid` says which part to change, `Denied` which right is missing.
    pub fn check_http(&self, request: &HttpRequest) -> Result<(), Fault> {
        self.inner.refusing(request.method.as_str(), &request.url, |rights| rights.http(request)).map(drop)
    }

    /// Whether a socket may be opened. As `check_http`.
    ///
    /// # Errors
    /// As `check_http`.
    pub fn check_socket(&self, request: &SocketRequest) -> Result<(), Fault> {
        self.inner.refusing("socket", &request.url, |rights| rights.socket(request)).map(drop)
    }

    /// Whether a message may be sent over the socket of that request: the placeholders of the listed secrets stand in it
    /// exactly once each, and each may go to that origin.
    ///
    /// # Errors
    /// As `check_http`.
    pub fn check_frame(&self, socket: &SocketRequest, message: &Blob, secrets: &[String]) -> Result<(), Fault> {
        let check = |rights: &Rights<'_>| {
            let plan = rights.socket(socket)?;
            rights.message(&plan.destination, message, secrets)
        };
        self.inner.refusing("frame", &socket.url, check).map(drop)
    }

    /// Makes a request and waits for the whole answer, masked. Redirects are answers like any other.
    ///
    /// Dropping the future closes the connection; the request may have been done by then.
    ///
    /// # Errors
    /// As `check_http`; `Unavailable` when nothing had left, `Unknown` when it may have been done, `Exhausted` when too
    /// many requests wait already.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Fault> {
        self.send_noting(request, Departed::default()).await
    }

    /// As [`Self::send`], and says in `departed` whether the request may have reached the platform, also to those who drop
    /// the future.
    ///
    /// # Errors
    /// As `send`.
    pub async fn send_noting(&self, request: HttpRequest, departed: Departed) -> Result<HttpResponse, Fault> {
        let inner = &self.inner;
        let Held { policy, secrets } = inner.held();
        let mask = secrets.mask();
        let mut line = inner.line(request.method.as_str(), &mask);
        line.origin = shown_origin(&request.url);
        line.sent = request.body.len();
        line.left = departed;
        let limit = request.timeout.min(inner.ceilings.time);

        let work = async {
            let rights = Rights { policy: &policy, secrets: &secrets, ceilings: &inner.ceilings };
            let plan = rights.http(&request)?;
            inner.refusals.check()?;
            let _turn = inner.turn().await?;
            let _present = Present::new(&inner.tally.requests);
            let wire = inner.dial(&plan, &mut line).await?;
            // The last step before it leaves: everything has been checked.
            let filled = exchange::build(&plan, &secrets)?;
            let answer = exchange::send(wire, filled, &inner.ceilings, &line.left).await?;
            let status = answer.response.status().as_u16();
            line.status = Some(status);
            inner.refusals.answered(status);
            answer.collect(inner.ceilings.response_bytes, &mask, &mut line.masked).await
        };
        let outcome = timeout(limit, work).await.unwrap_or_else(|_| Err(late(line.left.get(), limit)));
        inner.settle(line, outcome)
    }

    /// Opens a socket.
    ///
    /// # Errors
    /// `Refused` with the platform's answer when it did not agree, `Failed` otherwise.
    pub async fn open(&self, request: SocketRequest) -> Result<Socket, Cause> {
        upgrade::open(&self.inner, &request).await
    }

    /// Replaces what may be reached. Sockets to what is no longer granted are dropped at once, without a close frame.
    pub fn regrant(&self, policy: Policy) {
        let policy = Arc::new(policy);
        self.inner.rights.write().unwrap_or_else(PoisonError::into_inner).policy = Arc::clone(&policy);
        self.inner.sockets.drop_unless(|destination| policy.route(destination).map(drop).map_err(Cause::Failed));
    }

    /// Replaces the secrets. Requests under way keep those that they began with; open sockets use the new ones.
    pub fn rotate(&self, secrets: Arc<Secrets>) {
        self.inner.rights.write().unwrap_or_else(PoisonError::into_inner).secrets = secrets;
    }

    /// Drops every open socket at once, without a close frame: a session that is resumed later must not be told goodbye.
    /// Needs no runtime, so a watchdog thread may call it.
    pub fn drop_sockets(&self, reason: &str) {
        self.inner.sockets.drop_unless(|_| Err(Cause::Broken(reason.to_owned())));
    }

    /// What replaces this connection's secrets in text.
    #[must_use]
    pub fn mask(&self) -> Arc<Mask> {
        self.secrets().mask()
    }

    /// This connection's secrets, for signatures.
    #[must_use]
    pub fn secrets(&self) -> Arc<Secrets> {
        self.inner.held().secrets
    }

    /// Whose door it is.
    #[must_use]
    pub fn connection(&self) -> &ConnectionId {
        &self.inner.connection
    }

    /// What went through so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.inner.tally.counts()
    }
}

impl Inner {
    pub(super) fn held(&self) -> Held {
        self.rights.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn line<'a>(&'a self, what: &'static str, mask: &'a Mask) -> Line<'a> {
        Line::new(&self.tally, mask, &self.connection, what, &self.clock)
    }

    /// Runs a check, and writes a line when it refuses.
    fn refusing<T>(
        &self,
        what: &'static str,
        url: &str,
        check: impl FnOnce(&Rights<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Held { policy, secrets } = self.held();
        check(&Rights { policy: &policy, secrets: &secrets, ceilings: &self.ceilings }).map_err(|fault| {
            let mask = secrets.mask();
            let mut line = self.line(what, &mask);
            line.origin = shown_origin(url);
            let failure = Failure::from(fault);
            line.failed(&failure);
            failure.fault
        })
    }

    /// A place among the requests under way.
    async fn turn(&self) -> Result<(SemaphorePermit<'_>, SemaphorePermit<'_>), Failure> {
        let full = |_| Fault::Exhausted(format!("requests: {} wait already", self.ceilings.waiting));
        let admitted = self.admitted.try_acquire().map_err(full)?;
        // Never closed; if it were, nothing would have left.
        let turn = self.requests.acquire().await.map_err(|_| Failure::unavailable("the gate is closed"))?;
        Ok((admitted, turn))
    }

    pub(super) async fn dial(&self, plan: &Plan, line: &mut Line<'_>) -> Result<Wire, Failure> {
        line.origin = plan.destination.to_string();
        match self.dialler.dial(&plan.destination, &plan.route).await {
            Ok(dialled) => {
                line.peer = Some(dialled.peer);
                Ok(dialled.wire)
            }
            Err(DialError::Failed(reason)) => Err(Failure::unavailable(reason)),
            Err(DialError::Forbidden(reason)) => {
                let text = format!("`{}` does not lead to a public address", plan.destination);
                Err(Failure { fault: Fault::Denied(text), reason })
            }
        }
    }

    /// Writes the line and counts.
    fn settle(&self, mut line: Line<'_>, outcome: Result<HttpResponse, Failure>) -> Result<HttpResponse, Fault> {
        if line.left.get() {
            add(&self.tally.sent, line.sent);
        }
        match outcome {
            Ok(response) => {
                line.received = response.body.len();
                add(&self.tally.received, line.received);
                line.allowed();
                Ok(response)
            }
            Err(failure) => {
                line.failed(&failure);
                Err(failure.fault)
            }
        }
    }
}

/// Its time is over: whether it was done depends on whether it had left.
pub(super) fn late(left: bool, limit: Duration) -> Failure {
    let reason = format!("not done within {} ms", limit.as_millis());
    if left { Failure::unknown("no whole answer in time", reason) } else { Failure::unavailable(reason) }
}

/// Scheme and host of a URL that may be anything, for the log: never a user name, a path or a query.
pub(super) fn shown_origin(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "-".to_owned() };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}")
}
