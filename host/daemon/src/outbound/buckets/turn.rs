//! Waiting for one's turn.

use std::sync::Arc;

use jackfield_model::clock::Monotonic;
use tokio::sync::Notify;

use super::bucket::Look;
use super::place::Place;
use super::queue::Key;
use super::{Busy, Shared, Ticket};

/// Waits for a place. It is taken while this is polled, so a waiter that is dropped before has none to lose.
pub(super) async fn turn(shared: &Arc<Shared>, bucket: &str, ticket: Ticket, until: Monotonic) -> Result<Place, Busy> {
    let bell = Arc::new(Notify::new());
    let (bucket, key) = shared.table(|table, now| table.enter(bucket, (ticket, until), bell.clone(), now))?;
    let waiter = Waiter { shared, bucket, key };
    loop {
        let (look, at) = shared.table(|table, now| (table.look(&waiter.bucket, key, now), now.at));
        let until = match look {
            Look::Go(granted) => return Ok(Place::new(shared.clone(), waiter.bucket.clone(), granted)),
            Look::Over(busy) => return Err(busy),
            Look::Wait(until) => until,
        };
        tokio::select! {
            // It keeps a ring that came between the look and here.
            () = bell.notified() => {}
            () = (shared.timer)(until.saturating_duration_since(at)) => {}
        }
    }
}

/// Stands in the queue; out of it when dropped.
struct Waiter<'a> {
    shared: &'a Shared,
    bucket: Arc<str>,
    key: Key,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.shared.table(|table, now| table.leave(&self.bucket, self.key, now));
    }
}
