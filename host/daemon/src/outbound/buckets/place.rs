//! A place in a bucket: one request may set out.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use super::table::Moment;

/// A place in a bucket, for one request. However it is dropped, the next waiter gets what is left by it.
#[must_use = "a place that is dropped goes to the next one"]
pub struct Place {
    shared: Arc<Shared>,
    bucket: Arc<str>,
    granted: Moment,
    end: End,
}

/// What becomes of a place that is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nobody can have counted it: the next one has it.
    Returned,
    /// The platform may have counted it.
    Lost,
    /// It is accounted for.
    Answered,
}

impl Place {
    pub(super) fn new(shared: Arc<Shared>, bucket: Arc<str>, granted: Moment) -> Self {
        Self { shared, bucket, granted, end: End::Returned }
    }

    /// Of which bucket.
    #[must_use]
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The request may have left. From now on dropping it means that the platform may have counted it.
    pub fn departed(&mut self) {
        self.end = End::Lost;
    }

    /// The answer to its request says this of its bucket. `remaining` are further requests, `resets_in` is the time until
    /// the window is over.
    pub fn told(mut self, remaining: u32, resets_in: Duration) {
        self.end = End::Answered;
        self.shared.table(|table, now| table.answered(&self.bucket, self.granted, remaining, resets_in, now));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        match self.end {
            End::Returned => self.shared.table(|table, now| table.returned(&self.bucket, now)),
            End::Lost => self.shared.table(|table, now| table.lost(&self.bucket, now)),
            End::Answered => {}
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("bucket", &self.bucket).field("end", &self.end).finish_non_exhaustive()
    }
}
