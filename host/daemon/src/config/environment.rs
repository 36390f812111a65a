//! The environment, read here and nowhere else. A test brings its own.
//!
//! Proxy variables are never looked at: where a connector's requests go is said in the configuration file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// A variable that can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Not set.
    Missing,
    /// Not UTF-8.
    NotText,
}

/// Where variables come from.
#[derive(Clone, Debug)]
pub struct Environment(Lookup);

#[derive(Clone, Debug)]
enum Lookup {
    Process,
    Fixed(BTreeMap<String, String>),
}

impl Environment {
    /// This process's own.
    #[must_use]
    pub fn process() -> Self {
        Self(Lookup::Process)
    }

    /// These variables only.
    #[must_use]
    pub fn fixed(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(Lookup::Fixed(variables.into_iter().collect()))
    }

    /// A variable's text.
    ///
    /// # Errors
    /// When it is not set, or is not text.
    pub fn text(&self, name: &str) -> Result<String, Unusable> {
        self.raw(name).ok_or(Unusable::Missing)?.into_string().map_err(|_| Unusable::NotText)
    }

    /// What the log shows: `JACKFIELD_LOG`, in the syntax of `tracing_subscriber::EnvFilter`.
    #[must_use]
    pub fn log_filter(&self) -> Option<String> {
        self.text("JACKFIELD_LOG").ok().filter(|filter| !filter.is_empty())
    }

    /// Nobody wants colours: `NO_COLOR` is set to anything (<https://no-color.org>).
    #[must_use]
    pub fn no_colour(&self) -> bool {
        self.raw("NO_COLOR").is_some_and(|value| !value.is_empty())
    }

    /// Cargo, as the toolchain that started this process names it, else the one on the path.
    #[must_use]
    pub fn cargo(&self) -> PathBuf {
        self.raw("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
    }

    /// Cargo's target folder, where somebody chose one.
    #[must_use]
    pub fn target_folder(&self) -> Option<PathBuf> {
        self.raw("CARGO_TARGET_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from)
    }

    /// The point at which the process kills itself, for a harness that tries out crashes: `JACKFIELD_FAILPOINT=name[:n]`.
    #[must_use]
    pub fn failpoint(&self) -> Option<String> {
        self.text("JACKFIELD_FAILPOINT").ok().filter(|point| !point.is_empty())
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    fn raw(&self, name: &str) -> Option<OsString> {
        match &self.0 {
            Lookup::Process => std::env::var_os(name),
            Lookup::Fixed(variables) => variables.get(name).map(OsString::from),
        }
    }
}
