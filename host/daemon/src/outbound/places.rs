//! The places in buckets that one execution has, over all its runs.
//!
//! Promises:
//! - **Whoever waits for a place holds none.** What was reserved and is not used yet goes back meanwhile, and the request that
//!   it is for waits for it again. So no two calls wait for each other, whatever buckets they want and in whatever order.
//! - A place is one request's. Where nothing is said of its bucket in the answer, it goes back when the next one of that bucket
//!   is reserved, when the call waits, or when the run ends.
//!
//! Not promised: that a request sets out as soon as its place was reserved.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jackfield_model::clock::{Monotonic, SharedClock};
use tokio_util::sync::CancellationToken;

use super::buckets::{Buckets, Busy, Place, Ticket};

/// Places of one execution.
pub(super) struct Places {
    buckets: Buckets,
    ticket: Ticket,
    clock: SharedClock,
    /// Nobody waits any more: when it is cancelled, and from a time on.
    leaves: (CancellationToken, Monotonic),
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// Waited for between two runs; the next `reserve` of the bucket takes it.
    granted: Option<Reserved>,
    /// For requests to come, in order.
    reserved: VecDeque<Reserved>,
    /// Of requests that were answered, while nothing was said of their bucket.
    answered: Vec<Place>,
    /// Buckets in which this run got no place, and of which the platform has said nothing since.
    refused: BTreeSet<String>,
    waited: Duration,
}

struct Reserved {
    bucket: String,
    /// None: it was given back, since the call waited for another one.
    place: Option<Place>,
}

impl From<Place> for Reserved {
    fn from(place: Place) -> Self {
        Self { bucket: place.bucket().to_owned(), place: Some(place) }
    }
}

impl Places {
    pub(super) fn new(
        (buckets, ticket): (Buckets, Ticket),
        clock: SharedClock,
        leaves: (CancellationToken, Monotonic),
    ) -> Self {
        Self { buckets, ticket, clock, leaves, held: Mutex::default() }
    }

    /// Waits for a place in the order of the tickets, holds no other meanwhile, and notes for how long.
    pub(super) async fn turn(&self, bucket: &str) -> Result<Place, Busy> {
        self.held().give_back();
        let (cancelled, until) = &self.leaves;
        let began = self.clock.monotonic();
        let got = tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(Busy { after: None }),
            got = self.buckets.turn(bucket, self.ticket, *until) => got,
        };
        self.held().waited += self.clock.monotonic().saturating_duration_since(began);
        got
    }

    /// A place, where there is one now and nobody waits for it who was taken earlier.
    pub(super) fn at_once(&self, bucket: &str) -> Result<Place, Busy> {
        self.buckets.try_reserve(bucket, self.ticket)
    }

    /// The next run has this place, which was waited for.
    pub(super) fn grant(&self, place: Place) {
        self.held().granted = Some(place.into());
    }

    /// Reserves a place for a request to come. Waits for it where `waits` says so.
    pub(super) async fn reserve(&self, bucket: &str, waits: bool) -> Result<(), Busy> {
        let granted = self.held().take_granted(bucket);
        let got = match granted.map_or_else(|| self.at_once(bucket), Ok) {
            Err(_) if waits => self.turn(bucket).await,
            got => got,
        };
        let mut held = self.held();
        match got {
            Ok(place) => {
                held.refused.remove(bucket);
                held.reserved.push_back(place.into());
                Ok(())
            }
            Err(busy) => {
                held.refused.insert(bucket.to_owned());
                Err(busy)
            }
        }
    }

    /// The place of the request that is about to set out, where one was reserved; waited for again, where it was given back.
    pub(super) async fn next(&self) -> Result<Option<Place>, Busy> {
        let Some(Reserved { bucket, place }) = self.held().reserved.pop_front() else { return Ok(None) };
        if place.is_some() {
            return Ok(place);
        }
        match self.at_once(&bucket) {
            Err(_) => self.turn(&bucket).await.map(Some),
            got => got.map(Some),
        }
    }

    /// The request of this place was answered.
    pub(super) fn answered(&self, place: Place) {
        self.held().answered.push(place);
    }

    /// What the platform says of a bucket: in the answer to the oldest request that nothing was said of yet, where there is
    /// one.
    pub(super) fn told(&self, bucket: &str, remaining: u32, resets_in: Duration) {
        let place = {
            let mut held = self.held();
            held.refused.remove(bucket);
            let at = held.answered.iter().position(|place| place.bucket() == bucket);
            at.map(|at| held.answered.remove(at))
        };
        match place {
            Some(place) => place.told(remaining, resets_in),
            None => self.buckets.left(bucket, remaining, resets_in),
        }
    }

    /// Whether a time that the guest gives for this bucket can be the platform's. Where it is what this run was told when it
    /// got no place, it is the host's own, and of its own place in the order: nobody else has to wait for it.
    pub(super) fn is_news(&self, bucket: &str) -> bool {
        !self.held().refused.contains(bucket)
    }

    /// A run is over: what it did not use goes to whoever waits. Says whether it used the place that it was granted.
    pub(super) fn run_ended(&self) -> bool {
        let mut held = self.held();
        let Held { granted, waited, .. } = std::mem::take(&mut *held);
        held.waited = waited;
        granted.is_none()
    }

    /// For how long it waited, over all.
    pub(super) fn waited(&self) -> Duration {
        self.held().waited
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Takes the place that was waited for before the run. Not every platform says something of its buckets: what was not
    /// told of the last request in this one goes back.
    fn take_granted(&mut self, bucket: &str) -> Option<Place> {
        self.answered.retain(|place| place.bucket() != bucket);
        self.granted.take_if(|granted| granted.bucket == bucket)?.place
    }

    fn give_back(&mut self) {
        for reserved in self.granted.iter_mut().chain(&mut self.reserved) {
            reserved.place = None;
        }
        self.answered.clear();
    }
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
