//! The order in which calls were taken, which is the order in which they begin.
//!
//! Between the two lies the ledger, and tasks that run side by side: without this a call could begin before one that was taken
//! earlier. Whoever has begun, or never will, is not waited for. What happens after that is up to the calls: those that run
//! at the same time reach their buckets in whatever order, and there they wait in the order of their tickets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::buckets::Ticket;

/// Calls of one connection that were taken and have not begun.
#[derive(Default)]
pub(super) struct Arrivals(Arc<Mutex<Line>>);

#[derive(Default)]
struct Line {
    tickets: u64,
    waiting: BTreeMap<Ticket, Arc<Notify>>,
}

/// A call that was taken. It stands in the line until it leaves or is dropped.
pub(super) struct Arrival {
    line: Arc<Mutex<Line>>,
    ticket: Ticket,
    bell: Arc<Notify>,
}

impl Arrivals {
    /// One more, behind all others.
    pub(super) fn arrive(&self) -> Arrival {
        let bell = Arc::new(Notify::new());
        let mut line = lock(&self.0);
        let ticket = Ticket(line.tickets);
        line.tickets += 1;
        line.waiting.insert(ticket, Arc::clone(&bell));
        Arrival { line: Arc::clone(&self.0), ticket, bell }
    }
}

impl Arrival {
    pub(super) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Waits until nobody stands before it. At once for one that has left.
    pub(super) async fn first(&self) {
        while lock(&self.line).waiting.range(..=self.ticket).count() > 1 {
            self.bell.notified().await;
        }
    }

    /// Holds nobody up any more.
    pub(super) fn leave(&self) {
        let mut line = lock(&self.line);
        if line.waiting.remove(&self.ticket).is_some()
            && let Some((_, bell)) = line.waiting.first_key_value()
        {
            bell.notify_one();
        }
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.leave();
    }
}

fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::{FutureExt as _, poll};

    use super::*;

    #[tokio::test]
    async fn who_was_taken_first_begins_first() {
        let arrivals = Arrivals::default();
        let [one, two, three] = [(); 3].map(|()| arrivals.arrive());
        let (mut second, mut third) = (pin!(two.first()), pin!(three.first()));
        assert!(poll!(&mut third).is_pending() && poll!(&mut second).is_pending());
        one.first().await;
        one.leave();
        assert!(poll!(&mut second).is_ready());
        assert!(poll!(&mut third).is_pending());
        one.leave();
        assert!(poll!(&mut third).is_pending(), "who left twice lets nobody else by");
        two.leave();
        third.await;
    }

    #[tokio::test]
    async fn nobody_waits_for_one_that_never_begins() {
        let arrivals = Arrivals::default();
        let [one, two, three] = [(); 3].map(|()| arrivals.arrive());
        let mut third = pin!(three.first());
        assert!(poll!(&mut third).is_pending());
        drop(two);
        assert!(poll!(&mut third).is_pending());
        drop(one);
        third.await;
        three.leave();
        assert!(three.first().now_or_never().is_some(), "who left waits for nobody");
        let four = arrivals.arrive();
        assert_eq!(four.ticket(), Ticket(3));
        four.first().await;
    }
}
