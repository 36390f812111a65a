//! Rate limits of one connection: buckets that its connector names, and the platform's answers fill.
//!
//! Promises:
//! - A place is given only where the platform, by all that it said, will take the request; where nothing is known of a bucket,
//!   to one request at a time.
//! - Whoever waits in a bucket goes in the order of the tickets, and is told as soon as it is known that the place comes too
//!   late. A waiter that is dropped, and a place that is not used, make room for the next one.
//! - No place is idle for longer than it takes to know that it is there: where all requests are answered, a window's places are
//!   used once in the time of a window and of the slowest request, there and back. The one may be shorter than the other.
//! - Buckets do not wait for each other, except that a pause of [`EVERYTHING`] holds all of them.
//!
//! Whoever has a place may be overtaken on the way by others who have one too, and by nobody else. Who asks for a bucket in which
//! nobody waits has a place before whoever has not asked yet, whatever their tickets.
//!
//! It sends nothing and starts no task. It counts what goes through this host: what others send with the same credentials
//! it learns from the answers only.

mod bucket;
mod doubtful;
mod limit;
mod lost;
mod place;
mod queue;
mod table;
mod turn;

#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jackfield_model::Timestamp;
use jackfield_model::clock::{Monotonic, SharedClock};
use serde::Serialize;

pub use place::Place;

use table::{Moment, Table};

/// The name that means the whole connection. It has no places of its own: whoever waits for it waits for a pause to end.
pub const EVERYTHING: &str = "*";

/// An execution's place in the order of arrival at its connection; a smaller one goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// There is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rate limit has no place")]
pub struct Busy {
    /// When there may be one, as far as it is known.
    pub after: Option<Duration>,
}

/// What is known of one bucket, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Level {
    /// Its name. The connector's choice.
    pub bucket: String,
    /// Places that can be had now. `None` where the platform never said anything.
    pub remaining: Option<u32>,
    /// When the platform's window is over, where it said so.
    pub resets_at: Option<Timestamp>,
    /// Nothing is admitted before.
    pub paused_until: Option<Timestamp>,
    /// Requests that have a place and no answer yet.
    pub outstanding: u32,
    /// Callers that wait.
    pub waiting: usize,
}

impl Level {
    fn of(bucket: &str) -> Self {
        let bucket = bucket.to_owned();
        Self { bucket, remaining: None, resets_at: None, paused_until: None, outstanding: 0, waiting: 0 }
    }
}

/// The buckets of one connection. Clones are the same ones.
#[derive(Clone)]
pub struct Buckets(Arc<Shared>);

impl Buckets {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(clock: SharedClock) -> Self {
        Self::with_timer(clock, |wait| Box::pin(tokio::time::sleep(wait)))
    }

    fn with_timer(clock: SharedClock, timer: impl Fn(Duration) -> Sleep + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared { clock, timer: Box::new(timer), table: Mutex::default() }))
    }

    /// Takes a place where there is one now. Never waits, and never overtakes a waiter with a smaller ticket.
    ///
    /// # Errors
    /// There is none, or more buckets are in use than are kept.
    pub fn try_reserve(&self, bucket: &str, ticket: Ticket) -> Result<Place, Busy> {
        let (name, grant) = self.0.table(|table, now| table.take(bucket, ticket, now))?;
        Ok(Place::new(self.0.clone(), name, grant))
    }

    /// Waits for a place, in the order of the tickets, before `until`. Dropping it costs nobody else anything.
    ///
    /// # Errors
    /// No place by `until`; said as soon as it is known, or at `until`. Also when more wait, or more buckets are in use,
    /// than is allowed.
    pub async fn turn(&self, bucket: &str, ticket: Ticket, until: Monotonic) -> Result<Place, Busy> {
        turn::turn(&self.0, bucket, ticket, until).await
    }

    /// The platform said this of a bucket, other than in the answer to a request that has a place in it: that one is told
    /// through [`Place::told`]. Of [`EVERYTHING`], none remaining is a pause.
    pub fn left(&self, bucket: &str, remaining: u32, resets_in: Duration) {
        self.0.table(|table, now| table.told(bucket, remaining, resets_in, now));
    }

    /// The platform refused: nothing more is admitted in this bucket, or in any with [`EVERYTHING`], before this is over.
    /// What was believed of the bucket was wrong and is forgotten.
    /// To be said before the refused request's place is dropped, which would let the next one go.
    pub fn pause(&self, bucket: &str, after: Duration) {
        self.0.table(|table, now| table.pause(bucket, after, now));
    }

    /// What is known, most pressing first, so many at most.
    #[must_use]
    pub fn levels(&self, most: usize) -> Vec<Level> {
        let wall = self.0.clock.now();
        self.0.table(|table, now| table.levels(most, wall, now))
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buckets").finish_non_exhaustive()
    }
}

type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the buckets, their places and their waiters share.
struct Shared {
    clock: SharedClock,
    timer: Box<dyn Fn(Duration) -> Sleep + Send + Sync>,
    table: Mutex<Table>,
}

impl Shared {
    /// Does one thing with the table. No [`Place`] may be dropped inside: it would wait for the lock that is held.
    fn table<T>(&self, what: impl FnOnce(&mut Table, Moment) -> T) -> T {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock: what happens later must not have an earlier time.
        let now = table.moment(self.clock.monotonic());
        what(&mut table, now)
    }
}
