//! Standard streams: what a guest prints becomes lines of the log.
//!
//! Wasmtime's own asynchronous stream is not used: in this version it grows with every empty write. This one holds at most
//! one unfinished line, and takes a bounded number of bytes in a call; what is over that is dropped and counted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use crate::log::{Level, LogSink, MESSAGE_BYTES_MAX, Source};

/// Bytes that one call may print to one stream.
const CALL_BYTES_MAX: usize = 64 * 1024;

/// The end of stderr that is kept for the report of a failure: interpreters put the reason of a trap nowhere else.
const TAIL_BYTES: usize = 2 * 1024;

/// Which stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Stdout,
    Stderr,
}

/// Both output streams of an instance.
pub(crate) struct Stdio {
    out: Arc<Mutex<Lines>>,
    err: Arc<Mutex<Lines>>,
    /// A stream was handed out: before that there is nothing to reset, finish or report. Most calls print nothing.
    used: bool,
}

impl Stdio {
    pub(super) fn new(log: LogSink) -> Self {
        let lines = |source| Arc::new(Mutex::new(Lines::new(log.clone(), source)));
        Self { out: lines(Source::Stdout), err: lines(Source::Stderr), used: false }
    }

    pub(super) fn stream(&mut self, output: Output) -> Stream {
        self.used = true;
        Stream(Arc::clone(match output {
            Output::Stdout => &self.out,
            Output::Stderr => &self.err,
        }))
    }

    /// A new call: a new share.
    pub(super) fn begin(&mut self) {
        if !self.used {
            return;
        }
        for lines in [&self.out, &self.err] {
            let mut lines = lock(lines);
            lines.left = CALL_BYTES_MAX;
            lines.tail.clear();
        }
    }

    /// The call is over: an unfinished line is a line.
    pub(crate) fn end(&mut self) {
        if !self.used {
            return;
        }
        for lines in [&self.out, &self.err] {
            lock(lines).finish();
        }
    }

    /// The end of what this call wrote to stderr.
    pub(crate) fn tail(&self) -> String {
        let mut lines = lock(&self.err);
        String::from_utf8_lossy(lines.tail.make_contiguous()).trim().to_owned()
    }
}

struct Lines {
    log: LogSink,
    source: Source,
    line: Vec<u8>,
    left: usize,
    tail: VecDeque<u8>,
}

impl Lines {
    fn new(log: LogSink, source: Source) -> Self {
        Self { log, source, line: Vec::new(), left: CALL_BYTES_MAX, tail: VecDeque::new() }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.source == Source::Stderr {
            let kept = bytes.get(bytes.len().saturating_sub(TAIL_BYTES)..).unwrap_or_default();
            let over = (self.tail.len() + kept.len()).saturating_sub(TAIL_BYTES);
            self.tail.drain(..over);
            self.tail.extend(kept);
        }
        let (taken, dropped) = bytes.split_at(bytes.len().min(self.left));
        self.left -= taken.len();
        for &byte in taken {
            if byte == b'\n' {
                self.finish();
            } else {
                self.line.push(byte);
                if self.line.len() >= MESSAGE_BYTES_MAX {
                    self.finish();
                }
            }
        }
        if !dropped.is_empty() {
            self.log.drop_lines(1 + dropped.iter().filter(|&&b| b == b'\n').count() as u64);
        }
    }

    fn finish(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if !line.is_empty() {
            let level = if self.source == Source::Stderr { Level::Warn } else { Level::Info };
            self.log.write(level, self.source, &String::from_utf8_lossy(line), &[]);
        }
    }
}

fn lock(lines: &Mutex<Lines>) -> MutexGuard<'_, Lines> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One handle to an output stream.
pub(super) struct Stream(Arc<Mutex<Lines>>);

#[async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        lock(&self.0).write(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    /// Never 0, or a guest would wait for room that never comes; what is over the share is dropped instead.
    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(CALL_BYTES_MAX)
    }

    /// Without this the zeroes would be made before anybody counts them.
    fn write_zeroes(&mut self, count: usize) -> StreamResult<()> {
        if count > CALL_BYTES_MAX {
            return Err(StreamError::trap("more zeroes than were permitted"));
        }
        self.write(Bytes::from(vec![0; count]))
    }
}

/// Stdin.
pub(super) struct Closed;

#[async_trait]
impl Pollable for Closed {
    async fn ready(&mut self) {}
}

impl InputStream for Closed {
    fn read(&mut self, _: usize) -> StreamResult<Bytes> {
        Err(StreamError::Closed)
    }
}
