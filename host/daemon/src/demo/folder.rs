//! Where the demo's host lives: a configuration file like any other, the bot's token beside it, and the data folder.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jackfield_testkit::discord::Double;
use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

use crate::cli::Failure;

/// What the Discord connector asks for.
const ORIGINS: [&str; 3] = ["https://discord.com", "wss://gateway.discord.gg", "wss://*.discord.gg"];

/// A folder that goes when the demo ends, unless it is to be kept.
pub(super) enum Folder {
    Passing(TempDir),
    Kept(PathBuf),
}

impl Folder {
    pub(super) fn new(keep: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = keep else {
            let made = tempfile::Builder::new().prefix("jackfield-").tempdir();
            return Ok(Self::Passing(
                made.map_err(|error| Failure::failed(format!("make a folder for the demo: {error}")))?,
            ));
        };
        let failed = |error: std::io::Error| Failure::failed(format!("{}: {error}", path.display()));
        std::fs::create_dir_all(path).map_err(failed)?;
        if std::fs::read_dir(path).map_err(failed)?.next().is_some() {
            return Err(Failure::failed(format!(
                "{} is not empty: name a new folder, or an empty one",
                path.display()
            )));
        }
        Ok(Self::Kept(std::path::absolute(path).map_err(failed)?))
    }

    /// Writes what the host needs; the double's log goes there too. Says where the configuration file is.
    pub(super) fn write(&self, component: &Path, double: &Double) -> Result<PathBuf, Failure> {
        let folder = self.path();
        let failed = |error: std::io::Error| Failure::failed(format!("write to {}: {error}", folder.display()));
        private(&folder.join("bot-token"), double.token()).map_err(failed)?;
        let config = folder.join("jackfield.toml");
        private(&config, &text(component, double)).map_err(failed)?;
        if self.kept().is_some() {
            double.log().write_to(&folder.join("double.jsonl")).map_err(failed)?;
        }
        Ok(config)
    }

    pub(super) fn kept(&self) -> Option<&Path> {
        match self {
            Self::Passing(_) => None,
            Self::Kept(path) => Some(path),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Passing(folder) => folder.path(),
            Self::Kept(path) => path,
        }
    }
}

fn private(path: &Path, text: &str) -> std::io::Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?).write_all(text.as_bytes())
}

fn text(component: &Path, double: &Double) -> String {
    let origins: Vec<String> = ORIGINS.iter().map(|origin| format!("\"{origin}\"")).collect();
    let origins = origins.join(", ");
    let mut text = format!(
        "# Written by `jackfield demo`. A real bot's file differs in two lines: its token, and no `connect`.\n\
         [host]\ndata = \"./data\"\n\n\
         [[connection]]\nid = \"demo\"\nconnector = {}\nconfig = {{ intents = 37377 }}\n\
         secrets.bot-token = {{ file = \"bot-token\", to = [{origins}] }}\ngrants = [{origins}, \"contacts\"]\n\n\
         [connection.connect]\n",
        toml_string(&component.display().to_string())
    );
    for origin in ORIGINS {
        let target = if origin.starts_with("https") { double.origin_http() } else { double.origin_ws() };
        // Writing to a String can't fail.
        _ = writeln!(text, "\"{origin}\" = \"{target}\"");
    }
    text
}

/// TOML's basic strings are JSON's, but for the delete character, which no path of ours has.
fn toml_string(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}
