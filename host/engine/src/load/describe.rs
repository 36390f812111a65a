//! Asking a component who it is, once, under limits of its own; and holding it to what it says.
//!
//! A cached component is asked too, and its answer is not kept with the artifact. The instance that is made for it is where the
//! types of all exports are compared with this host's, which may have changed since it was sealed; and most of what asking
//! costs is what the first instance costs, which would only move to the first call.

use std::sync::Arc;

use jackfield_model::action::ActionSpec;
use jackfield_model::descriptor::{Ask, Descriptor, Exclusive};

use super::actions;
use super::error::LoadError;
use crate::cell::{Cell, bounded};
use crate::component::{Component, Inner};
use crate::guest::Guest;
use crate::json;
use crate::limits::{DESCRIBE_TIME_MAX, GuestLimits, LABEL_BYTES_MAX};
use crate::log::LogSink;
use crate::phase::Phase;

const EXPORT: &str = "connector.describe";

/// Longest id: it stands in keys, file names and event names.
const ID_BYTES_MAX: usize = 64;

/// Longest text for people, in bytes.
pub(super) const TEXT_BYTES_MAX: usize = 4 * 1024;

/// Longest configuration schema, in bytes.
pub(super) const SCHEMA_BYTES_MAX: usize = 256 * 1024;

/// Most entries of each list. No connector comes near.
pub(super) const ENTRIES_MAX: usize = 64;

/// What stands in a component before it was asked.
pub(super) fn none() -> Descriptor {
    Descriptor {
        id: String::new(),
        version: String::new(),
        title: String::new(),
        summary: String::new(),
        transports: Vec::new(),
        config_schema: String::new(),
        asks: Vec::new(),
        exclusive: Exclusive::default(),
        start_budget: None,
        writes_checkpoint: 0,
        reads_checkpoints: Vec::new(),
        annotations: String::new(),
    }
}

/// Instantiates it, checks the types of all its exports, and calls `describe`.
pub(super) async fn describe(component: Component) -> Result<Component, LoadError> {
    let engine = component.engine();
    let limits = GuestLimits { memory: engine.ceilings().memory, call: DESCRIBE_TIME_MAX, ..GuestLimits::default() };
    let clock = Arc::clone(engine.clock());
    let log = LogSink::none(Arc::clone(&clock));
    let guest = Guest::pure(limits, clock, log, Arc::from(""));
    let mut cell = Cell::new(&component, guest, limits.call).await?;

    let indices = &component.0.indices;
    let interfaces = cell.interface(|store, instance| {
        if let Some(transform) = &indices.transform {
            transform.load(&mut *store, instance)?;
        }
        if let Some(runtime) = &indices.runtime {
            runtime.load(&mut *store, instance)?;
        }
        if let Some(webhook) = &indices.webhook {
            webhook.load(&mut *store, instance)?;
        }
        let action = indices.action.as_ref().map(|action| action.load(&mut *store, instance)).transpose()?;
        Ok((indices.connector.load(&mut *store, instance)?, action))
    });
    let (connector, action) = interfaces.map_err(|failure| LoadError::Contract(vec![failure.message]))?;

    cell.begin(EXPORT, Phase::Describe, limits.call)?;
    let returned = bounded(limits.call, connector.call_describe(&mut cell.store)).await;
    let descriptor = Descriptor::from(cell.end(EXPORT, returned)?);
    let mut problems = problems(&descriptor);
    let mut actions = Vec::new();
    if let Some(action) = action {
        cell.begin(actions::EXPORT, Phase::Describe, limits.call)?;
        let returned = bounded(limits.call, action.call_describe(&mut cell.store)).await;
        actions = cell.end(actions::EXPORT, returned)?.into_iter().map(ActionSpec::from).collect();
        problems.extend(actions::problems(&actions));
    }
    if !problems.is_empty() {
        return Err(LoadError::Descriptor(problems));
    }
    drop(cell);
    let inner = Arc::into_inner(component.0);
    let inner = inner.ok_or_else(|| LoadError::Host("the component is in use before it was described".to_owned()))?;
    let namespace = Arc::from(descriptor.id.as_str());
    Ok(Component(Arc::new(Inner { descriptor, namespace, actions, ..inner })))
}

/// All that breaks the contract.
fn problems(descriptor: &Descriptor) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |fits: bool, problem: String| {
        if !fits {
            problems.push(problem);
        }
    };
    let id = &descriptor.id;
    check(is_id(id), format!("id {id:?}: use `^[a-z][a-z0-9-]*$`, at most {ID_BYTES_MAX} bytes"));
    for (what, text, min, max) in [
        ("version", &descriptor.version, 1, LABEL_BYTES_MAX),
        ("title", &descriptor.title, 1, LABEL_BYTES_MAX),
        ("summary", &descriptor.summary, 0, TEXT_BYTES_MAX),
        ("config-schema", &descriptor.config_schema, 2, SCHEMA_BYTES_MAX),
        ("annotations", &descriptor.annotations, 0, TEXT_BYTES_MAX),
    ] {
        check((min..=max).contains(&text.len()), format!("{what}: {} bytes, use {min} to {max}", text.len()));
    }
    if let Err(problem) = json::object(&descriptor.config_schema) {
        check(false, format!("config-schema: {problem}"));
    }
    if !descriptor.annotations.is_empty()
        && let Err(problem) = json::object(&descriptor.annotations)
    {
        check(false, format!("annotations: {problem}"));
    }
    let lists = [
        ("transports", descriptor.transports.len()),
        ("asks", descriptor.asks.len()),
        ("exclusive.secrets", descriptor.exclusive.secrets.len()),
        ("exclusive.config", descriptor.exclusive.config.len()),
        ("reads-checkpoints", descriptor.reads_checkpoints.len()),
    ];
    for (what, entries) in lists {
        check(entries <= ENTRIES_MAX, format!("{what}: {entries} entries, at most {ENTRIES_MAX}"));
    }
    for pointer in &descriptor.exclusive.config {
        let fits = pointer.starts_with('/') && pointer.len() <= LABEL_BYTES_MAX;
        check(fits, format!("exclusive.config {pointer:?}: use a JSON pointer that begins with `/`"));
    }
    let secrets: Vec<&str> = descriptor.asks.iter().filter_map(secret_name).collect();
    for name in &descriptor.exclusive.secrets {
        check(secrets.contains(&name.as_str()), format!("exclusive.secrets {name:?}: it is not asked for"));
    }
    for ask in &descriptor.asks {
        ask_problems(ask, &descriptor.asks, &mut check);
    }
    if let Some(budget) = &descriptor.start_budget {
        let fits = budget.starts > 0 && !budget.window.is_zero();
        check(fits, "start-budget: use at least one start, and a window longer than nothing".to_owned());
    }
    problems
}

fn ask_problems(ask: &Ask, asks: &[Ask], check: &mut impl FnMut(bool, String)) {
    let origin = |text: &str, scheme: &str| text.starts_with(scheme) && text.len() <= LABEL_BYTES_MAX;
    match ask {
        Ask::Http(text) => check(origin(text, "https://"), format!("ask http {text:?}: use `https://host[:port]`")),
        Ask::Socket(text) => check(origin(text, "wss://"), format!("ask socket {text:?}: use `wss://host[:port]`")),
        Ask::Secret(secret) => {
            let name = &secret.name;
            check(is_id(name), format!("ask secret {name:?}: use `^[a-z][a-z0-9-]*$`, at most {ID_BYTES_MAX} bytes"));
            let same = asks.iter().filter_map(secret_name).filter(|other| other == name).count();
            check(same == 1, format!("ask secret {name:?}: asked for {same} times"));
            check(
                secret.help.len() <= TEXT_BYTES_MAX,
                format!("ask secret {name:?}: help is longer than {TEXT_BYTES_MAX} bytes"),
            );
            for to in &secret.to {
                let asked = asks.iter().any(|ask| matches!(ask, Ask::Http(text) | Ask::Socket(text) if text == to));
                check(asked, format!("ask secret {name:?}, to {to:?}: ask for it as `http` or `socket` too"));
            }
        }
        Ask::State(_) | Ask::Lease | Ask::Contacts => {}
    }
}

fn secret_name(ask: &Ask) -> Option<&str> {
    match ask {
        Ask::Secret(secret) => Some(&secret.name),
        _ => None,
    }
}

pub(super) fn is_id(id: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    id.len() <= ID_BYTES_MAX && id.bytes().next().is_some_and(|b| b.is_ascii_lowercase()) && id.bytes().all(inner)
}
