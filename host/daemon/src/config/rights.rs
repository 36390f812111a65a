//! Two keys to every right: what a connector asks for, and what the operator grants. A connector that asks for more than
//! it gets is refused, and told which grants are missing; rights that only one side turned a key for are none.

use std::collections::BTreeSet;

use jackfield_model::descriptor::{Ask, Descriptor};
use serde_json::{Map, Value};

use super::file::Connection;
use super::grant::{Grant, Origin, OriginError, within};
use super::problem::Problem;
use super::{secret_rights, units};

/// The rights of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rights {
    /// Origins asked for, filled in from the configuration.
    pub(super) asks: Vec<Origin>,
    /// Origins granted.
    pub(super) grants: Vec<Origin>,
    /// Bytes of durable state.
    pub(super) state_bytes: u64,
    /// It may look up people.
    pub(super) contacts: bool,
    /// It may take locks.
    pub(super) lease: bool,
}

/// A problem, and the part of the connection that it is about, as a JSON pointer.
pub(super) type Found = (String, Problem);

/// What a connection may do, and what is wrong with what it is granted.
pub(super) fn effective(descriptor: &Descriptor, connection: &Connection) -> (Rights, Vec<Found>) {
    let mut found = Vec::new();
    let asks = filled(&descriptor.asks, &connection.config, &mut found);
    let mut missing: Vec<String> = Vec::new();
    for ask in &asks {
        match standing(ask, &connection.grants) {
            Standing::Full => {}
            Standing::Part(granted) => found.push(narrowed(ask, &granted)),
            Standing::None => missing.push(ask.to_string()),
        }
    }
    if !missing.is_empty() {
        let list: Vec<String> = missing.iter().map(|grant| format!("\"{grant}\"")).collect();
        let count = if list.len() == 1 { "one grant is".to_owned() } else { format!("{} grants are", list.len()) };
        let problem = Problem::refused(
            "missing-grant",
            format!("`{}` asks for more than it is granted: {count} missing", descriptor.id),
        );
        found.push(("/grants".to_owned(), problem.help(format!("to allow it, add to `grants`: {}", list.join(", ")))));
    }
    let unused = connection.grants.iter().enumerate().filter(|(_, grant)| !asks.iter().any(|ask| meets(ask, grant)));
    for (index, grant) in unused {
        let problem = Problem::warning("unused-grant", format!("`{}` does not ask for `{grant}`", descriptor.id));
        let help = "remove the grant: a later version of the connector would have it at once";
        found.push((format!("/grants/{index}"), problem.help(help)));
    }
    secret_rights::look(&descriptor.asks, &asks, connection, &mut found);
    let mut said = BTreeSet::new();
    found.retain(|(_, problem)| said.insert(problem.message().to_owned()));
    let bytes = |grants: &[Grant]| {
        grants.iter().filter_map(|grant| if let Grant::State(bytes) = grant { Some(*bytes) } else { None }).max()
    };
    let rights = Rights {
        asks: origins(&asks),
        grants: origins(&connection.grants),
        state_bytes: bytes(&asks).unwrap_or_default().min(bytes(&connection.grants).unwrap_or_default()),
        contacts: asks.contains(&Grant::Contacts) && connection.grants.contains(&Grant::Contacts),
        lease: asks.contains(&Grant::Lease) && connection.grants.contains(&Grant::Lease),
    };
    (rights, found)
}

enum Standing {
    Full,
    Part(Vec<String>),
    None,
}

fn standing(ask: &Grant, grants: &[Grant]) -> Standing {
    let met: Vec<&Grant> = grants.iter().filter(|grant| meets(ask, grant)).collect();
    let full = |grant: &&Grant| match (ask, grant) {
        (Grant::Origin(ask), Grant::Origin(grant)) => within(ask, grant),
        (Grant::State(ask), Grant::State(grant)) => ask <= grant,
        (ask, grant) => ask == *grant,
    };
    match met.as_slice() {
        [] => Standing::None,
        met if met.iter().any(full) => Standing::Full,
        met => Standing::Part(met.iter().map(ToString::to_string).collect()),
    }
}

/// Both turn a key for something.
fn meets(ask: &Grant, grant: &Grant) -> bool {
    match (ask, grant) {
        (Grant::Origin(ask), Grant::Origin(grant)) => ask.meet(grant).is_some(),
        (Grant::State(_), Grant::State(bytes)) => *bytes > 0,
        (ask, grant) => ask == grant,
    }
}

fn narrowed(ask: &Grant, granted: &[String]) -> Found {
    let granted: Vec<String> = granted.iter().map(|grant| format!("`{grant}`")).collect();
    let problem =
        Problem::warning("narrow-grant", format!("`{ask}` is asked for, and only {} granted", granted.join(", ")));
    (
        "/grants".to_owned(),
        problem.help(format!("what lies outside is denied when it is used; to allow all of it, grant \"{ask}\"")),
    )
}

fn origins(grants: &[Grant]) -> Vec<Origin> {
    let origin = |grant: &Grant| if let Grant::Origin(origin) = grant { Some(origin.clone()) } else { None };
    grants.iter().filter_map(origin).collect()
}

/// The asks as grants, filled in from the configuration. Secrets are looked at for themselves.
fn filled(asks: &[Ask], config: &Map<String, Value>, found: &mut Vec<Found>) -> Vec<Grant> {
    let mut grants = Vec::new();
    for ask in asks {
        match ask {
            Ask::Http(text) => grants.extend(origin(text, "https://", config, found).map(Grant::Origin)),
            Ask::Socket(text) => grants.extend(origin(text, "wss://", config, found).map(Grant::Origin)),
            Ask::State(bytes) => grants.push(Grant::State((*bytes).into())),
            Ask::Lease => grants.push(Grant::Lease),
            Ask::Contacts => grants.push(Grant::Contacts),
            Ask::Secret(_) => {}
        }
    }
    grants
}

pub(super) fn origin(text: &str, scheme: &str, config: &Map<String, Value>, found: &mut Vec<Found>) -> Option<Origin> {
    let filled = match fill(text, config) {
        Ok(filled) => filled,
        Err(problem) => {
            found.push(("/config".to_owned(), problem));
            return None;
        }
    };
    let parsed = filled.parse().map_err(|error: OriginError| error.to_string());
    let parsed =
        if filled.starts_with(scheme) { parsed } else { Err(format!("`{filled}`: this ask begins with `{scheme}`")) };
    match parsed {
        Ok(origin) => Some(origin),
        Err(reason) if filled == text => {
            let problem = Problem::refused(
                "bad-descriptor",
                format!("the connector asks for something that is no origin: {reason}"),
            );
            found.push(("/connector".to_owned(), problem.help("this is for the connector's author to mend")));
            None
        }
        Err(reason) => {
            let problem = Problem::invalid(
                "config",
                format!("the connector asks for `{text}`, which here means no origin: {reason}"),
            );
            found
                .push(("/config".to_owned(), problem.help("write scheme, host and maybe a port, nothing behind them")));
            None
        }
    }
}

/// `{{config:/pointer}}` replaced by the text in the configuration that it points to.
fn fill(text: &str, config: &Map<String, Value>) -> Result<String, Problem> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, placeholder)) = rest.split_once("{{config:") {
        let (pointer, after) = placeholder.split_once("}}").ok_or_else(|| {
            Problem::refused("bad-descriptor", format!("the connector asks for `{text}`: `{{{{config:` without an end"))
        })?;
        let value = Value::Object(config.clone()).pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let value = value.filter(|value| !value.is_empty() && !value.contains("{{")).ok_or_else(|| {
            let problem =
                Problem::invalid("config", format!("the connector asks for `{text}`, and `{pointer}` is not set"));
            problem.help(format!("set `{}` in `config` to a text", pointer.trim_start_matches('/').replace('/', ".")))
        })?;
        out.push_str(before);
        out.push_str(&value);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// What an operator would have to write to allow everything.
pub(crate) fn wanted(asks: &[Ask]) -> Vec<String> {
    let grant = |ask: &Ask| match ask {
        Ask::Http(origin) | Ask::Socket(origin) => Some(origin.clone()),
        Ask::State(bytes) => Some(format!("state:{}", units::show_size((*bytes).into()))),
        Ask::Lease => Some("lease".to_owned()),
        Ask::Contacts => Some("contacts".to_owned()),
        Ask::Secret(_) => None,
    };
    asks.iter().filter_map(grant).collect()
}
