//! Which host a command speaks to: the one whose data folder the configuration file names.

use std::path::Path;

use super::exit::Failure;
use crate::admin::Client;
use crate::config;

/// The host that this configuration file is for. Only the data folder is looked at: a file that is being edited, and wrong
/// elsewhere, must not keep anybody from seeing how things are.
pub(super) fn host(config: &Path) -> Result<Client, Failure> {
    Ok(Client::new(config::data_folder(config)?, config)?)
}
