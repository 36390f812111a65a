//! A configuration file that has been read: every text has its meaning, every path is absolute, and every part knows
//! where it stands. Nothing outside the file has been looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jackfield_model::{ConnectionId, Digest, Space};
use serde_json::{Map, Value};

use super::document::{Document, member};
use super::grant::{self, BadRoute, Grant, Route};
use super::limit;
use super::problem::{Grade, Problem, Problems, Source};
use super::regular;
use super::schema::{Finding, Schema};
use super::shape;

/// Longest configuration file, in bytes. The largest sensible one has a few thousand lines.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A configuration file.
#[derive(Debug)]
pub struct File {
    /// The data folder.
    pub data: PathBuf,
    /// The connections, in the order of the file.
    pub connections: Vec<Connection>,
    /// What is not allowed, and is said together with what the connectors bring to light.
    pub(super) refused: Problems,
    document: Document,
}

/// A connection as configured.
#[derive(Debug)]
pub struct Connection {
    /// Its name.
    pub id: ConnectionId,
    /// The component's file.
    pub connector: PathBuf,
    /// What the file's digest must be.
    pub digest: Option<Digest>,
    /// The connector's configuration, not checked against its schema yet.
    pub config: Map<String, Value>,
    /// Where its contacts live.
    pub space: Space,
    /// Its secrets, by name.
    pub secrets: BTreeMap<String, Secret>,
    /// What it may do.
    pub grants: Vec<Grant>,
    /// Where granted origins really lead.
    pub connect: Vec<Route>,
    /// Its ceilings.
    pub limits: limit::Limits,
    pointer: String,
}

/// A secret as configured.
#[derive(Clone, Debug)]
pub struct Secret {
    /// Where it comes from.
    pub source: SecretSource,
    /// It stands there in base64.
    pub base64: bool,
    /// Where it may go, as written.
    pub to: Vec<grant::Origin>,
}

/// Where a secret comes from.
#[derive(Clone, Debug)]
pub enum SecretSource {
    /// An environment variable.
    Env(String),
    /// A file.
    File(PathBuf),
}

/// Reads a configuration file. Looks at nothing but this file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(path: &Path) -> Result<(File, Problems), Problems> {
    let mut problems = Problems::default();
    let name = path.display().to_string();
    match text(path) {
        Ok(text) => parse(path, Source::new(&name, text)),
        Err(problem) => {
            problems.push(problem);
            Err(problems)
        }
    }
}

/// The data folder that a configuration file names. Nothing else of the file is looked at.
///
/// # Errors
/// When the file can't be read at all.
pub fn data_folder(path: &Path) -> Result<PathBuf, Problems> {
    let mut problems = Problems::default();
    let text = text(path).map_err(|problem| {
        problems.push(problem);
        std::mem::take(&mut problems)
    })?;
    let document = Document::parse(Source::new(&path.display().to_string(), text), &mut Problems::default());
    let written = document.value.pointer("/host/data").and_then(Value::as_str).map(str::to_owned);
    Ok(below(&folder_of(path), &written.unwrap_or_else(|| shape::Host::default().data)))
}

/// A path as written, from the configuration file's folder; without the `.` that people write in front.
fn below(folder: &Path, written: &str) -> PathBuf {
    folder.join(written).components().collect()
}

fn folder_of(path: &Path) -> PathBuf {
    std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_path_buf)).unwrap_or_default()
}

fn text(path: &Path) -> Result<String, Problem> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        let problem = Problem::invalid("unreadable", format!("can't read {shown}: {error}"));
        problem.help("name the configuration file with `--config FILE`; by default it is ./jackfield.toml")
    };
    let Some(bytes) = regular::read(path, FILE_BYTES_MAX).map_err(unreadable)? else {
        return Err(Problem::invalid("too-large", format!("{shown} is larger than {FILE_BYTES_MAX} bytes")));
    };
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::invalid("not-text", format!("{shown} is not UTF-8: see the byte at offset {at}"))
    })
}

/// Reads the text of a file that lies at `path`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(path: &Path, source: Source) -> Result<(File, Problems), Problems> {
    let mut problems = Problems::default();
    let document = Document::parse(source, &mut problems);
    let shape = shape(&document, &mut problems);
    let folder = folder_of(path);
    let mut reading = Reading { document: &document, folder: &folder, problems, refused: Problems::default() };
    reading.host(&shape.host);
    let data = below(&folder, &shape.host.data);
    let connections = shape.connection.into_iter().enumerate();
    let connections: Vec<Connection> =
        connections.filter_map(|(index, written)| reading.connection(index, written)).collect();
    let Reading { mut problems, refused, .. } = reading;
    problems.extend(doubles(&document, &connections));
    if problems.stop() {
        problems.extend(refused.iter().cloned());
        return Err(problems);
    }
    Ok((File { data, connections, refused, document }, problems))
}

/// The file in the types of [`shape`]: what its schema does not allow is reported and left out.
fn shape(document: &Document, problems: &mut Problems) -> shape::File {
    let Ok(schema) = Schema::new(shape::schema()) else { return shape::File::default() };
    let mut value = document.value.clone();
    let findings = schema.findings(&value, usize::MAX);
    for finding in &findings {
        if !document.doubtful(&place(document, finding, ""), finding.code == "missing-key") {
            problems.push(placed(document, finding, ""));
        }
    }
    for finding in findings {
        prune(&mut value, &finding);
    }
    serde_json::from_value(value).unwrap_or_else(|error| {
        if problems.is_empty() {
            problems.push(Problem::invalid("wrong-form", error.to_string()));
        }
        shape::File::default()
    })
}

/// Takes out what the schema does not allow, so that the rest can be read.
fn prune(value: &mut Value, finding: &Finding) {
    if finding.code == "missing-key" {
        return;
    }
    let Some((parent, key)) = finding.pointer.rsplit_once('/') else {
        *value = Value::Object(Map::new());
        return;
    };
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.remove(&key.replace("~1", "/").replace("~0", "~"));
        }
        // Items keep their places: later findings point behind them.
        Some(Value::Array(items)) => {
            if let Some(item) = key.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                *item = if item.is_object() { Value::Object(Map::new()) } else { Value::String(String::new()) };
            }
        }
        _ => {}
    }
}

/// A finding of a schema, at its place in the file. `base` points to the value that the schema was applied to.
pub(super) fn placed(document: &Document, finding: &Finding, base: &str) -> Problem {
    let span = place(document, finding, base);
    let problem = Problem::invalid(finding.code, finding.message.clone()).at(&document.source, span, "here");
    match &finding.help {
        Some(help) => problem.help(help.clone()),
        None => problem,
    }
}

fn place(document: &Document, finding: &Finding, base: &str) -> Range<usize> {
    let pointer = format!("{base}{}", finding.pointer);
    if finding.about_key { document.key_at(&pointer) } else { document.value_at(&pointer) }
}

/// Connections with the same name: the second one is the problem.
fn doubles(document: &Document, connections: &[Connection]) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    let again = connections.iter().filter(|connection| !seen.insert(&connection.id));
    again
        .map(|connection| {
            let span = document.value_at(&member(&connection.pointer, "id"));
            let problem = Problem::invalid("same-id", format!("two connections have the id `{}`", connection.id));
            problem.help("give each connection a name of its own").at(&document.source, span, "again here")
        })
        .collect()
}

impl File {
    /// A problem at this part of a connection, for example `/grants`.
    #[must_use]
    pub(super) fn at(&self, connection: &Connection, part: &str, problem: Problem) -> Problem {
        let span = self.document.value_at(&format!("{}{part}", connection.pointer));
        problem.of(connection.id.as_str()).at(&self.document.source, span, "here")
    }

    /// A problem at a secret of a connection.
    #[must_use]
    pub(super) fn at_secret(&self, connection: &Connection, name: &str, problem: Problem) -> Problem {
        self.at(connection, &member("/secrets", name), problem)
    }

    /// A finding of the connector's schema, at its place in the connection's `config`.
    #[must_use]
    pub(super) fn in_config(&self, connection: &Connection, finding: &Finding) -> Problem {
        placed(&self.document, finding, &member(&connection.pointer, "config")).of(connection.id.as_str())
    }
}

struct Reading<'a> {
    document: &'a Document,
    folder: &'a Path,
    problems: Problems,
    /// What is not allowed. It does not keep the rest from being looked at.
    refused: Problems,
}

impl Reading<'_> {
    fn host(&mut self, host: &shape::Host) {
        if host.cluster.is_some() {
            let help = "remove it: this host keeps everything in its data folder, and no other host may share that";
            self.bad("/host/cluster", "not-yet", "several hosts on one Redis are not in this version", help);
        }
        if !host.sessions {
            let help = "remove it, or run this host later: it would serve nothing, since webhooks and actions are not in this version";
            self.bad("/host/sessions", "not-yet", "a host without sessions is not in this version", help);
        }
        if host.data.is_empty() {
            self.bad(
                "/host/data",
                "wrong-value",
                "the data folder has no name",
                "write for example `data = \"./data\"`",
            );
        }
    }

    fn connection(&mut self, index: usize, written: shape::Connection) -> Option<Connection> {
        let pointer = format!("/connection/{index}");
        let id: Option<ConnectionId> = self.parsed(&member(&pointer, "id"), written.id.as_deref());
        let space = written.contacts.as_deref().or(written.id.as_deref());
        let space_at = if written.contacts.is_some() { "contacts" } else { "id" };
        let space: Option<Space> =
            if space_at == "id" && id.is_none() { None } else { self.parsed(&member(&pointer, space_at), space) };
        let digest: Option<Digest> = self.parsed(&member(&pointer, "digest"), written.digest.as_deref());
        let grants = self.grants(&pointer, &written.grants);
        let connect = self.routes(&pointer, &written.connect, &grants);
        let secrets = self.secrets(&pointer, written.secrets);
        let limits = self.limits(&pointer, &written.limits);
        let connector = written.connector.filter(|path| !path.is_empty());
        Some(Connection {
            id: id?,
            connector: below(self.folder, &connector?),
            digest,
            config: written.config,
            space: space?,
            secrets,
            grants,
            connect,
            limits,
            pointer,
        })
    }

    fn grants(&mut self, pointer: &str, written: &[String]) -> Vec<Grant> {
        let written = written.iter().enumerate().filter(|(_, text)| !text.is_empty());
        written.filter_map(|(index, text)| self.parsed(&format!("{pointer}/grants/{index}"), Some(text))).collect()
    }

    fn routes(&mut self, pointer: &str, written: &BTreeMap<String, String>, grants: &[Grant]) -> Vec<Route> {
        let mut routes = Vec::new();
        for (from, to) in written {
            let at = member(&member(pointer, "connect"), from);
            match Route::new(from, to) {
                Ok(route) => {
                    let refused = route.unless_granted(grants);
                    self.refused.extend(refused.map(|bad| self.route(Grade::Refused, &at, bad)));
                    routes.push(route);
                }
                Err(bad) => {
                    let problem = self.route(Grade::Invalid, &at, bad);
                    self.problems.push(problem);
                }
            }
        }
        routes
    }

    fn route(&self, grade: Grade, at: &str, bad: BadRoute) -> Problem {
        let span = if bad.about_key { self.document.key_at(at) } else { self.document.value_at(at) };
        Problem::new(grade, "connect", bad.message).help(bad.help).at(&self.document.source, span, "here")
    }

    fn secrets(&mut self, pointer: &str, written: BTreeMap<String, shape::Secret>) -> BTreeMap<String, Secret> {
        let base = member(pointer, "secrets");
        written
            .into_iter()
            .filter_map(|(name, secret)| Some((name.clone(), self.secret(&member(&base, &name), secret)?)))
            .collect()
    }

    fn secret(&mut self, pointer: &str, written: shape::Secret) -> Option<Secret> {
        let to = written.to.iter().enumerate().filter(|(_, text)| !text.is_empty());
        let to = to.filter_map(|(index, text)| self.parsed(&format!("{pointer}/to/{index}"), Some(text))).collect();
        let source = match (written.env, written.file) {
            (Some(name), None) if !name.is_empty() && !name.contains(['=', '\0']) => SecretSource::Env(name),
            (None, Some(path)) if !path.is_empty() => SecretSource::File(below(self.folder, &path)),
            (Some(_), Some(_)) => {
                self.bad(
                    pointer,
                    "secret-source",
                    "a secret comes from `env` or from `file`, not from both",
                    "keep one of the two",
                );
                return None;
            }
            _ => {
                let help = "write `env = \"NAME\"` or `file = \"path\"`; a secret itself never stands in this file";
                self.bad(pointer, "secret-source", "this secret comes from nowhere", help);
                return None;
            }
        };
        Some(Secret { source, base64: written.decode == Some(shape::Decode::Base64), to })
    }

    fn limits(&mut self, pointer: &str, written: &shape::Limits) -> limit::Limits {
        let base = member(pointer, "limits");
        let mut sized = |key: &str, text: &Option<String>, range: limit::Range<u64>| -> Option<u64> {
            self.checked(&member(&base, key), limit::size(text.as_deref()?, range))
        };
        let memory = sized("memory", &written.memory, limit::MEMORY);
        let frame = sized("frame", &written.frame, limit::FRAME);
        let inbox = sized("inbox", &written.inbox, limit::INBOX);
        let mut timed = |key: &str, text: &Option<String>, range: limit::Range<Duration>| -> Option<Duration> {
            self.checked(&member(&base, key), limit::duration(text.as_deref()?, range))
        };
        let call = timed("call", &written.call, limit::CALL);
        let action = timed("action", &written.action, limit::ACTION);
        let shape::Limits { transforms, actions, refusals, .. } = *written;
        limit::Limits { memory, call, frame, inbox, transforms, action, actions, refusals }
    }

    fn parsed<T>(&mut self, pointer: &str, text: Option<&str>) -> Option<T>
    where
        T: std::str::FromStr,
        T::Err: std::fmt::Display,
    {
        self.checked(pointer, text?.parse().map_err(|error: T::Err| error.to_string()))
    }

    fn checked<T>(&mut self, pointer: &str, result: Result<T, String>) -> Option<T> {
        result
            .map_err(|message| {
                let span: Range<usize> = self.document.value_at(pointer);
                if !self.document.doubtful(&span, false) {
                    self.problems.push(Problem::invalid("wrong-value", message).at(
                        &self.document.source,
                        span,
                        "here",
                    ));
                }
            })
            .ok()
    }

    fn bad(&mut self, pointer: &str, code: &'static str, message: &str, help: &str) {
        let span = self.document.value_at(pointer);
        if !self.document.doubtful(&span, false) {
            self.problems.push(Problem::invalid(code, message).help(help).at(&self.document.source, span, "here"));
        }
    }
}
