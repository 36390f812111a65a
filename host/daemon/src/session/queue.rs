//! Signals that wait for the next call.
//!
//! Marks have a way of their own: they never queue behind a backlog, and a thousand of them are one signal.

use std::collections::VecDeque;

use jackfield_model::Fault;
use jackfield_model::limits::{CALL_SIGNAL_BYTES_MAX, CALL_SIGNALS_MAX};
use jackfield_model::session::Signal;

/// Marks in one signal. A connector may answer each with a frame of its own, and so with an effect: with a full batch of
/// signals beside them there is room for that below the ceiling of one call's effects.
const MARKS_MAX: usize = 64;

/// What has happened and was not told yet, oldest first.
#[derive(Default)]
pub(super) struct Queue {
    signals: VecDeque<Signal>,
    bytes: usize,
    marks: Vec<String>,
}

impl Queue {
    /// Something happened.
    pub(super) fn push(&mut self, signal: Signal) {
        self.bytes += signal.weight();
        self.signals.push_back(signal);
    }

    /// Dispatches are settled.
    pub(super) fn marks(&mut self, marks: Vec<String>) {
        if self.marks.is_empty() {
            self.marks = marks;
        } else {
            self.marks.extend(marks);
        }
    }

    /// Labels of requests whose end is not told yet.
    pub(super) fn fetched(&self) -> impl Iterator<Item = &String> {
        self.signals
            .iter()
            .filter_map(|signal| if let Signal::Fetched { label, .. } = signal { Some(label) } else { None })
    }

    /// Room for another message: one call's worth waits at most.
    pub(super) fn has_room(&self) -> bool {
        self.signals.len() < CALL_SIGNALS_MAX && self.bytes < CALL_SIGNAL_BYTES_MAX
    }

    /// Nothing to tell.
    pub(super) fn is_empty(&self) -> bool {
        self.signals.is_empty() && self.marks.is_empty()
    }

    /// What the next call is told: marks, then what fits, or one larger message alone.
    pub(super) fn take(&mut self) -> Vec<Signal> {
        let mut batch = Vec::with_capacity(self.signals.len().min(CALL_SIGNALS_MAX) + 1);
        let mut bytes = 0;
        if !self.marks.is_empty() {
            let rest = self.marks.split_off(self.marks.len().min(MARKS_MAX));
            let told = Signal::Committed(std::mem::replace(&mut self.marks, rest));
            bytes += told.weight();
            batch.push(told);
        }
        while let Some(signal) = self.signals.front() {
            let weight = signal.weight();
            let fits = batch.len() < CALL_SIGNALS_MAX && bytes + weight <= CALL_SIGNAL_BYTES_MAX;
            if !batch.is_empty() && !fits {
                break;
            }
            bytes += weight;
            batch.extend(self.signals.pop_front());
        }
        self.weigh();
        batch
    }

    /// The socket of this label was replaced or closed by the connector: what it still had to say is taken back.
    /// Whether its end was among it.
    pub(super) fn forget_socket(&mut self, of: &str) -> bool {
        let ended = self.signals.iter().any(|signal| matches!(signal, Signal::Closed { label, .. } if label == of));
        self.retain(|signal| !is_of_socket(signal, of));
        ended
    }

    /// The timer of this label was replaced or cancelled.
    pub(super) fn forget_timer(&mut self, of: &str) {
        self.retain(|signal| !is_of_timer(signal, of));
    }

    /// The request of this label was given up: however it ended, that is told.
    pub(super) fn cancel_fetched(&mut self, of: &str) {
        self.signals.iter_mut().for_each(|signal| say_cancelled(signal, of));
        self.weigh();
    }

    fn retain(&mut self, keep: impl Fn(&Signal) -> bool) {
        self.signals.retain(keep);
        self.weigh();
    }

    fn weigh(&mut self) {
        self.bytes = self.signals.iter().map(Signal::weight).sum();
    }
}

/// Whether a signal is about the socket of this label.
pub(super) fn is_of_socket(signal: &Signal, of: &str) -> bool {
    match signal {
        Signal::Opened(label) | Signal::Held(label) | Signal::Flowing(label) => label == of,
        Signal::Message { label, .. } | Signal::Closed { label, .. } => label == of,
        _ => false,
    }
}

/// Whether a signal is about the timer of this label.
pub(super) fn is_of_timer(signal: &Signal, of: &str) -> bool {
    matches!(signal, Signal::Elapsed(label) if label == of)
}

/// The end of the request of this label says `cancelled` from now on.
pub(super) fn say_cancelled(signal: &mut Signal, of: &str) {
    if let Signal::Fetched { label, outcome } = signal
        && label == of
    {
        *outcome = Err(Fault::Cancelled);
    }
}

#[cfg(test)]
mod tests {
    use jackfield_model::wire::HttpResponse;

    use super::*;

    fn message(bytes: usize) -> Signal {
        Signal::Message { label: "a".into(), message: "x".repeat(bytes).into() }
    }

    #[test]
    fn a_call_is_bounded_and_a_larger_message_comes_alone() {
        let mut queue = Queue::default();
        (0..100).for_each(|_| queue.push(message(1)));
        queue.push(message(CALL_SIGNAL_BYTES_MAX + 1));
        queue.push(message(1));
        let sizes: Vec<usize> = std::iter::from_fn(|| Some(queue.take().len()).filter(|n| *n > 0)).collect();
        assert_eq!(sizes, [64, 36, 1, 1]);
    }

    #[test]
    fn marks_overtake_the_backlog_as_one_signal() {
        let mut queue = Queue::default();
        queue.push(message(1));
        queue.marks(vec!["1".into()]);
        queue.marks(vec!["2".into(), "3".into()]);
        assert_eq!(queue.take(), [Signal::Committed(vec!["1".into(), "2".into(), "3".into()]), message(1)]);
    }

    #[test]
    fn marks_come_in_portions_that_can_be_answered_one_by_one() {
        let mut queue = Queue::default();
        queue.marks((0..150).map(|n| n.to_string()).collect());
        let portions: Vec<usize> = std::iter::from_fn(|| match queue.take().as_slice() {
            [Signal::Committed(marks)] => Some(marks.len()),
            _ => None,
        })
        .collect();
        assert_eq!(portions, [64, 64, 22]);
    }

    #[test]
    fn what_was_replaced_is_taken_back() {
        let mut queue = Queue::default();
        queue.push(message(5));
        queue.push(Signal::Elapsed("beat".into()));
        queue.push(Signal::Opened("b".into()));
        assert!(!queue.forget_socket("a"));
        queue.forget_timer("beat");
        assert_eq!((queue.bytes, queue.take()), (0, vec![Signal::Opened("b".into())]));
    }

    #[test]
    fn a_request_that_is_given_up_says_so_however_it_ended() {
        let response = HttpResponse { status: 200, headers: Vec::new(), body: "x".repeat(9).as_str().into() };
        let fetched = |label: &str, outcome| Signal::Fetched { label: label.to_owned(), outcome };
        let mut queue = Queue::default();
        queue.push(fetched("a", Ok(response.clone())));
        queue.push(fetched("b", Ok(response.clone())));
        queue.cancel_fetched("a");
        assert_eq!(queue.fetched().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(queue.bytes, queue.signals.iter().map(Signal::weight).sum::<usize>());
        assert_eq!(queue.take(), [fetched("a", Err(Fault::Cancelled)), fetched("b", Ok(response))]);
    }
}
