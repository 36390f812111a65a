//! Messages over REST: reading a channel's history, saying something, and changing what was said.

mod create;
mod draft;
mod edit;
mod list;

pub(crate) use create::create;
pub(crate) use edit::edit;
pub(crate) use list::{get, list};

use crate::discord::intents::Intents;
use crate::discord::state::State;

/// Whether the application may read what people wrote: the REST API asks the application's settings, not a session's intents.
fn reads_content(state: &State) -> bool {
    !Intents(state.script.disallowed_intents).message_content()
}
