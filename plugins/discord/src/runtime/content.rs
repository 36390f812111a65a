//! Notices when guild messages arrive without their text: the MESSAGE_CONTENT intent is missing.

use jackfield_sdk::runtime::Notice;
use serde::{Deserialize, Serialize};

use crate::config::MESSAGE_CONTENT;
use crate::transform::Message;
use crate::wire::Id;

/// So many in a row are no accident: nobody can send a message with nothing in it.
const WITHHELD_MAX: u8 = 5;

/// How the last guild messages looked.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ContentWatch {
    withheld: u8,
    noticed: bool,
}

/// What changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// Somebody has to know.
    Withheld,
    /// It is over.
    Readable,
}

impl ContentWatch {
    /// Looks at a new message. Says when something changed, once.
    pub(super) fn see(&mut self, message: &Message<'_>, me: Option<Id<'_>>) -> Option<Change> {
        if message.is_withheld(me, None) {
            self.withheld = self.withheld.saturating_add(1);
            let first = self.withheld >= WITHHELD_MAX && !self.noticed;
            self.noticed |= first;
            return first.then_some(Change::Withheld);
        }
        if message.shows_content(me) {
            self.withheld = 0;
            return std::mem::take(&mut self.noticed).then_some(Change::Readable);
        }
        None
    }

    /// Whether somebody was told, and it is not over.
    pub(super) fn is_noticed(&self) -> bool {
        self.noticed
    }

    /// A new session: whatever it was may have been fixed.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}

/// What operators see.
pub(super) fn notice(intents: u32) -> Notice {
    let todo = if intents & MESSAGE_CONTENT == 0 {
        "Add 32768 (MESSAGE_CONTENT) to config.intents, and switch on Message Content Intent in the developer portal \
         (Bot, Privileged Gateway Intents)."
    } else {
        "Switch on Message Content Intent in the developer portal (Bot, Privileged Gateway Intents)."
    };
    Notice::new("message-content-withheld", "Messages in guilds arrive without their text.").todo(todo)
}
