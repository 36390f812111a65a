//! What the double says: the JSON of messages, users, guilds and READY, in the shapes that Discord documents.
//!
//! Bodies are written once per dispatch and shared by every session; only the sequence number is spliced in per socket.

mod change;
mod mentions;
mod message;
mod place;

pub(crate) use change::{Change, message_update};
pub(crate) use message::{Given, Post, message_create, rest_message};
pub(crate) use place::{Ready, bot_user, channel, guild_create, guild_member, oversized, ready, resumed, roles, user};

/// When everybody joined, for members and guilds.
const JOINED_AT: &str = "2024-03-02T10:20:00.000000+00:00";

/// `channel.type` of a guild text channel and of a direct message.
const GUILD_TEXT: u8 = 0;
const DIRECT_MESSAGE: u8 = 1;
