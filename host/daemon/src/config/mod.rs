//! The configuration: a TOML file, read in three steps that know nothing of each other's work.
//!
//! | step | what it looks at | what comes of it |
//! | --- | --- | --- |
//! | [`read`] | the file | [`File`]: every text has its meaning |
//! | [`build`](build::build) | connectors, secrets, the numbering of generations | one `Spec` a connection |
//! | `serve` | the machine | sockets, stores, processes |
//!
//! Each step reports everything that it finds wrong at once, with file, line, column and what to change. A step that
//! found something wrong has changed nothing.

mod bounds;
pub mod build;
mod credential;
mod document;
pub mod environment;
mod file;
pub mod generation;
pub mod grant;
mod limit;
pub(crate) mod nearest;
mod problem;
mod regular;
mod rights;
pub(crate) mod schema;
mod secret;
mod secret_rights;
mod shape;
#[cfg(test)]
mod tests;
pub mod units;

pub use environment::Environment;
pub use file::{Connection, File, Secret, SecretSource, data_folder, parse, read};
pub use limit::Limits;
pub use problem::{Grade, Problem, Problems, Source};
pub(crate) use rights::wanted as wanted_grants;
pub use shape::schema;

/// Whether a connector's configuration schema can be used.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn usable_schema(text: &str) -> Result<(), String> {
    let schema = serde_json::from_str(text).map_err(|error| format!("it is no JSON ({error})"))?;
    schema::Schema::new(schema).map(drop)
}
