//! What a call asked for, done in order once it has returned.

use jackfield_model::limits::DISPATCH_BYTES_MAX;
use jackfield_model::session::{Effect, Signal};
use jackfield_store::state::Write;

use super::super::queue::{is_of_socket, is_of_timer, say_cancelled};
use super::Actor;
use crate::inbound::Entry;

impl Actor {
    /// Does what a call asked for, in order.
    pub(super) fn apply(&mut self, effects: Vec<Effect>) {
        let via = self.via();
        let mut entries = Vec::new();
        for effect in effects {
            match effect {
                Effect::Submit { dispatch, mark } => entries.push(Entry::Dispatch { dispatch, mark, via }),
                Effect::StateSet { key, value } => entries.push(Entry::State(Write::Set { key, value })),
                Effect::StateDelete { key } => entries.push(Entry::State(Write::Delete { key })),
                Effect::Open { label, request } => {
                    self.forget_again(|signal| is_of_socket(signal, &label));
                    self.sockets.open(label, request, &mut self.queue);
                }
                Effect::Send { label, message, secrets } => {
                    self.sockets.send(&label, message, secrets, &mut self.queue);
                }
                Effect::Close { label, code, reason } => {
                    self.forget_again(|signal| is_of_socket(signal, &label));
                    self.sockets.close(&label, code, reason, &mut self.queue);
                }
                Effect::SetTimer { label, after } => {
                    self.forget_again(|signal| is_of_timer(signal, &label));
                    self.queue.forget_timer(&label);
                    self.timers.set(label, self.setup.clock.monotonic() + after);
                }
                Effect::CancelTimer { label } => {
                    self.forget_again(|signal| is_of_timer(signal, &label));
                    self.queue.forget_timer(&label);
                    self.timers.cancel(&label);
                }
                Effect::Fetch { label, request } => self.fetches.start(label, request),
                Effect::CancelFetch { label } => self.cancel_fetch(&label),
                Effect::Report(condition) => self.setup.facts.condition(condition),
                Effect::StartsLeft { remaining, resets_in } => self.setup.starts.platform_left(remaining, resets_in),
                Effect::Metadata(patch) => self.metadata(&patch),
                Effect::TooLarge { kind, lane, bytes } => self.too_large(&kind, &lane, bytes),
            }
        }
        self.setup.inbound.submit(entries);
    }

    /// What a failed call was told and is still to be told again loses what was taken back.
    fn forget_again(&mut self, taken_back: impl Fn(&Signal) -> bool) {
        if self.again.front().is_some_and(&taken_back) {
            self.failures = 0;
        }
        self.again.retain(|signal| !taken_back(signal));
    }

    /// Gives a request up. One that has ended and was not told yet says `cancelled` too.
    fn cancel_fetch(&mut self, label: &str) {
        if self.fetches.cancel(label, &mut self.queue) {
            return;
        }
        self.queue.cancel_fetched(label);
        self.again.iter_mut().for_each(|signal| say_cancelled(signal, label));
    }

    /// The connector was told, and may have nothing better to do than to go on.
    fn too_large(&self, kind: &str, lane: &str, bytes: usize) {
        let connection = &self.setup.spec.id;
        tracing::warn!(%connection, kind, lane, bytes, limit = DISPATCH_BYTES_MAX, "dispatch too large, not kept");
        self.setup.facts.dropped("dispatch-too-large");
    }

    fn metadata(&self, patch: &str) {
        // The engine has checked that it is an object.
        if let Ok(serde_json::Value::Object(patch)) = serde_json::from_str(patch) {
            self.setup.facts.metadata(patch);
        }
    }
}
