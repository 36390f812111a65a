//! Which of the API's routes a request means.

use http::Method;

use super::call::Call;
use super::reply::Reply;
use crate::discord::snowflake::Id;

const VERSION: &str = "v10";

/// A route that the double knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Gateway,
    GatewayBot,
    Me,
    User(Id),
    OpenDirect,
    GuildChannels(Id),
    GuildRoles(Id),
    SearchMembers(Id),
    Channel(Id),
    ListMessages(Id),
    CreateMessage(Id),
    GetMessage(Id, Id),
    EditMessage(Id, Id),
}

impl Route {
    pub(crate) fn of(call: &Call) -> Result<Self, Reply> {
        let (Some(version), path) = call.versioned() else { return Err(Reply::not_found()) };
        if version != VERSION {
            return Err(Reply::unknown_version());
        }
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let route = match (call.method.as_str(), segments.as_slice()) {
            ("GET", ["gateway"]) => Self::Gateway,
            ("GET", ["gateway", "bot"]) => Self::GatewayBot,
            ("GET", ["users", "@me"]) => Self::Me,
            ("GET", ["users", user]) => Self::User(id("user_id", user)?),
            ("POST", ["users", "@me", "channels"]) => Self::OpenDirect,
            ("GET", ["guilds", guild, "channels"]) => Self::GuildChannels(id("guild_id", guild)?),
            ("GET", ["guilds", guild, "roles"]) => Self::GuildRoles(id("guild_id", guild)?),
            ("GET", ["guilds", guild, "members", "search"]) => Self::SearchMembers(id("guild_id", guild)?),
            ("GET", ["channels", channel]) => Self::Channel(id("channel_id", channel)?),
            ("GET", ["channels", channel, "messages"]) => Self::ListMessages(id("channel_id", channel)?),
            ("POST", ["channels", channel, "messages"]) => Self::CreateMessage(id("channel_id", channel)?),
            (method @ ("GET" | "PATCH"), ["channels", channel, "messages", message]) => {
                let (channel, message) = (id("channel_id", channel)?, id("message_id", message)?);
                if method == "GET" { Self::GetMessage(channel, message) } else { Self::EditMessage(channel, message) }
            }
            (_, ["gateway" | "users" | "guilds" | "channels", ..]) if call.method != Method::GET => {
                return Err(Reply::method_not_allowed());
            }
            _ => return Err(Reply::not_found()),
        };
        Ok(route)
    }

    /// Whether one may ask without a token.
    pub(crate) fn is_public(route: &Result<Self, Reply>) -> bool {
        matches!(route, Ok(Self::Gateway))
    }
}

fn id(name: &str, text: &str) -> Result<Id, Reply> {
    text.parse().map_err(|_| not_a_snowflake(name, text))
}

/// What Discord says of an id that is none.
pub(crate) fn not_a_snowflake(name: &str, text: &str) -> Reply {
    Reply::form(&[name], "NUMBER_TYPE_COERCE", &format!("Value \"{text}\" is not snowflake."))
}
