//! The way out of one execution: every request of it goes through here, is noted, and stops when nobody waits any more.

use std::collections::VecDeque;
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
    pub(super) buckets: Buckets,
    pub(super) ticket: Ticket,
    pub(super) clock: SharedClock,
    /// Nobody waits any more.
    pub(super) cancelled: CancellationToken,
    /// When nobody waits any more.
    pub(super) until: Monotonic,
    pub(super) locks: Arc<HeldLocks>,
    pub(super) journal: Journal,
    places: Mutex<Places>,
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
    waited: Duration,
}

/// Places in buckets that the execution has.
#[derive(Default)]
struct Places {
    /// Got by waiting for a turn; the next `reserve` of the bucket takes it.
    granted: Option<(String, Place)>,
    /// Reserved for requests to come, in order.
    reserved: VecDeque<Place>,
    /// Of requests that are under way, or whose answer was not told yet; and whether there is an answer.
    out: Vec<(Place, bool)>,
}

impl Passage {
    pub(super) fn new(
        gate: Gate,
        (buckets, ticket): (Buckets, Ticket),
        clock: SharedClock,
        (cancelled, until): (CancellationToken, Monotonic),
        locks: Arc<HeldLocks>,
    ) -> Self {
        let (journal, places) = (Journal::default(), Mutex::default());
        Self { gate, buckets, ticket, clock, cancelled, until, locks, journal, places }
    }

    /// Time until nobody waits any more.
    pub(super) fn remaining(&self) -> Duration {
        self.until.saturating_duration_since(self.clock.monotonic())
    }

    /// Gives the next run the place that was waited for.
    pub(super) fn grant(&self, bucket: String, place: Place) {
        self.places().granted = Some((bucket, place));
    }

    /// A run is over: places that it did not use go to whoever waits. Says whether it had used the one it was granted.
    pub(super) fn run_ended(&self) -> bool {
        let mut places = self.places();
        let used = places.granted.is_none();
        *places = Places::default();
        used
    }

    /// Waits for a place, in order, and notes for how long.
    pub(super) async fn turn(&self, bucket: &str) -> Result<Place, Busy> {
        let began = self.clock.monotonic();
        let turn = self.buckets.turn(bucket, self.ticket, self.until);
        let got = tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Err(Busy { after: None }),
            got = turn => got,
        };
        self.journal.noted().waited += self.clock.monotonic().saturating_duration_since(began);
        got
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a request that is about to be sent, where one was reserved.
    fn departing(&self) -> Option<String> {
        let mut places = self.places();
        let place = places.reserved.pop_front()?;
        let bucket = place.bucket().to_owned();
        places.out.push((place, false));
        Some(bucket)
    }

    /// Gives back the places of requests that were answered without a word on their bucket: not every platform says one.
    fn untold(&self, bucket: &str) {
        let mut places = self.places();
        places.out.retain(|(place, answered)| !*answered || place.bucket() != bucket);
    }

    /// Says of the newest place of this bucket whether its request has left, and whether there is an answer.
    fn departed(&self, bucket: &str, left: bool, answered: bool) {
        let mut places = self.places();
        let Some(at) = places.out.iter().rposition(|(place, _)| place.bucket() == bucket) else { return };
        if left {
            if let Some((place, is_answered)) = places.out.get_mut(at) {
                place.departed();
                *is_answered = answered;
            }
        } else {
            drop(places.out.remove(at));
        }
    }
}

#[async_trait]
impl Client for Passage {
    async fn send(&self, mut request: HttpRequest) -> Result<HttpResponse, Fault> {
        if self.cancelled.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        if let Some(key) = self.locks.lapsed() {
            let fault = Fault::Unavailable(None);
            let mut flight = Flight::new(self, &request);
            flight.note = Some(format!("not sent: the lease on `{key}` has lapsed"));
            flight.finish(&Err(fault.clone()));
            return Err(fault);
        }
        request.timeout = request.timeout.min(self.remaining().saturating_sub(MARGIN));
        let flight = Flight::new(self, &request);
        let outcome = self.gate.send_noting(request, flight.departed.clone()).await;
        flight.finish(&outcome);
        outcome
    }

    async fn reserve(&self, bucket: &str) -> Result<(), Fault> {
        if self.cancelled.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        self.untold(bucket);
        let granted = {
            let mut places = self.places();
            match &places.granted {
                Some((name, _)) if name == bucket => places.granted.take().map(|(_, place)| place),
                _ => None,
            }
        };
        let got = match granted {
            Some(place) => Ok(place),
            // What was begun is finished first, so it may wait.
            None if self.journal.left() => self.turn(bucket).await,
            None => self.buckets.try_reserve(bucket, self.ticket),
        };
        let place =
            got.map_err(
                |Busy { after }| {
                    if self.cancelled.is_cancelled() { Fault::Cancelled } else { Fault::Unavailable(after) }
                },
            )?;
        self.places().reserved.push_back(place);
        Ok(())
    }

    fn left(&self, bucket: &str, remaining: u32, resets_in: Duration) {
        let answered = {
            let mut places = self.places();
            // The oldest one that is out.
            let at = places.out.iter().position(|(place, _)| place.bucket() == bucket);
            at.map(|at| places.out.remove(at).0)
        };
        match answered {
            Some(place) => place.told(remaining, resets_in),
            None => self.buckets.left(bucket, remaining, resets_in),
        }
    }
}

impl Journal {
    /// Something may have reached the platform.
    pub(super) fn left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// All that was noted: requests, how many more there were, and time waited for places.
    pub(super) fn take(&self) -> (Vec<Request>, u64, Duration) {
        let noted = std::mem::take(&mut *self.noted());
        (noted.requests, noted.more, noted.waited)
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way. Noted when it ends, and when whoever waits for it is dropped.
struct Flight<'a> {
    passage: &'a Passage,
    departed: Departed,
    bucket: Option<String>,
    at: Timestamp,
    began: Monotonic,
    method: &'static str,
    target: String,
    note: Option<String>,
    status: Option<u16>,
    ended: bool,
}

impl<'a> Flight<'a> {
    fn new(passage: &'a Passage, request: &HttpRequest) -> Self {
        // Without query: they carry more than a place, and a path can be read by people.
        let place = request.url.split(['?', '#']).next().unwrap_or_default();
        let target = text::line(&passage.gate.mask().text(place), TARGET_CHARS_MAX);
        Self {
            departed: Departed::default(),
            bucket: passage.departing(),
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
        if let Some(bucket) = &self.bucket {
            passage.departed(bucket, left, self.status.is_some());
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
