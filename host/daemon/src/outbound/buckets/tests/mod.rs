//! The rules one by one, waiting, and a whole platform under load: all in a time that the tests make.

mod bounds;
mod flood;
mod platform;
mod rules;
mod waiting;
mod world;

use std::time::Duration;

use super::{Buckets, Busy, Place, Ticket};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A place whose request has left.
fn sent(buckets: &Buckets, bucket: &str) -> Place {
    let mut place = buckets.try_reserve(bucket, Ticket(0)).unwrap();
    place.departed();
    place
}

/// A request from its place to its answer.
fn answered(buckets: &Buckets, bucket: &str, remaining: u32, resets_in: Duration) {
    sent(buckets, bucket).told(remaining, resets_in);
}

/// How many places there are. They are taken all, and go back.
fn free(buckets: &Buckets, bucket: &str) -> usize {
    let mut places = Vec::new();
    while let Ok(place) = buckets.try_reserve(bucket, Ticket(0)) {
        places.push(place);
        assert!(places.len() <= 1_000, "no end of places");
    }
    places.len()
}

fn busy(buckets: &Buckets, bucket: &str) -> Busy {
    buckets.try_reserve(bucket, Ticket(0)).unwrap_err()
}
