//! Where a dispatch belongs, and what it is submitted with.

use crate::wire::Peek;

/// What has to stay in order: a conversation, else a guild, else a person, else the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    Channel(u64),
    Guild(u64),
    User(u64),
    Session,
}

impl Lane {
    /// The lane of a dispatch of this kind.
    pub(super) fn of(kind: &str, peek: &Peek<'_>) -> Self {
        let own = peek.id.map(|id| id.number());
        if let Some(channel) = peek.channel_id {
            return Self::Channel(channel.number());
        }
        match (own, peek.guild_id, peek.user.as_ref().and_then(|user| user.id)) {
            (Some(id), _, _) if is_channel(kind) => Self::Channel(id),
            (Some(id), _, _) if is_guild(kind) => Self::Guild(id),
            (_, Some(guild), _) => Self::Guild(guild.number()),
            (_, _, Some(user)) => Self::User(user.number()),
            _ => Self::Session,
        }
    }

    /// Its name.
    pub(super) fn name(self) -> String {
        match self {
            Self::Channel(id) => format!("channel:{id}"),
            Self::Guild(id) => format!("guild:{id}"),
            Self::User(id) => format!("user:{id}"),
            Self::Session => "session".to_owned(),
        }
    }
}

fn is_channel(kind: &str) -> bool {
    matches!(
        kind,
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "CHANNEL_DELETE" | "THREAD_CREATE" | "THREAD_UPDATE" | "THREAD_DELETE"
    )
}

fn is_guild(kind: &str) -> bool {
    matches!(kind, "GUILD_CREATE" | "GUILD_UPDATE" | "GUILD_DELETE")
}
