//! What Discord sends when somebody writes a message: frames of about 1.5 KB, each a different message.

use jackfield_model::{Dispatch, Transport};
use jackfield_sdk::transform::Received;

/// When the host received them: any time will do, and the same one makes runs equal.
pub(crate) const RECEIVED_AT: u64 = 1_790_000_000_000;

/// People who write, so that contacts are found far more often than made.
const AUTHORS: u64 = 200;

/// Conversations that they write in: as many lanes.
const CHANNELS: u64 = 16;

/// The first message's id; the next ones count up from here.
const FIRST_ID: u64 = 1_468_248_479_167_064_563;

const CHANNEL: u64 = 839_760_899_035_176_311;
const AUTHOR: u64 = 620_939_583_227_628_061;

/// Our own user, who is mentioned.
const BOT: u64 = 1_213_428_388_094_649_333;

/// Kind of the dispatch.
pub(crate) const KIND: &str = "MESSAGE_CREATE";

/// The `n`th message, as the session submits it.
pub(crate) fn dispatch(n: u64) -> Dispatch {
    let channel = CHANNEL + n % CHANNELS;
    Dispatch {
        kind: KIND.to_owned(),
        payload: frame(n).into(),
        lane: format!("channel:{channel}"),
        context: context(n),
    }
}

/// The same as the connector's code has it once it is in its own memory.
pub(crate) fn received(n: u64) -> Received {
    let Dispatch { kind, payload, lane, context } = dispatch(n);
    let payload = payload.as_str().unwrap_or_default().into();
    Received {
        dispatch: jackfield_sdk::Dispatch { kind, payload, lane, context },
        via: jackfield_sdk::Transport::Socket,
        received_at: RECEIVED_AT,
    }
}

/// How they come.
pub(crate) const VIA: Transport = Transport::Socket;

/// The context that goes with the `n`th message.
pub(crate) fn context(n: u64) -> String {
    format!(r#"{{"self":"{BOT}","app":"{BOT}","session":"5bd8f5f1f2b4c7ab13a1f9d0c6e8a7b2","seq":{n}}}"#)
}

/// The `n`th frame.
fn frame(n: u64) -> String {
    let (id, channel, author) = (FIRST_ID + n, CHANNEL + n % CHANNELS, AUTHOR + n % AUTHORS);
    let user = n % AUTHORS;
    let attachment = FIRST_ID + n + (1 << 40);
    format!(
        concat!(
            r#"{{"t":"MESSAGE_CREATE","s":{n},"op":0,"d":{{"type":0,"tts":false,"timestamp":"2026-02-03T14:15:16.171000+00:00","#,
            r#""pinned":false,"nonce":"{id}","mentions":[{{"id":"{BOT}","username":"relaybot","discriminator":"0","#,
            r#""global_name":null,"avatar":null,"public_flags":0,"bot":true,"#,
            r#""member":{{"roles":[],"mute":false,"deaf":false,"joined_at":"2024-03-02T10:20:00+00:00","flags":0}}}}],"#,
            r#""mention_roles":["851372199582417889"],"mention_everyone":false,"id":"{id}","flags":0,"embeds":[],"#,
            r#""edited_timestamp":null,"content":"<@{BOT}> the nightly import stopped at row {n} again 😬\nlog is attached, "#,
            r#"could somebody of <@&851372199582417889> look before <t:1770130000:R>?","components":[],"#,
            r#""channel_id":"{channel}","channel_type":0,"author":{{"id":"{author}","username":"juno.example.{user}","#,
            r#""discriminator":"0","global_name":"Juno Example {user}","avatar":"7c1f0b2f6a8e4d3c9b5a1e0f2d4c6b8a","#,
            r#""public_flags":0}},"attachments":[{{"id":"{attachment}","#,
            r#""filename":"import.log","size":48211,"url":"https://cdn.discordapp.com/attachments/{channel}/{attachment}/import.log","#,
            r#""proxy_url":"https://media.discordapp.net/attachments/{channel}/{attachment}/import.log","#,
            r#""content_type":"text/plain; charset=utf-8"}}],"#,
            r#""member":{{"roles":["851372199582417889"],"nick":null,"avatar":null,"premium_since":null,"#,
            r#""joined_at":"2021-06-01T09:00:00.000000+00:00","pending":false,"mute":false,"deaf":false,"flags":0,"#,
            r#""communication_disabled_until":null}},"guild_id":"839760432494458817"}}}}"#,
        ),
        n = n,
        id = id,
        BOT = BOT,
        channel = channel,
        author = author,
        user = user,
        attachment = attachment,
    )
}
