//! Who this connector is and what it asks for.

use jackfield_sdk::Transport;
use jackfield_sdk::connector::{Ask, Descriptor};

use crate::config;

/// Its name, and the namespace of the ids that it gives.
pub const ID: &str = "discord";

/// Name of the secret that is the bot's token.
pub const BOT_TOKEN: &str = "bot-token";

/// Where Discord's API is.
pub const API: &str = "https://discord.com";

/// The gateway, and the gateways that it sends us to for resuming.
const GATEWAYS: [&str; 2] = ["wss://gateway.discord.gg", "wss://*.discord.gg"];

/// Discord resets a bot's token after 1,000 identifies in 24 hours. What is missing here stays for other tools that
/// share the token, and for the operator who has to find out why so many were needed.
const IDENTIFIES_A_DAY: u32 = 950;

/// 24 hours, in milliseconds.
const DAY_MS: u32 = 24 * 60 * 60 * 1_000;

const TOKEN_HELP: &str = "The bot's token: discord.com/developers/applications, your application, Bot, Reset Token. \
     Not the client secret, and without the word Bot in front.";

/// What the host shows the operator before it runs anything.
#[must_use]
pub fn descriptor() -> Descriptor {
    let [gateway, resume] = GATEWAYS;
    Descriptor::new(ID, env!("CARGO_PKG_VERSION"))
        .titled(
            "Discord",
            "Reads messages, reactions, members and interactions from the Discord gateway, and writes messages.",
        )
        .transports([Transport::Socket])
        .config_schema(config::SCHEMA)
        .ask(Ask::Http(API.to_owned()))
        .ask(Ask::Socket(gateway.to_owned()))
        .ask(Ask::Socket(resume.to_owned()))
        .ask(Ask::Contacts)
        .ask(Ask::required_secret(BOT_TOKEN, TOKEN_HELP, &[API, gateway, resume]))
        .exclusive(&[BOT_TOKEN], &["/shard"])
        .start_budget(IDENTIFIES_A_DAY, DAY_MS)
}
