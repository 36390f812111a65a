//! The double as a process of its own: what a command line does with it. Its state outlives whatever is tested against it.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::double::{Double, Options, StartError};
use super::script::Script;

/// What the process says once it listens, as one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// Base URL of the REST API.
    pub rest: String,
    /// URL of the gateway.
    pub gateway: String,
    /// The bot token it accepts, which is no secret: it opens nothing else.
    pub token: String,
}

/// Why the process ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The log can't be written.
    #[error("write the log to {path}: {source}", path = .path.display())]
    Log {
        /// Where to.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Runs a double until `shutdown` resolves. `announce` gets the addresses once it listens; print them as one line of JSON.
///
/// # Errors
/// [`ServeError`] when it can't listen, the script can't be used, or the log can't be written.
pub async fn serve_cli(
    listen: SocketAddr,
    script: Script,
    log: Option<PathBuf>,
    announce: impl FnOnce(&Announcement),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let double = Double::start(Options { listen, script, ..Options::default() }).await?;
    if let Some(path) = log {
        double.log().write_to(&path).map_err(|source| ServeError::Log { path, source })?;
    }
    announce(&Announcement {
        rest: double.rest_url(),
        gateway: double.gateway_url(),
        token: double.token().to_owned(),
    });
    shutdown.await;
    double.stop().await;
    Ok(())
}
