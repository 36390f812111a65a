//! Who and what refuses the bot: people who take no direct messages, channels that it can't see or write in.

use std::collections::BTreeSet;

use http::StatusCode;

use super::reply::Reply;
use crate::discord::script::Rest;
use crate::discord::snowflake::Id;
use crate::discord::world::{Channel, World};

#[derive(Debug, Default)]
pub(crate) struct Refusals {
    closed_dms: BTreeSet<Id>,
    no_access: BTreeSet<Id>,
    no_send: BTreeSet<Id>,
}

impl Refusals {
    pub(crate) fn new(rest: &Rest) -> Self {
        let set = |ids: &[Id]| ids.iter().copied().collect();
        Self { closed_dms: set(&rest.closed_dms), no_access: set(&rest.no_access), no_send: set(&rest.no_send) }
    }

    pub(crate) fn close_dms(&mut self, user: Id) {
        self.closed_dms.insert(user);
    }

    pub(crate) fn open_dms(&mut self, user: Id) {
        self.closed_dms.remove(&user);
    }

    pub(crate) fn deny_access(&mut self, channel: Id) {
        self.no_access.insert(channel);
    }

    pub(crate) fn deny_send(&mut self, channel: Id) {
        self.no_send.insert(channel);
    }

    pub(crate) fn allow(&mut self, channel: Id) {
        self.no_access.remove(&channel);
        self.no_send.remove(&channel);
    }

    /// The channel, if it is there and the bot sees it.
    pub(crate) fn visible<'a>(&self, channel: Id, world: &'a World) -> Result<&'a Channel, Reply> {
        let found = world.channel(channel).ok_or_else(Reply::unknown_channel)?;
        if self.no_access.contains(&channel) { Err(Reply::missing_access()) } else { Ok(found) }
    }

    /// The channel, if the bot may write in it.
    pub(crate) fn writable<'a>(&self, channel: Id, world: &'a World) -> Result<&'a Channel, Reply> {
        let found = self.visible(channel, world)?;
        if self.no_send.contains(&channel) {
            return Err(Reply::missing_permissions());
        }
        if found.recipient.is_some_and(|recipient| self.closed_dms.contains(&recipient)) {
            return Err(Reply::no_direct_messages(StatusCode::FORBIDDEN));
        }
        Ok(found)
    }
}
