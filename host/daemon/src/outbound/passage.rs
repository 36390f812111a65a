//! The way out of one execution: every request of it goes through here, is noted, and stops when nobody waits any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jackfield_engine::capability::http::Client;
use jackfield_engine::egress::{Departed, Gate};
use jackfield_model::clock::{Monotonic, SharedClock};
use jackfield_model::wire::{HttpRequest, HttpResponse};
use jackfield_model::{Fault, Timestamp};
use jackfield_store::execution::Request;
use tokio_util::sync::CancellationToken;

use super::buckets::{Buckets, Busy, Place, Ticket};
use super::locks::HeldLocks;
use super::places::Places;
use crate::text;

/// Requests of one execution that are kept in the ledger; a broadcast has fifty. More are counted.
const REQUESTS_MAX: usize = 200;

/// Longest target that is kept, in characters.
const TARGET_CHARS_MAX: usize = 300;

/// A request ends so long before its execution, so that its answer, or that there is none, still reaches the guest.
const MARGIN: Duration = Duration::from_millis(100);

/// The way out of one execution, over all its runs.
pub(super) struct Passage {
    pub(super) gate: Gate,
    pub(super) clock: SharedClock,
    /// Nobody waits any more.
    pub(super) cancelled: CancellationToken,
    /// When nobody waits any more.
    pub(super) until: Monotonic,
    pub(super) locks: Arc<HeldLocks>,
    pub(super) journal: Journal,
    pub(super) places: Places,
}

/// What was sent.
#[derive(Default)]
pub(super) struct Journal {
    left: AtomicBool,
    noted: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    requests: Vec<Request>,
    more: u64,
}

impl Passage {
    pub(super) fn new(
        gate: Gate,
        tickets: (Buckets, Ticket),
        clock: SharedClock,
        (cancelled, until): (CancellationToken, Monotonic),
        locks: Arc<HeldLocks>,
    ) -> Self {
        let places = Places::new(tickets, clock.clone(), (cancelled.clone(), until));
        Self { gate, clock, cancelled, until, locks, journal: Journal::default(), places }
    }

    /// Time until nobody waits any more.
    pub(super) fn remaining(&self) -> Duration {
        self.until.saturating_duration_since(self.clock.monotonic())
    }

    /// Notes a request that the host itself does not send.
    fn unsent(&self, request: &HttpRequest, why: String, fault: Fault) -> Result<HttpResponse, Fault> {
        let mut flight = Flight::new(self, request, None);
        flight.note = Some(format!("not sent: {why}"));
        let outcome = Err(fault);
        flight.finish(&outcome);
        outcome
    }

    /// Waits until nothing more may be sent: nobody waits for it, or a lock that protects it is over.
    async fn forbidden(&self) -> Fault {
        let lapse = async {
            while let Some(end) = self.locks.next_end() {
                tokio::time::sleep(end.saturating_duration_since(self.clock.monotonic())).await;
                if self.locks.lapsed().is_some() {
                    return;
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            () = self.cancelled.cancelled() => Fault::Cancelled,
            () = lapse => Fault::Unavailable(None),
        }
    }

    fn no_place(&self, Busy { after }: Busy) -> Fault {
        if self.cancelled.is_cancelled() { Fault::Cancelled } else { Fault::Unavailable(after) }
    }
}

#[async_trait]
impl Client for Passage {
    async fn send(&self, mut request: HttpRequest) -> Result<HttpResponse, Fault> {
        if self.cancelled.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        let place = match self.places.next().await {
            Ok(place) => place,
            Err(busy) => return self.unsent(&request, "no place in the rate limit".to_owned(), self.no_place(busy)),
        };
        if let Some(key) = self.locks.lapsed() {
            return self.unsent(&request, format!("the lease on `{key}` has lapsed"), Fault::Unavailable(None));
        }
        let left = self.remaining().saturating_sub(MARGIN);
        if left.is_zero() {
            return self.unsent(&request, "no time is left".to_owned(), Fault::Unavailable(None));
        }
        request.timeout = request.timeout.min(left);
        let mut flight = Flight::new(self, &request, place);
        let departed = flight.departed.clone();
        let sent = self.gate.send_noting(request, departed.clone());
        tokio::pin!(sent);
        // It may wait for its turn and for the line; what ends meanwhile ends it too, as long as nothing of it has left.
        let outcome = tokio::select! {
            biased;
            outcome = &mut sent => outcome,
            fault = self.forbidden() => {
                if departed.get() {
                    sent.await
                } else {
                    flight.note = Some("not sent: its caller left or its lease lapsed before it could be".to_owned());
                    Err(fault)
                }
            }
        };
        flight.finish(&outcome);
        outcome
    }

    async fn reserve(&self, bucket: &str) -> Result<(), Fault> {
        if self.cancelled.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        // What was begun is finished first, so it may wait.
        self.places.reserve(bucket, self.journal.left()).await.map_err(|busy| self.no_place(busy))
    }

    fn left(&self, bucket: &str, remaining: u32, resets_in: Duration) {
        self.places.told(bucket, remaining, resets_in);
    }
}

impl Journal {
    /// Something may have reached the platform.
    pub(super) fn left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// How many requests were made, or not allowed.
    pub(super) fn count(&self) -> u64 {
        let noted = self.noted();
        noted.more.saturating_add(noted.requests.len() as u64)
    }

    /// What was sent so far did nothing.
    pub(super) fn begin_anew(&self) {
        self.left.store(false, Ordering::Release);
    }

    /// All that was noted: requests, and how many more there were.
    pub(super) fn take(&self) -> (Vec<Request>, u64) {
        let noted = std::mem::take(&mut *self.noted());
        (noted.requests, noted.more)
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way. Noted when it ends, and when whoever waits for it is dropped.
struct Flight<'a> {
    passage: &'a Passage,
    departed: Departed,
    place: Option<Place>,
    at: Timestamp,
    began: Monotonic,
    method: &'static str,
    target: String,
    note: Option<String>,
    status: Option<u16>,
    ended: bool,
}

impl<'a> Flight<'a> {
    fn new(passage: &'a Passage, request: &HttpRequest, place: Option<Place>) -> Self {
        // Without query: it carries more than a path, and a path can be read by people.
        let path = request.url.split(['?', '#']).next().unwrap_or_default();
        let target = text::line(&passage.gate.mask().text(path), TARGET_CHARS_MAX);
        Self {
            departed: Departed::default(),
            place,
            at: passage.clock.now(),
            began: passage.clock.monotonic(),
            method: request.method.as_str(),
            target,
            note: None,
            status: None,
            ended: false,
            passage,
        }
    }

    fn finish(mut self, outcome: &Result<HttpResponse, Fault>) {
        self.ended = true;
        match outcome {
            Ok(response) => self.status = Some(response.status),
            Err(fault) => self.note = self.note.take().or_else(|| Some(fault.to_string())),
        }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let passage = self.passage;
        let left = self.departed.get();
        if left {
            passage.journal.left.store(true, Ordering::Release);
        }
        if let Some(mut place) = self.place.take().filter(|_| left) {
            place.departed();
            if self.status.is_some() {
                passage.places.answered(place);
            }
        }
        let fault = if self.ended { self.note.take() } else { Some("nobody waited for the answer".to_owned()) };
        let ms = passage.clock.monotonic().saturating_duration_since(self.began).as_millis();
        let request = Request {
            at: self.at,
            method: self.method.to_owned(),
            target: std::mem::take(&mut self.target),
            left,
            status: self.status,
            fault: fault.map(|fault| passage.gate.mask().text(&fault).into_owned()),
            ms: u64::try_from(ms).unwrap_or(u64::MAX),
        };
        let mut noted = passage.journal.noted();
        if noted.requests.len() < REQUESTS_MAX {
            noted.requests.push(request);
        } else {
            noted.more += 1;
        }
    }
}
