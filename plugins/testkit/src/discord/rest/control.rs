//! What a test does to the REST API of a running double.

use serde_json::Value;

use crate::discord::double::Double;
use crate::discord::payload;
use crate::discord::script::{Action, Limits, RestFault};
use crate::discord::snowflake::Id;

impl Double {
    /// Lets something go wrong with REST requests, after the faults that were asked for before.
    pub fn rest_fault(&self, fault: RestFault) {
        self.perform(&Action::RestFault(fault));
    }

    /// Forgets the faults that have not happened yet.
    pub fn rest_recover(&self) {
        self.perform(&Action::RestRecover {});
    }

    /// Sets the limits of REST requests. Every window begins anew.
    pub fn limit_rest(&self, limits: Limits) {
        self.perform(&Action::RestLimits(limits));
    }

    /// Lets somebody refuse direct messages of the bot: 403 with code 50007.
    pub fn close_dms(&self, user: Id) {
        self.perform(&Action::CloseDms { user });
    }

    /// Lets somebody take them again.
    pub fn open_dms(&self, user: Id) {
        self.perform(&Action::OpenDms { user });
    }

    /// Hides a channel from the bot: 403 with code 50001.
    pub fn deny_access(&self, channel: Id) {
        self.perform(&Action::DenyAccess { channel });
    }

    /// Forbids the bot to write in a channel: 403 with code 50013.
    pub fn deny_send(&self, channel: Id) {
        self.perform(&Action::DenySend { channel });
    }

    /// Gives the bot back what it may do in a channel.
    pub fn allow(&self, channel: Id) {
        self.perform(&Action::Allow { channel });
    }

    /// The roles of a guild beside `@everyone`, which has the guild's own id.
    #[must_use]
    pub fn roles(&self, guild: Id) -> Vec<Id> {
        let state = self.shared.lock();
        state.world.guild(guild).map(|guild| guild.roles.iter().map(|role| role.id).collect()).unwrap_or_default()
    }

    /// The messages of a channel as they are now, oldest first, as the REST API shows them to who may read everything.
    #[must_use]
    pub fn history(&self, channel: Id) -> Vec<Value> {
        let state = self.shared.lock();
        let messages = state.world.channel(channel).into_iter().flat_map(|channel| channel.history());
        messages.map(|message| payload::rest_message(message.body(true))).collect()
    }
}
