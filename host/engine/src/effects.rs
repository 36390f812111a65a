//! What a call has asked for so far. Done when the call has returned, forgotten when it fails.

use jackfield_model::Fault;
use jackfield_model::session::Effect;

use crate::failure::Stop;
use crate::limits::{CALL_EFFECT_BYTES_MAX, CALL_EFFECTS_MAX, LABEL_BYTES_MAX};

/// The effects of one call, in order.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    list: Vec<Effect>,
    bytes: usize,
}

impl Effects {
    /// Adds one that weighs `bytes`. Over the ceiling the guest is looping: that is no fault that it could act on.
    pub(crate) fn push(&mut self, effect: Effect, bytes: usize) -> Result<(), Stop> {
        if self.list.len() >= CALL_EFFECTS_MAX {
            return Err(Stop::Budget { which: "effects", limit: CALL_EFFECTS_MAX });
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > CALL_EFFECT_BYTES_MAX {
            return Err(Stop::Budget { which: "effect bytes", limit: CALL_EFFECT_BYTES_MAX });
        }
        self.list.push(effect);
        Ok(())
    }

    /// Whether it has asked for nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes them all.
    pub(crate) fn take(&mut self) -> Vec<Effect> {
        std::mem::take(self).list
    }
}

/// A name that a guest gives to something of its own.
pub(crate) fn label(what: &str, text: &str) -> Result<(), Fault> {
    if text.is_empty() || text.len() > LABEL_BYTES_MAX {
        return Err(Fault::Invalid(format!("{what}: use 1 to {LABEL_BYTES_MAX} bytes")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_and_bytes_are_bounded() {
        let effect = || Effect::CancelTimer { label: String::new() };
        let mut effects = Effects::default();
        for _ in 0..CALL_EFFECTS_MAX {
            effects.push(effect(), 0).unwrap();
        }
        assert!(matches!(effects.push(effect(), 0), Err(Stop::Budget { which: "effects", .. })));
        assert_eq!(effects.take().len(), CALL_EFFECTS_MAX);
        effects.push(effect(), CALL_EFFECT_BYTES_MAX).unwrap();
        assert!(matches!(effects.push(effect(), 1), Err(Stop::Budget { which: "effect bytes", .. })));
    }
}
