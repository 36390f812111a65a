//! How many commands a connection may send: 120 a minute at Discord, then close code 4008.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

const COMMANDS_MAX: usize = 120;
const WINDOW: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct CommandWindow {
    recent: VecDeque<Instant>,
}

impl CommandWindow {
    /// Counts a command, and says whether it is within the limit.
    pub(crate) fn admits(&mut self, now: Instant) -> bool {
        while self.recent.front().is_some_and(|at| now.duration_since(*at) >= WINDOW) {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        self.recent.len() <= COMMANDS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn a_hundred_and_twenty_a_minute() {
        let start = clock::now();
        let mut window = CommandWindow::default();
        assert!((0..120).all(|_| window.admits(start)));
        assert!(!window.admits(start + Duration::from_secs(59)));
        assert!(window.admits(start + Duration::from_secs(60)));
    }
}
