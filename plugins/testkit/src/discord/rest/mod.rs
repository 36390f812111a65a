//! The REST API: what a connector's actions need, with Discord's rules, limits and error codes, and whatever goes wrong on
//! command.
//!
//! A request goes through here in one order: the fault that closes before reading, the body, the fault that answers in its place,
//! the token, the limits, the route, the fault that spoils the answer. From the second of these on it happens under one lock,
//! and its line in the log stands right behind what it brought about.

mod body;
mod bucket;
mod call;
mod control;
mod deliver;
mod form;
mod limiter;
mod mentions;
mod messages;
mod nonces;
mod pending;
mod people;
mod places;
mod refusals;
mod reply;
mod route;

use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;

pub(crate) use body::{Body, Closed};
use bucket::Bucket;
use call::{Call, Received};
use deliver::Served;
pub(crate) use limiter::Limiter;
pub(crate) use mentions::Allowed;
use nonces::Nonces;
use pending::Pending;
use refusals::Refusals;
use reply::Reply;
use route::Route;

use super::entry::{Ending, Event};
use super::script::{LimitScope, Mishap, Rest, Stage};
use super::server::Answer;
use super::shared::Shared;
use super::state::State;
use crate::clock;

/// What the REST API remembers.
#[derive(Debug)]
pub(crate) struct RestState {
    pub(crate) limiter: Limiter,
    pub(crate) faults: Pending,
    pub(crate) refusals: Refusals,
    nonces: Nonces,
}

impl RestState {
    pub(crate) fn new(rest: &Rest) -> Self {
        Self {
            limiter: Limiter::new(rest.limits.clone()),
            faults: Pending::new(&rest.faults),
            refusals: Refusals::new(rest),
            nonces: Nonces::new(rest.nonce_window_ms),
        }
    }
}

/// Answers a request, or closes its connection.
pub(crate) async fn answer(request: Request<Incoming>, shared: &Arc<Shared>) -> Result<Answer, Closed> {
    let (head, body) = request.into_parts();
    let call = Call::new(&head);
    if closes_before(&call, shared) {
        return Err(Closed);
    }
    let received = call.receive(body).await;
    serve(&call, &received, shared).deliver().await
}

fn closes_before(call: &Call, shared: &Shared) -> bool {
    let mut state = shared.lock();
    let Some(mishap) = state.rest.faults.take(call, Stage::Head) else { return false };
    let note = Note { fault: Some(mishap.name()), ..Note::new(call, &state) };
    note.write(None, Ending::ClosedBefore, &state);
    true
}

/// Does everything but sending the answer.
fn serve(call: &Call, received: &Received, shared: &Shared) -> Served {
    let mut state = shared.lock();
    let mut note = Note { nonce: received.nonce(), ..Note::new(call, &state) };
    let route = Route::of(call);
    let served = if let Some(mishap) = state.rest.faults.take(call, Stage::Instead) {
        note.fault = Some(mishap.name());
        Served::instead(&mishap)
    } else if !note.authorised && !Route::is_public(&route) {
        Served::whole(Reply::unauthorised())
    } else {
        admitted(call, route, received, &mut note, &mut state, shared)
    };
    note.limit = note.limit.or_else(|| served.limit());
    note.write(served.reply(), served.ending(), &state);
    served
}

/// A request with the right token: the limits, the route, and what spoils the answer.
fn admitted(
    call: &Call,
    route: Result<Route, Reply>,
    received: &Received,
    note: &mut Note<'_>,
    state: &mut State,
    shared: &Shared,
) -> Served {
    let now_ms = state.now_ms();
    let (_, path) = call.versioned();
    let standing = match state.rest.limiter.take(call.method.as_str(), path, &note.bucket, now_ms) {
        Ok(standing) => standing,
        Err(refusal) => {
            note.limit = Some(refusal.scope);
            return Served::whole(refusal.reply(clock::unix_ms()));
        }
    };
    let mishap = state.rest.faults.take(call, Stage::Afterwards);
    let done = route.and_then(|route| carry_out(route, call, received, state, shared));
    let mut reply = done.unwrap_or_else(|refused| refused);
    note.message = reply.message;
    note.carried_out = reply.status.is_success();
    reply.headers.extend(standing.iter().flat_map(|standing| standing.headers(clock::unix_ms())));
    note.fault = mishap.as_ref().map(Mishap::name);
    match mishap {
        Some(mishap) => Served::spoilt(reply, &mishap),
        None => Served::whole(reply),
    }
}

/// Does what the route is for. Both ways out are answers; an error is one that refuses.
fn carry_out(
    route: Route,
    call: &Call,
    received: &Received,
    state: &mut State,
    shared: &Shared,
) -> Result<Reply, Reply> {
    match route {
        Route::Gateway => Ok(places::gateway(&call.host, shared)),
        Route::GatewayBot => Ok(places::gateway_bot(&call.host, state, shared)),
        Route::Me => Ok(people::me(state)),
        Route::User(user) => people::user(user, state),
        Route::OpenDirect => people::open_direct(received, state),
        Route::GuildChannels(guild) => places::guild_channels(guild, state),
        Route::GuildRoles(guild) => places::guild_roles(guild, state),
        Route::SearchMembers(guild) => people::search(guild, &call.query, state),
        Route::Channel(channel) => places::channel(channel, state),
        Route::ListMessages(channel) => messages::list(channel, &call.query, state),
        Route::GetMessage(channel, message) => messages::get(channel, message, state),
        Route::CreateMessage(channel) => messages::create(channel, received, state),
        Route::EditMessage(channel, message) => messages::edit(channel, message, received, state),
    }
}

/// The line of the log about one request, as far as it is known.
struct Note<'a> {
    call: &'a Call,
    authorised: bool,
    bucket: Bucket,
    nonce: Option<String>,
    message: Option<super::snowflake::Id>,
    carried_out: bool,
    limit: Option<LimitScope>,
    fault: Option<&'static str>,
}

impl<'a> Note<'a> {
    fn new(call: &'a Call, state: &State) -> Self {
        Self {
            call,
            authorised: call.token().is_some_and(|token| state.accepts(token)),
            bucket: Bucket::of(call),
            nonce: None,
            message: None,
            carried_out: false,
            limit: None,
            fault: None,
        }
    }

    fn write(self, reply: Option<&Reply>, ending: Ending, state: &State) {
        state.log.push(Event::Request {
            method: self.call.method.to_string(),
            path: self.call.path.clone(),
            status: reply.map(|reply| reply.status.as_u16()),
            host: self.call.host.clone(),
            authorised: self.authorised,
            bucket: self.bucket.to_string(),
            nonce: self.nonce,
            message: self.message,
            carried_out: self.carried_out,
            limit: self.limit,
            fault: self.fault.map(str::to_owned),
            ending,
        });
    }
}
