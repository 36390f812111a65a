//! Brings configuration, components, grants and secrets together: one [`Spec`] a connection, or everything that is wrong.
//!
//! Nothing is started or opened here, and nothing that runs already is touched. The one thing that may be written, by the
//! numbering, is written last: a configuration with something wrong in it leaves no trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jackfield_engine::egress::{Ceilings, Gate, GateConfig, Policy, Resolver, Trust};
use jackfield_engine::secret::{SecretEntry, Secrets};
use jackfield_engine::{COMPONENT_BYTES_MAX, Component, Engine, LoadErrorKind};
use jackfield_model::clock::SharedClock;
use jackfield_model::descriptor::Descriptor;
use jackfield_model::{ConnectionId, Generation};
use jackfield_store::StoreError;
use serde_json::Value;

use super::credential::{Credential, Names};
use super::environment::Environment;
use super::file::{Connection, File};
use super::generation::Numbering;
use super::grant::Route;
use super::problem::{Problem, Problems};
use super::regular;
use super::rights::{self, Rights};
use super::schema::Schema;
use super::secret;
use crate::guest_log;
use crate::outbound::registry::Registry;
use crate::spec::{Limits, Spec};

/// What a configuration is brought together with.
pub struct Means<'a> {
    /// Loads components.
    pub engine: &'a Engine,
    /// Where secrets may come from.
    pub environment: &'a Environment,
    /// Numbers generations.
    pub numbering: &'a Numbering,
    /// Finds addresses for what the connectors ask for.
    pub resolver: Arc<dyn Resolver>,
    /// Whose certificates are accepted.
    pub trust: Trust,
    /// Time.
    pub clock: SharedClock,
    /// Hears what is being done, in words for people.
    pub progress: &'a (dyn Fn(String) + Sync),
}

/// Brings a configuration together.
///
/// # Errors
/// When the numbering's store fails. Inside, every problem of every connection, when one of them keeps the configuration from
/// running.
pub async fn build(file: &File, means: Means<'_>) -> Result<Result<(Vec<Spec>, Problems), Problems>, StoreError> {
    let (loaded, credentials) = (BTreeMap::new(), BTreeMap::new());
    let mut building = Building { file, means, problems: file.refused.clone(), loaded, credentials };
    let mut sound = Vec::with_capacity(file.connections.len());
    for connection in &file.connections {
        sound.extend(building.connection(connection).await);
    }
    let Building { means, problems, .. } = building;
    let (sound, problems) = match problems.unless_stopped(sound) {
        Ok(held) => held,
        Err(problems) => return Ok(Err(problems)),
    };
    let mut specs = Vec::with_capacity(sound.len());
    for parts in sound {
        let generation = means.numbering.number(&parts.connection.id, parts.component.digest()).await?;
        specs.push(parts.spec(generation, &means));
    }
    Ok(Ok((specs, problems)))
}

struct Building<'a> {
    file: &'a File,
    means: Means<'a>,
    problems: Problems,
    /// By path, so that a component of many connections is loaded once, and what is wrong with it said for each.
    loaded: BTreeMap<PathBuf, Result<Component, Problem>>,
    /// Who has a session with which credential.
    credentials: BTreeMap<String, ConnectionId>,
}

/// What a connection runs with, all of it sound.
struct Parts<'a> {
    connection: &'a Connection,
    component: Component,
    actions: Arc<Registry>,
    rights: Rights,
    policy: Policy,
    secrets: Secrets,
    start_key: String,
    fingerprint: String,
}

impl<'a> Building<'a> {
    async fn connection(&mut self, connection: &'a Connection) -> Option<Parts<'a>> {
        let component = self.component(connection).await;
        let values = self.secret_values(connection);
        let component = component?;
        let descriptor = component.descriptor();
        let pinned = self.pin(connection, &component);
        let valid = self.config(connection, descriptor);
        let rights = self.rights(connection, descriptor);
        let policy = self.policy(connection, &rights);
        let values = values?;
        let secrets = self.secrets(connection, &values);
        let actions = self.actions(connection, &component);
        if !(pinned && valid) {
            return None;
        }
        let names = Names { numbering: self.means.numbering, connection, values: &values };
        let (credential, fingerprint) = (names.credential(descriptor), names.fingerprint(component.digest()));
        self.one_session(connection, &credential);
        let (policy, secrets, actions, start_key) = (policy?, secrets?, actions?, credential.name);
        Some(Parts { connection, component, actions, rights, policy, secrets, start_key, fingerprint })
    }

    async fn component(&mut self, connection: &Connection) -> Option<Component> {
        let path = &connection.connector;
        if !self.loaded.contains_key(path) {
            (self.means.progress)(format!("load {}", path.display()));
            let loaded = load(self.means.engine, path).await;
            self.loaded.insert(path.clone(), loaded);
        }
        match self.loaded.get(path)? {
            Ok(component) => Some(component.clone()),
            Err(problem) => {
                let problem = problem.clone();
                self.found(connection, "/connector", problem);
                None
            }
        }
    }

    fn pin(&mut self, connection: &Connection, component: &Component) -> bool {
        let Some(pin) = connection.digest.filter(|pin| *pin != component.digest()) else { return true };
        let found = component.digest();
        let problem = Problem::refused(
            "digest",
            format!("{} is not the file that `digest` names", connection.connector.display()),
        );
        let help = format!(
            "it is {found}; pinned is {pin}. Put the pinned file there, or, where this one is meant, pin it: digest = \"{found}\""
        );
        self.found(connection, "/digest", problem.help(help));
        false
    }

    /// The connection's configuration against its connector's schema.
    fn config(&mut self, connection: &Connection, descriptor: &Descriptor) -> bool {
        let schema =
            serde_json::from_str(&descriptor.config_schema).map_err(|error| format!("it is no JSON ({error})"));
        match schema.and_then(Schema::new) {
            Ok(schema) => {
                let findings = schema.findings(&Value::Object(connection.config.clone()), usize::MAX);
                self.problems.extend(findings.iter().map(|finding| self.file.in_config(connection, finding)));
                findings.is_empty()
            }
            Err(reason) => {
                let problem = Problem::refused(
                    "config-schema",
                    format!("`{}` brings a configuration schema that can't be used: {reason}", descriptor.id),
                );
                self.found(connection, "/connector", problem.help("this is for the connector's author to mend"));
                false
            }
        }
    }

    fn actions(&mut self, connection: &Connection, component: &Component) -> Option<Arc<Registry>> {
        match Registry::new(component.actions()) {
            Ok(actions) => Some(Arc::new(actions)),
            Err(problems) => {
                for problem in problems {
                    let problem = Problem::refused("actions", format!("`{}`: {problem}", component.descriptor().id));
                    self.found(connection, "/connector", problem.help("this is for the connector's author to mend"));
                }
                None
            }
        }
    }

    fn rights(&mut self, connection: &Connection, descriptor: &Descriptor) -> Rights {
        let (rights, found) = rights::effective(descriptor, connection);
        for (part, problem) in found {
            self.found(connection, &part, problem);
        }
        rights
    }

    fn policy(&mut self, connection: &Connection, rights: &Rights) -> Option<Policy> {
        let connect = connection.connect.iter().map(|Route { from, to }| (from.clone(), to.clone())).collect();
        match Policy::new(&rights.asks, &rights.grants, connect) {
            Ok(policy) => Some(policy),
            Err(error) => {
                self.found(connection, "/connect", Problem::invalid("connect", error.to_string()));
                None
            }
        }
    }

    fn secret_values(&mut self, connection: &Connection) -> Option<BTreeMap<String, Vec<u8>>> {
        let mut values = BTreeMap::new();
        let mut complete = true;
        for (name, configured) in &connection.secrets {
            match secret::fetch(configured, self.means.environment) {
                Ok(value) => drop(values.insert(name.clone(), value)),
                Err(reason) => {
                    let problem = Problem::invalid("secret", format!("no value for the secret `{name}`: {reason}"));
                    self.problems.push(self.file.at_secret(connection, name, problem));
                    complete = false;
                }
            }
        }
        complete.then_some(values)
    }

    fn secrets(&mut self, connection: &Connection, values: &BTreeMap<String, Vec<u8>>) -> Option<Secrets> {
        let entries = connection.secrets.iter().filter_map(|(name, configured)| {
            let to = configured.to.iter().map(ToString::to_string).collect();
            Some(SecretEntry { name: name.clone(), value: values.get(name)?.clone(), to })
        });
        match Secrets::new(entries.collect()) {
            Ok(secrets) => Some(secrets),
            Err(found) => {
                for problem in found {
                    self.found(connection, "/secrets", Problem::invalid("secret", problem.to_string()));
                }
                None
            }
        }
    }

    /// What together may have one live session only is used by one connection only.
    fn one_session(&mut self, connection: &Connection, credential: &Credential) {
        if !credential.exclusive {
            return;
        }
        if let Some(other) = self.credentials.insert(credential.name.clone(), connection.id.clone()) {
            let what = &credential.what;
            let problem =
                Problem::refused("same-credential", format!("`{other}` has a session with the same {what} already"));
            self.found(
                connection,
                "",
                problem.help(format!("two sessions would push each other out: give one of them another {what}")),
            );
        }
    }

    fn found(&mut self, connection: &Connection, part: &str, problem: Problem) {
        self.problems.push(self.file.at(connection, part, problem));
    }
}

impl Parts<'_> {
    fn spec(self, generation: Generation, means: &Means<'_>) -> Spec {
        let Self { connection, component, actions, rights, policy, secrets, start_key, fingerprint } = self;
        let secrets = Arc::new(secrets);
        let limits = limits(connection);
        let gate = Gate::new(GateConfig {
            connection: connection.id.clone(),
            policy,
            secrets: secrets.clone(),
            ceilings: Ceilings { frame_bytes: limits.frame, refusals: limits.refusals, ..Ceilings::default() },
            resolver: means.resolver.clone(),
            trust: means.trust.clone(),
            clock: means.clock.clone(),
        });
        let log = guest_log::sink(connection.id.clone(), generation, secrets.mask(), means.clock.clone());
        Spec {
            id: connection.id.clone(),
            generation,
            log,
            config: Value::Object(connection.config.clone()).to_string().into(),
            space: connection.space.clone(),
            gate,
            secrets,
            state_bytes: rights.state_bytes,
            contacts: rights.contacts,
            lease: rights.lease,
            actions,
            start_key,
            start_budget: component.descriptor().start_budget,
            fingerprint,
            limits,
            component,
        }
    }
}

/// Loads a component from a file.
///
/// # Errors
/// Why it is refused, or can't be read.
pub async fn load(engine: &Engine, path: &Path) -> Result<Component, Problem> {
    let bytes = read(path)?;
    engine.load(bytes).await.map_err(|error| {
        let shown = path.display();
        match error.kind() {
            LoadErrorKind::Host => Problem::invalid("component", format!("{shown}: {error}")),
            _ => Problem::refused("component", format!("{shown} is refused: {error}")),
        }
    })
}

/// Reads a component's file.
///
/// # Errors
/// When it can't be read, or is longer than any component.
pub fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    let unreadable = |error: std::io::Error| {
        let problem = Problem::invalid("unreadable", format!("can't read {}: {error}", path.display()));
        problem.help("paths are relative to the configuration file's folder")
    };
    regular::read(path, COMPONENT_BYTES_MAX as u64).map_err(unreadable)?.ok_or_else(|| {
        let text =
            format!("{} is longer than the {COMPONENT_BYTES_MAX} bytes that a component may have", path.display());
        Problem::refused("too-large", text)
    })
}

fn limits(connection: &Connection) -> Limits {
    let written = connection.limits;
    let usual = Limits::default();
    let bytes =
        |written: Option<u64>, usual: usize| written.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usual);
    Limits {
        memory: bytes(written.memory, usual.memory),
        call: written.call.unwrap_or(usual.call),
        frame: bytes(written.frame, usual.frame),
        inbox: written.inbox.unwrap_or(usual.inbox),
        transforms: written.transforms.map_or(usual.transforms, usize::from),
        action: written.action.unwrap_or(usual.action),
        actions: written.actions.map_or(usual.actions, usize::from),
        refusals: written.refusals.unwrap_or(usual.refusals),
    }
}
