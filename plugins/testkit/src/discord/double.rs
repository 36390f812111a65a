//! The running server: starting, asking where it is and what it has, posting, stopping.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde_json::Value;
use tokio::net::TcpListener;

use super::dispatch::Dispatch;
use super::entry::Event;
use super::log::Log;
use super::payload::Given;
use super::run;
use super::script::{Script, ScriptError};
use super::server;
use super::shared::Shared;
use super::snowflake::Id;
use super::state::PostError;

/// The token unless told otherwise. Has the shape of one (base64 of the id, a timestamp, a signature), so that redaction is
/// tried on something real, and says what it is.
const TOKEN: &str = "MTIxMzQyODM4ODA5NDY0OTMzMw.GdOuBl.jackfield-testkit-token-not-a-secret-0";

/// A running double. It ends when it is dropped; [`Double::stop`] waits for that too.
#[derive(Debug)]
pub struct Double {
    pub(super) shared: Arc<Shared>,
    token: String,
}

/// How to start a double.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen, by default a free port on loopback. There is no TLS and no limit on who may come.
    pub listen: SocketAddr,
    /// What it does by itself.
    pub script: Script,
    /// The bot token it accepts, without `Bot `.
    pub token: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), script: Script::default(), token: TOKEN.to_owned() }
    }
}

/// Why a double did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address can't be had.
    #[error("listen on {address}: {source}; use port 0 for a free one")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The script can't be used.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

impl Double {
    /// Listens, and begins with the script.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let Options { listen, script, token } = options;
        script.check()?;
        let failed = |source| StartError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (shared, floods) = Shared::new(address, script, token.clone());
        let double = Self { shared: Arc::clone(&shared), token };
        shared.log.push(Event::Listening { rest: double.rest_url(), gateway: double.gateway_url() });
        shared.tasks.spawn(server::serve(listener, Arc::clone(&shared)));
        run::spawn(&shared, floods);
        Ok(double)
    }

    /// Base URL of the REST API, `http://127.0.0.1:PORT/api/v10`.
    #[must_use]
    pub fn rest_url(&self) -> String {
        format!("{}/api/v10", self.origin_http())
    }

    /// URL of the gateway, `ws://127.0.0.1:PORT`; clients add `/?v=10&encoding=json`.
    #[must_use]
    pub fn gateway_url(&self) -> String {
        self.origin_ws()
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn origin_http(&self) -> String {
        self.shared.origin("http")
    }

    /// `ws://127.0.0.1:PORT`.
    #[must_use]
    pub fn origin_ws(&self) -> String {
        self.shared.origin("ws")
    }

    /// The bot token it accepts, without `Bot `.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// What happened so far. The handle outlives the double.
    #[must_use]
    pub fn log(&self) -> Log {
        self.shared.log.clone()
    }

    /// The bot's user id, which is its application id too.
    #[must_use]
    pub fn bot(&self) -> Id {
        self.shared.lock().world.bot.id
    }

    /// The guilds.
    #[must_use]
    pub fn guilds(&self) -> Vec<Id> {
        self.shared.lock().world.guilds.iter().map(|guild| guild.id).collect()
    }

    /// The text channels of all guilds.
    #[must_use]
    pub fn channels(&self) -> Vec<Id> {
        self.shared.lock().world.guilds.iter().flat_map(|guild| guild.channels.clone()).collect()
    }

    /// The people who write.
    #[must_use]
    pub fn authors(&self) -> Vec<Id> {
        self.shared.lock().world.authors.iter().map(|author| author.id).collect()
    }

    /// The channel of direct messages between this person and the bot.
    #[must_use]
    pub fn direct_channel(&self, author: Id) -> Option<Id> {
        self.shared.lock().world.direct_channel(author)
    }

    /// Lets somebody write. Waits while a connected session has no room (see `unsent_max`).
    ///
    /// # Errors
    /// [`PostError`] when there is no such channel or author.
    pub async fn post_message(&self, channel: Id, author: Id, text: &str) -> Result<Id, PostError> {
        self.shared.room().await;
        let message = self.shared.lock().post(channel, author, text, &Given::default())?;
        // A message always has an id; its channel is as good as any to satisfy the type.
        Ok(message.scope.message.unwrap_or(channel))
    }

    /// Lets people write so many messages, of the kind that the script writes. Waits for room as `post_message` does.
    pub async fn post_many(&self, count: u64) {
        const CHUNK: u64 = 64;
        let mut left = count;
        while left > 0 {
            self.shared.room().await;
            let chunk = left.min(CHUNK);
            self.shared.lock().post_composed(chunk);
            left -= chunk;
            tokio::task::yield_now().await;
        }
    }

    /// Sends a dispatch as it is to every session that asked for its kind. What it is about (guild, channel, message) is read
    /// from the payload; without MESSAGE_CONTENT its content is withheld as usual.
    pub async fn dispatch(&self, kind: &str, payload: &Value) {
        self.shared.room().await;
        let mut state = self.shared.lock();
        let dispatch = Dispatch::raw(kind, payload, state.world.bot.id);
        state.publish(dispatch);
    }

    /// Ends every connection without a close frame, gives the port back, and waits until that is done.
    pub async fn stop(self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.log.push(Event::Stopped);
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}
