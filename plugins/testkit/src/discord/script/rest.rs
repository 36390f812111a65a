//! What a script says of the REST API: its limits, what goes wrong with it, and who and what refuses the bot.

use serde::{Deserialize, Serialize};

use super::{Limits, RestFault};
use crate::discord::snowflake::Id;
use crate::discord::world::World;

/// Discord remembers an enforced nonce for "the past few minutes"; three is the least that this can mean.
const NONCE_WINDOW_MS: u64 = 180_000;

/// The REST API beside what it does of itself. The default: no limits, no faults, nobody refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rest {
    /// How many requests it takes.
    pub limits: Limits,
    /// What goes wrong from the start. Of several faults for one request the first with times left is done.
    pub faults: Vec<RestFault>,
    /// People who take no direct messages of the bot: 403 with code 50007.
    pub closed_dms: Vec<Id>,
    /// Channels that the bot can't see: 403 with code 50001, whatever it wants there.
    pub no_access: Vec<Id>,
    /// Channels in which the bot may not write: 403 with code 50013.
    pub no_send: Vec<Id>,
    /// How long a nonce of a message with `enforce_nonce` is remembered.
    pub nonce_window_ms: u64,
}

impl Default for Rest {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            faults: Vec::new(),
            closed_dms: Vec::new(),
            no_access: Vec::new(),
            no_send: Vec::new(),
            nonce_window_ms: NONCE_WINDOW_MS,
        }
    }
}

impl Rest {
    pub(crate) fn problems(&self) -> Vec<String> {
        let limits = self.limits.problems().into_iter().map(|problem| format!("`rest.limits`: {problem}"));
        let faults = self.faults.iter().enumerate().filter_map(|(index, fault)| {
            let problem = fault.problem()?;
            Some(format!("`rest.faults` {} (`{}`): {problem}", index + 1, fault.mishap.name()))
        });
        limits.chain(faults).collect()
    }

    /// Ids that nobody has. A list that names the wrong one would silently do nothing.
    pub(crate) fn strangers(&self, world: &World) -> Vec<String> {
        let people = self.closed_dms.iter().filter(|id| world.author(**id).is_none());
        let people = people.map(|id| format!("`rest.closed_dms` has {id}: nobody here has this id"));
        let channels = [("no_access", &self.no_access), ("no_send", &self.no_send)];
        let channels = channels.into_iter().flat_map(|(name, ids)| ids.iter().map(move |id| (name, id)));
        let channels = channels.filter(|(_, id)| world.channel(**id).is_none());
        people.chain(channels.map(|(name, id)| format!("`rest.{name}` has {id}: there is no such channel"))).collect()
    }

    pub(crate) fn names_anybody(&self) -> bool {
        !(self.closed_dms.is_empty() && self.no_access.is_empty() && self.no_send.is_empty())
    }
}
