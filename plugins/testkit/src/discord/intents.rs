//! Intents: which dispatches a session asked for, and whether it sees what people wrote.
//!
//! After Discord's page "Gateway Intents". A kind that the page does not list is sent to everybody, as Discord does with
//! `INTERACTION_CREATE` and others.

/// The `intents` number of an identify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Intents(pub(crate) u64);

const GUILDS: u64 = 1 << 0;
const GUILD_MEMBERS: u64 = 1 << 1;
const GUILD_MODERATION: u64 = 1 << 2;
const GUILD_EXPRESSIONS: u64 = 1 << 3;
const GUILD_INTEGRATIONS: u64 = 1 << 4;
const GUILD_WEBHOOKS: u64 = 1 << 5;
const GUILD_INVITES: u64 = 1 << 6;
const GUILD_VOICE_STATES: u64 = 1 << 7;
const GUILD_PRESENCES: u64 = 1 << 8;
const GUILD_MESSAGES: u64 = 1 << 9;
const GUILD_MESSAGE_REACTIONS: u64 = 1 << 10;
const GUILD_MESSAGE_TYPING: u64 = 1 << 11;
const DIRECT_MESSAGES: u64 = 1 << 12;
const DIRECT_MESSAGE_REACTIONS: u64 = 1 << 13;
const DIRECT_MESSAGE_TYPING: u64 = 1 << 14;
const MESSAGE_CONTENT: u64 = 1 << 15;
const GUILD_SCHEDULED_EVENTS: u64 = 1 << 16;
const AUTO_MODERATION_CONFIGURATION: u64 = 1 << 20;
const AUTO_MODERATION_EXECUTION: u64 = 1 << 21;
const GUILD_MESSAGE_POLLS: u64 = 1 << 24;
const DIRECT_MESSAGE_POLLS: u64 = 1 << 25;

/// Every bit that means something: 0 to 16, 20, 21, 24, 25.
const KNOWN: u64 =
    0x1_FFFF | AUTO_MODERATION_CONFIGURATION | AUTO_MODERATION_EXECUTION | GUILD_MESSAGE_POLLS | DIRECT_MESSAGE_POLLS;

/// Those that must be switched on for an application first; close code 4014 otherwise.
pub(crate) const PRIVILEGED: u64 = GUILD_MEMBERS | GUILD_PRESENCES | MESSAGE_CONTENT;

impl Intents {
    /// Whether all bits mean something. Close code 4013 otherwise.
    pub(crate) const fn valid(self) -> bool {
        self.0 & !KNOWN == 0
    }

    pub(crate) const fn includes_any(self, bits: u64) -> bool {
        self.0 & bits != 0
    }

    pub(crate) const fn message_content(self) -> bool {
        self.includes_any(MESSAGE_CONTENT)
    }
}

/// The bits of which a session needs at least one to be sent a dispatch of this kind; `None` when everybody gets it.
pub(crate) fn needed_for(kind: &str, in_guild: bool) -> Option<u64> {
    let by_place = |guild, direct| if in_guild { guild } else { direct };
    let needed = match kind {
        "GUILD_CREATE" | "GUILD_UPDATE" | "GUILD_DELETE" => GUILDS,
        "CHANNEL_PINS_UPDATE" => by_place(GUILDS, DIRECT_MESSAGES),
        "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" | "GUILD_MEMBER_REMOVE" | "THREAD_MEMBERS_UPDATE" => GUILD_MEMBERS,
        "GUILD_AUDIT_LOG_ENTRY_CREATE" | "GUILD_BAN_ADD" | "GUILD_BAN_REMOVE" => GUILD_MODERATION,
        "GUILD_EMOJIS_UPDATE" | "GUILD_STICKERS_UPDATE" => GUILD_EXPRESSIONS,
        "GUILD_INTEGRATIONS_UPDATE" => GUILD_INTEGRATIONS,
        "WEBHOOKS_UPDATE" => GUILD_WEBHOOKS,
        "INVITE_CREATE" | "INVITE_DELETE" => GUILD_INVITES,
        "VOICE_STATE_UPDATE" | "VOICE_CHANNEL_EFFECT_SEND" => GUILD_VOICE_STATES,
        "PRESENCE_UPDATE" => GUILD_PRESENCES,
        "TYPING_START" => by_place(GUILD_MESSAGE_TYPING, DIRECT_MESSAGE_TYPING),
        "AUTO_MODERATION_ACTION_EXECUTION" => AUTO_MODERATION_EXECUTION,
        _ => return needed_by_family(kind, in_guild),
    };
    Some(needed)
}

fn needed_by_family(kind: &str, in_guild: bool) -> Option<u64> {
    const FAMILIES: [(&str, u64, u64); 11] = [
        ("MESSAGE_REACTION_", GUILD_MESSAGE_REACTIONS, DIRECT_MESSAGE_REACTIONS),
        ("MESSAGE_POLL_", GUILD_MESSAGE_POLLS, DIRECT_MESSAGE_POLLS),
        ("MESSAGE_", GUILD_MESSAGES, DIRECT_MESSAGES),
        ("GUILD_ROLE_", GUILDS, GUILDS),
        ("CHANNEL_", GUILDS, GUILDS),
        ("THREAD_", GUILDS, GUILDS),
        ("STAGE_INSTANCE_", GUILDS, GUILDS),
        ("GUILD_SOUNDBOARD_", GUILD_EXPRESSIONS, GUILD_EXPRESSIONS),
        ("INTEGRATION_", GUILD_INTEGRATIONS, GUILD_INTEGRATIONS),
        ("GUILD_SCHEDULED_EVENT_", GUILD_SCHEDULED_EVENTS, GUILD_SCHEDULED_EVENTS),
        ("AUTO_MODERATION_RULE_", AUTO_MODERATION_CONFIGURATION, AUTO_MODERATION_CONFIGURATION),
    ];
    let (_, guild, direct) = FAMILIES.iter().find(|(prefix, ..)| kind.starts_with(prefix))?;
    Some(if in_guild { *guild } else { *direct })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_need_the_intent_of_their_place() {
        assert_eq!(needed_for("MESSAGE_CREATE", true), Some(GUILD_MESSAGES));
        assert_eq!(needed_for("MESSAGE_CREATE", false), Some(DIRECT_MESSAGES));
        assert_eq!(needed_for("MESSAGE_REACTION_ADD", true), Some(GUILD_MESSAGE_REACTIONS));
        assert_eq!(needed_for("MESSAGE_POLL_VOTE_ADD", false), Some(DIRECT_MESSAGE_POLLS));
        assert_eq!(needed_for("GUILD_CREATE", true), Some(GUILDS));
    }

    #[test]
    fn unlisted_kinds_go_to_everybody() {
        assert_eq!(needed_for("INTERACTION_CREATE", true), None);
        assert_eq!(needed_for("SOMETHING_NEW_2027", true), None);
    }

    #[test]
    fn bits_without_meaning_are_invalid() {
        assert!(Intents(0).valid() && Intents(37_377).valid() && Intents(KNOWN).valid());
        for bit in [17, 18, 19, 22, 23, 26, 40] {
            assert!(!Intents(1 << bit).valid(), "{bit}");
        }
    }
}
