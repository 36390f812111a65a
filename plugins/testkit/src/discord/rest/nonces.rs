//! Nonces that make one message: `enforce_nonce`.
//!
//! After Discord's documentation: a message by the same author with the same nonce within "the past few minutes" is returned in
//! place of making another. The author is what counts, not the channel: who uses a nonce again elsewhere says nothing there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::discord::dispatch::Dispatch;

/// How many are remembered at most. Ten minutes of the fastest bot.
const NONCES_MAX: usize = 32_768;

/// The nonces of the bot's own messages; it is the only author over REST.
#[derive(Debug)]
pub(crate) struct Nonces {
    window_ms: u64,
    made: BTreeMap<String, Arc<Dispatch>>,
    oldest: VecDeque<(u64, String)>,
}

impl Nonces {
    pub(crate) fn new(window_ms: u64) -> Self {
        Self { window_ms, made: BTreeMap::new(), oldest: VecDeque::new() }
    }

    /// The message that was made with this nonce not long ago.
    pub(crate) fn made(&mut self, nonce: &str, now_ms: u64) -> Option<Arc<Dispatch>> {
        while self.oldest.front().is_some_and(|(at, _)| now_ms.saturating_sub(*at) >= self.window_ms) {
            self.forget_oldest();
        }
        self.made.get(nonce).cloned()
    }

    pub(crate) fn remember(&mut self, nonce: String, message: Arc<Dispatch>, now_ms: u64) {
        if self.oldest.len() >= NONCES_MAX {
            self.forget_oldest();
        }
        self.oldest.push_back((now_ms, nonce.clone()));
        self.made.insert(nonce, message);
    }

    fn forget_oldest(&mut self) {
        if let Some((_, nonce)) = self.oldest.pop_front() {
            self.made.remove(&nonce);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discord::dispatch::Scope;

    fn message() -> Arc<Dispatch> {
        Arc::new(Dispatch::new("MESSAGE_CREATE".into(), "{}".to_owned(), Scope::default()))
    }

    #[test]
    fn a_nonce_is_remembered_for_a_while() {
        let mut nonces = Nonces::new(1000);
        nonces.remember("a".to_owned(), message(), 50);
        assert!(nonces.made("a", 1049).is_some() && nonces.made("b", 1049).is_none());
        assert!(nonces.made("a", 1050).is_none());
        assert!(nonces.oldest.is_empty() && nonces.made.is_empty());
    }

    #[test]
    fn the_oldest_make_room() {
        let mut nonces = Nonces::new(u64::MAX);
        for number in 0..=NONCES_MAX {
            nonces.remember(number.to_string(), message(), 0);
        }
        assert_eq!(nonces.made.len(), NONCES_MAX);
        assert!(nonces.made("0", 0).is_none() && nonces.made("1", 0).is_some());
    }
}
