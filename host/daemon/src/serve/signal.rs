//! Signals: the first asks for an end in order, the second ends at once.

use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT.
pub(crate) struct Ending {
    terminate: Signal,
    interrupt: Signal,
}

impl Ending {
    /// From now on these signals end nothing by themselves.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next one, and says which.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    /// Waits for the first one.
    pub(crate) fn first(mut self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            self.next().await;
        })
    }
}
