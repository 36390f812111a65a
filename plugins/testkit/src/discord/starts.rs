//! How often a bot may identify: the budget a day, and the pace within it.
//!
//! After Discord's pages "Session Start Limit Object" and "Identifying": who goes over the daily budget loses every session
//! and the token; who goes over the pace gets opcode 9.

use std::collections::BTreeMap;

use super::script::SessionStarts;

#[derive(Debug)]
pub(crate) struct StartLimit {
    settings: SessionStarts,
    remaining: u32,
    resets_at_ms: u64,
    /// When each bucket (shard id modulo max_concurrency) last started a session.
    last: BTreeMap<u64, u64>,
}

/// What becomes of an identify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Granted,
    TooSoon,
    /// The budget is used up: the token is reset.
    Exhausted,
}

impl StartLimit {
    pub(crate) fn new(settings: SessionStarts) -> Self {
        Self { remaining: settings.remaining, resets_at_ms: settings.reset_after_ms, last: BTreeMap::new(), settings }
    }

    pub(crate) fn start(&mut self, shard: u64, now_ms: u64) -> Start {
        self.refill(now_ms);
        let bucket = shard % u64::from(self.settings.max_concurrency.max(1));
        let since = self.last.get(&bucket).map(|last| now_ms.saturating_sub(*last));
        let too_soon = since.is_some_and(|since| since < self.settings.every_ms);
        if self.remaining == 0 {
            return Start::Exhausted;
        }
        self.remaining -= 1;
        if too_soon {
            return Start::TooSoon;
        }
        self.last.insert(bucket, now_ms);
        Start::Granted
    }

    pub(crate) fn remaining(&mut self, now_ms: u64) -> u32 {
        self.refill(now_ms);
        self.remaining
    }

    pub(crate) fn reset_after_ms(&self, now_ms: u64) -> u64 {
        self.resets_at_ms.saturating_sub(now_ms)
    }

    fn refill(&mut self, now_ms: u64) {
        if now_ms >= self.resets_at_ms {
            self.remaining = self.settings.total;
            self.resets_at_ms = now_ms + self.settings.reset_after_ms.max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(remaining: u32, every_ms: u64) -> StartLimit {
        StartLimit::new(SessionStarts { total: 5, remaining, reset_after_ms: 1000, max_concurrency: 2, every_ms })
    }

    #[test]
    fn counts_down_and_then_resets_the_token() {
        let mut limit = limit(2, 0);
        assert_eq!([0, 1, 2].map(|at| limit.start(0, at)), [Start::Granted, Start::Granted, Start::Exhausted]);
        assert_eq!(limit.reset_after_ms(400), 600);
        assert_eq!(limit.remaining(1000), 5);
    }

    #[test]
    fn paces_each_bucket() {
        let mut limit = limit(5, 100);
        assert_eq!(limit.start(0, 0), Start::Granted);
        assert_eq!(limit.start(1, 10), Start::Granted);
        assert_eq!(limit.start(2, 50), Start::TooSoon);
        assert_eq!(limit.start(2, 100), Start::Granted);
    }
}
