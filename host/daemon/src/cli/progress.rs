//! What takes long, on a terminal: a line that says what is being done. Elsewhere the log says it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::printer::Printer;

/// How often a line moves.
const TICK: Duration = Duration::from_millis(100);

/// Shows progress on stderr where that is a terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A line of text.
    pub(crate) fn line(printer: Printer) -> Self {
        let bar = if printer.is_json() { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        bar.set_draw_target(if printer.is_json() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        });
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// Nothing is shown.
    #[must_use]
    pub fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// A bar up to `all`.
    #[cfg(feature = "demo")]
    pub(crate) fn bar(printer: Printer, all: u64) -> Self {
        let progress = Self::line(printer);
        progress.0.set_length(all);
        if let Ok(style) = ProgressStyle::with_template("{msg:28} [{bar:40}] {pos}/{len} {per_sec}") {
            progress.0.set_style(style);
        }
        progress
    }

    /// What is being done now.
    pub(crate) fn say(&self, what: impl Into<String>) {
        let what = what.into();
        tracing::debug!("{what}");
        self.0.set_message(what);
    }

    /// How far it is.
    #[cfg(feature = "demo")]
    pub(crate) fn at(&self, position: u64) {
        self.0.set_position(position);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
