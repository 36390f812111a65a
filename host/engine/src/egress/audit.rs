//! One line for everything that a connector sent, tried to send, or was refused: target `jackfield::egress`.
//!
//! A line says who, where to, which address, what was decided and why, how much and how long. It never carries a path, a
//! query, a header or a body: these carry secrets of platforms and people. Text from outside is masked, cut and freed
//! of control characters first.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jackfield_model::clock::{Monotonic, SharedClock};
use jackfield_model::{ConnectionId, Fault};

use super::tally::{Tally, add};
use crate::secret::Mask;

/// Longest text of a line that comes from outside, in characters.
const TEXT_CHARS_MAX: usize = 300;

/// What is known about one request or socket so far. Dropped before it was finished, it tells that nobody waited.
pub(super) struct Line<'a> {
    pub(super) tally: &'a Tally,
    pub(super) mask: &'a Mask,
    pub(super) connection: &'a ConnectionId,
    /// A method, or `socket`.
    pub(super) what: &'static str,
    pub(super) origin: String,
    pub(super) peer: Option<SocketAddr>,
    pub(super) status: Option<u16>,
    pub(super) sent: usize,
    pub(super) received: usize,
    /// The request may have reached the platform.
    pub(super) left: Departed,
    /// There was a secret in what came back.
    pub(super) masked: bool,
    watch: Stopwatch,
    written: bool,
}

/// A fault for the guest, and what the log is told besides.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) fault: Fault,
    pub(super) reason: String,
}

impl Failure {
    pub(super) fn unavailable(reason: impl Into<String>) -> Self {
        Self { fault: Fault::Unavailable(None), reason: reason.into() }
    }

    pub(super) fn unknown(guest: &str, reason: impl Into<String>) -> Self {
        Self { fault: Fault::Unknown(guest.to_owned()), reason: reason.into() }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self { reason: fault.to_string(), fault }
    }
}

impl<'a> Line<'a> {
    pub(super) fn new(
        tally: &'a Tally,
        mask: &'a Mask,
        connection: &'a ConnectionId,
        what: &'static str,
        clock: &SharedClock,
    ) -> Self {
        Self {
            tally,
            mask,
            connection,
            what,
            origin: "-".to_owned(),
            peer: None,
            status: None,
            sent: 0,
            received: 0,
            left: Departed::default(),
            masked: false,
            watch: Stopwatch::new(clock),
            written: false,
        }
    }

    /// Done as asked.
    pub(super) fn allowed(&mut self) {
        add(&self.tally.allowed, 1);
        self.write("allow", "granted");
    }

    /// Not done, or perhaps done.
    pub(super) fn failed(&mut self, failure: &Failure) {
        let (counter, decision) = match failure.fault {
            Fault::Unavailable(_) => (&self.tally.unavailable, "fail"),
            Fault::Unknown(_) | Fault::Cancelled => (&self.tally.unknown, "fail"),
            Fault::Invalid(_) | Fault::Denied(_) | Fault::Exhausted(_) => (&self.tally.denied, "deny"),
        };
        add(counter, 1);
        self.write(decision, &failure.reason);
    }

    fn write(&mut self, decision: &'static str, reason: &str) {
        self.written = true;
        add(&self.tally.masked, usize::from(self.masked));
        let (connection, what, origin) = (self.connection.as_str(), self.what, clean(&self.origin, self.mask));
        let (address, status) = (self.peer.map(tracing::field::display), self.status);
        let (sent, received, masked) = (if self.left.get() { self.sent } else { 0 }, self.received, self.masked);
        let duration_ms = self.watch.elapsed().as_millis();
        let reason = clean(reason, self.mask);
        if decision == "allow" {
            tracing::info!(
                target: "jackfield::egress",
                connection, what, origin, address, decision, reason, status, sent, received, masked, duration_ms
            );
        } else {
            tracing::warn!(
                target: "jackfield::egress",
                connection, what, origin, address, decision, reason, status, sent, received, masked, duration_ms
            );
        }
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if !self.written {
            let failure = Failure {
                fault: if self.left.get() { Fault::Cancelled } else { Fault::Unavailable(None) },
                reason: "nobody waited for it any more".to_owned(),
            };
            self.failed(&failure);
        }
    }
}

/// Whether a request may have reached the platform, as of now. Clones say the same, so whoever stops waiting for a request
/// still knows.
#[derive(Clone, Debug, Default)]
pub struct Departed(Arc<AtomicBool>);

impl Departed {
    /// It may have.
    #[must_use]
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn set(&self, left: bool) {
        self.0.store(left, Ordering::Release);
    }
}

/// Time since something began.
pub(super) struct Stopwatch {
    clock: SharedClock,
    begun: Monotonic,
}

impl Stopwatch {
    pub(super) fn new(clock: &SharedClock) -> Self {
        Self { clock: SharedClock::clone(clock), begun: clock.monotonic() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.clock.monotonic().saturating_duration_since(self.begun)
    }
}

/// Text from outside, fit for a log: masked, cut, and with everything that could move a cursor, break a line or turn the
/// reading direction written as an escape.
pub(super) fn clean(text: &str, mask: &Mask) -> String {
    let masked = mask.text(text);
    let mut cleaned = String::with_capacity(masked.len().min(TEXT_CHARS_MAX));
    for c in masked.chars().take(TEXT_CHARS_MAX) {
        if c.is_control() || is_invisible(c) {
            // Writing to a string can't fail.
            let _ = write!(cleaned, "{}", c.escape_unicode());
        } else {
            cleaned.push(c);
        }
    }
    if masked.chars().nth(TEXT_CHARS_MAX).is_some() {
        cleaned.push('…');
    }
    cleaned
}

/// Marks of direction, joiners and separators: they change how a line reads without being seen.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_can_not_drive_a_terminal() {
        let mask = Mask::default();
        assert_eq!(clean("a\u{1b}[31m\r\nb\u{202e}c", &mask), "a\\u{1b}[31m\\u{d}\\u{a}b\\u{202e}c");
        assert_eq!(clean(&"x".repeat(400), &mask).chars().count(), TEXT_CHARS_MAX + 1);
        assert_eq!(clean("straße 世界", &mask), "straße 世界");
    }
}
