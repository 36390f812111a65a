//! What a closed socket means: Discord's table of close codes.

/// What follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// The session is still there.
    Resume,
    /// It should be; that Discord complained about what we sent is a bug of ours.
    ResumeAndLog,
    /// The documentation is silent: one attempt to resume, then a new session.
    ResumeOnce,
    /// The session is gone.
    Identify,
    /// Nothing helps until somebody changes something. Says what.
    Stop(&'static str),
}

/// What follows when Discord closed the socket with `code`, or without one.
#[must_use]
pub fn after(code: Option<u16>) -> After {
    match code {
        Some(1000 | 1001) => After::ResumeOnce,
        Some(4001 | 4002 | 4005) => After::ResumeAndLog,
        Some(4003 | 4007 | 4009) => After::Identify,
        Some(4004) => After::Stop(
            "Discord does not accept the bot token (4004). Reset it in the developer portal (Bot, Reset Token) and \
             put the new one where secrets.bot-token points.",
        ),
        Some(4010) => After::Stop(
            "Discord does not know this shard (4010). Set config.shard to [id, count] with id below count, or leave \
             it out.",
        ),
        Some(4011) => After::Stop(
            "The bot is in too many guilds for one session (4011). Configure one connection a shard, each with its \
             own config.shard; metadata says how many Discord recommends.",
        ),
        Some(4012) => After::Stop(
            "Discord has switched off the gateway version that this connector speaks (4012). Install a newer \
             connector.",
        ),
        Some(4013) => After::Stop(
            "Discord does not know these intents (4013). Set config.intents to a sum of documented ones; 37377 is the \
             default.",
        ),
        Some(4014) => After::Stop(
            "The bot may not have these intents (4014). Switch on what config.intents asks for in the developer \
             portal (Bot, Privileged Gateway Intents: MESSAGE CONTENT is part of the default), or ask for less.",
        ),
        // 4000 and 4008, which the back-off answers; no code and 1006: it broke; and what is not documented yet.
        _ => After::Resume,
    }
}
