//! What guests say, on its way to the log: masked, on one line, without control characters, and not too much of it.
//!
//! A sink belongs to a connection and is shared by all its instances, so that a guest can't multiply its share. What is
//! over the share is dropped and counted; the next line that gets through carries the count.

mod neutral;
mod rate;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jackfield_model::clock::SharedClock;

pub(crate) use self::neutral::neutral;
use self::rate::Rate;

/// Longest message of one line, in bytes, after masking. The rest is cut off, marked with `…`.
pub const MESSAGE_BYTES_MAX: usize = 4 * 1024;

/// Most fields of one line.
pub const FIELDS_MAX: usize = 16;

/// Longest name or value of a field, in bytes.
pub const FIELD_BYTES_MAX: usize = 512;

/// How grave a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each variant is the word itself")]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// How a line came out of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// `log.write`.
    Log,
    /// Written to stdout.
    Stdout,
    /// Written to stderr.
    Stderr,
}

/// One line, fit for any log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How grave.
    pub level: Level,
    /// How it came out.
    pub source: Source,
    /// The text.
    pub message: String,
    /// Names and values, as the guest gave them.
    pub fields: Vec<(String, String)>,
    /// Lines that were dropped since the one before.
    pub dropped: u64,
}

/// Replaces secrets.
pub type Masker = dyn Fn(&str) -> String + Send + Sync;

/// Where a connection's lines go. Clones are the same sink.
#[derive(Clone)]
pub struct LogSink(Arc<Inner>);

struct Inner {
    rate: Rate,
    mask: Box<Masker>,
    write: Box<dyn Fn(Line) + Send + Sync>,
    /// Since the last line that got through.
    dropped: AtomicU64,
    /// Since ever.
    dropped_total: AtomicU64,
}

impl LogSink {
    /// A sink that masks with `mask` and hands what is left to `write`, which must not block.
    pub fn new(
        clock: SharedClock,
        mask: impl Fn(&str) -> String + Send + Sync + 'static,
        write: impl Fn(Line) + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Inner {
            rate: Rate::new(clock),
            mask: Box::new(mask),
            write: Box::new(write),
            dropped: AtomicU64::new(0),
            dropped_total: AtomicU64::new(0),
        }))
    }

    /// A sink that keeps nothing. For components that are only looked at.
    #[must_use]
    pub fn none(clock: SharedClock) -> Self {
        Self::new(clock, str::to_owned, |_| ())
    }

    /// Lines dropped so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.dropped_total.load(Ordering::Relaxed)
    }

    /// Writes a line, or counts it as dropped.
    pub(crate) fn write(&self, level: Level, source: Source, message: &str, fields: &[(String, String)]) {
        if !self.0.rate.admit() {
            return self.drop_lines(1);
        }
        let fields = fields.iter().take(FIELDS_MAX).map(|(name, value)| {
            (self.fit(name, FIELD_BYTES_MAX).into_owned(), self.fit(value, FIELD_BYTES_MAX).into_owned())
        });
        (self.0.write)(Line {
            level,
            source,
            message: self.fit(message, MESSAGE_BYTES_MAX).into_owned(),
            fields: fields.collect(),
            dropped: self.0.dropped.swap(0, Ordering::Relaxed),
        });
    }

    /// Counts lines that never became one.
    pub(crate) fn drop_lines(&self, count: u64) {
        self.0.dropped.fetch_add(count, Ordering::Relaxed);
        self.0.dropped_total.fetch_add(count, Ordering::Relaxed);
    }

    /// Masked first, so that no cut and no escape can hide a secret from the mask.
    pub(crate) fn fit<'a>(&self, text: &'a str, bytes_max: usize) -> Cow<'a, str> {
        let masked = (self.0.mask)(text);
        let masked = if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) };
        match masked {
            Cow::Borrowed(text) => neutral(text, bytes_max),
            Cow::Owned(text) => Cow::Owned(neutral(&text, bytes_max).into_owned()),
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
