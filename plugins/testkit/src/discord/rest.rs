//! The REST API: where the gateway is, who we are, which channels there are, what was said, and saying something.
//!
//! No rate limits yet: a client is never told to slow down.

use std::sync::Arc;

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::entry::Event;
use super::intents::Intents;
use super::messages;
use super::payload;
use super::server::{self, Answer};
use super::shared::Shared;
use super::snowflake::Id;

/// Where clients that came under Discord's own name find the gateway.
const PUBLIC_GATEWAY_URL: &str = "wss://gateway.discord.gg";

/// Largest request body; messages are small.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Status and JSON of an answer.
pub(crate) type Reply = (StatusCode, Value);

pub(crate) async fn answer(request: Request<Incoming>, shared: &Arc<Shared>) -> Answer {
    let host = server::host(&request);
    let method = request.method().to_string();
    let path = request.uri().path().to_owned();
    let authorised = authorised(&request, shared);
    let (status, body) = reply(request, shared, authorised).await;
    shared.log.push(Event::Request { method, path, status: status.as_u16(), host, authorised });
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn authorised<B>(request: &Request<B>, shared: &Shared) -> bool {
    let credential = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    credential.and_then(|value| value.strip_prefix("Bot ")).is_some_and(|token| shared.lock().accepts(token))
}

async fn reply(request: Request<Incoming>, shared: &Shared, authorised: bool) -> Reply {
    let path = request.uri().path().to_owned();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let ["api", version, route @ ..] = segments.as_slice() else { return not_found() };
    if *version != "v10" {
        return (StatusCode::BAD_REQUEST, json!({ "message": "Invalid API version provided", "code": 50_041 }));
    }
    if *route != ["gateway"] && !authorised {
        return (StatusCode::UNAUTHORIZED, json!({ "message": "401: Unauthorized", "code": 0 }));
    }
    let host = server::host(&request);
    let query = request.uri().query().unwrap_or_default().to_owned();
    match (request.method(), route) {
        (&Method::GET, ["gateway"]) => ok(json!({ "url": gateway_url(&host, shared) })),
        (&Method::GET, ["gateway", "bot"]) => ok(gateway_bot(&host, shared)),
        (&Method::GET, ["users", "@me"]) => ok(payload::bot_user(&shared.lock().world.bot)),
        (&Method::GET, ["guilds", guild, "channels"]) => guild_channels(guild, shared),
        (&Method::GET, ["channels", channel]) => one_channel(channel, shared),
        (&Method::GET, ["channels", channel, "messages"]) => messages::list(channel, &query, shared),
        (&Method::POST, ["channels", channel, "messages"]) => {
            let body = Limited::new(request.into_body(), BODY_BYTES_MAX).collect().await;
            let body = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
            match body {
                Some(body) => messages::create(channel, &body, shared),
                None => error(StatusCode::BAD_REQUEST, 50_109, "The request body contains invalid JSON."),
            }
        }
        (_, ["gateway" | "users" | "guilds" | "channels", ..]) if request.method() != Method::GET => {
            (StatusCode::METHOD_NOT_ALLOWED, json!({ "message": "405: Method Not Allowed", "code": 0 }))
        }
        _ => not_found(),
    }
}

fn gateway_url(host: &str, shared: &Shared) -> String {
    let public = server::is_under(host, "discord.com") || server::is_under(host, "discordapp.com");
    if public { PUBLIC_GATEWAY_URL.to_owned() } else { shared.origin("ws") }
}

fn gateway_bot(host: &str, shared: &Shared) -> Value {
    let mut state = shared.lock();
    let now_ms = state.now_ms();
    let starts = shared.script.session_starts;
    json!({
        "url": gateway_url(host, shared),
        "shards": 1,
        "session_start_limit": {
            "total": starts.total,
            "remaining": state.starts.remaining(now_ms),
            "reset_after": state.starts.reset_after_ms(now_ms),
            "max_concurrency": starts.max_concurrency,
        },
    })
}

fn guild_channels(guild: &str, shared: &Shared) -> Reply {
    let state = shared.lock();
    let Some(guild) = guild.parse::<Id>().ok().and_then(|id| state.world.guild(id)) else {
        return error(StatusCode::NOT_FOUND, 10_004, "Unknown Guild");
    };
    let channels = guild.channels.iter().filter_map(|id| state.world.channel(*id));
    ok(channels.map(|channel| payload::channel(channel, &state.world)).collect())
}

fn one_channel(channel: &str, shared: &Shared) -> Reply {
    let state = shared.lock();
    let known = channel.parse::<Id>().ok().and_then(|id| state.world.channel(id));
    known.map_or_else(unknown_channel, |channel| ok(payload::channel(channel, &state.world)))
}

/// Whether the application may read what people wrote: the REST API asks the application's settings, not a session's intents.
pub(crate) fn reads_content(shared: &Shared) -> bool {
    !Intents(shared.script.disallowed_intents).message_content()
}

pub(crate) fn ok(body: Value) -> Reply {
    (StatusCode::OK, body)
}

pub(crate) fn error(status: StatusCode, code: u32, message: &str) -> Reply {
    (status, json!({ "message": message, "code": code }))
}

pub(crate) fn unknown_channel() -> Reply {
    error(StatusCode::NOT_FOUND, 10_003, "Unknown Channel")
}

fn not_found() -> Reply {
    (StatusCode::NOT_FOUND, json!({ "message": "404: Not Found", "code": 0 }))
}
