//! `check`: what a component is, or exactly why it would be refused. Needs neither a host nor a configuration.

use std::path::Path;
use std::process::ExitCode;

use jackfield_engine::{Component, LoadErrorKind};
use jackfield_model::action::ActionSpec;
use jackfield_model::descriptor::{Ask, SecretAsk};
use jackfield_model::{Digest, clock};
use serde_json::{Value, json};

use super::action::words;
use super::exit::{self, Failure};
use super::printer::Printer;
use super::progress::Progress;
use crate::config::{build, units, usable_schema, wanted_grants};
use crate::outbound::Registry;
use crate::serve;
use crate::text;

/// What `check` says of a webhook.
const WEBHOOK_NOTE: &str =
    "it exports `webhook`, which this version of the host does not serve yet: no request would reach it";

pub(super) async fn run(path: &Path, printer: &Printer) -> Result<ExitCode, Failure> {
    let bytes = build::read(path).map_err(|problem| {
        let text = problem.message().to_owned();
        if problem.code() == "too-large" { Failure::Refused(text) } else { Failure::Failed(text) }
    })?;
    let digest = Digest::of(&bytes);
    let size = bytes.len();
    let progress = Progress::line(*printer);
    progress.say(format!("load {}", path.display()));
    let engine = serve::engine(None, clock::system())?;
    let loaded = engine.load(bytes).await;
    drop(progress);
    let component = match loaded {
        Ok(component) => component,
        Err(error) => {
            // Not the file's fault: nothing is said of it.
            if error.kind() == LoadErrorKind::Host {
                return Err(Failure::failed(error.to_string()));
            }
            return refused(printer, path, (digest, size), &error.to_string());
        }
    };
    if let Err(reason) = usable_schema(&component.descriptor().config_schema) {
        return refused(printer, path, (digest, size), &format!("its configuration schema can't be used: {reason}"));
    }
    if let Err(problems) = Registry::new(component.actions()) {
        let reason = format!("its actions can't be served:\n  - {}", problems.join("\n  - "));
        return refused(printer, path, (digest, size), &reason);
    }
    printer.result(&document(&component), || people(path, &component))?;
    Ok(ExitCode::SUCCESS)
}

fn refused(printer: &Printer, path: &Path, (digest, size): (Digest, usize), reason: &str) -> Result<ExitCode, Failure> {
    let document = json!({ "accepted": false, "digest": digest, "size": size, "reason": text::printable(reason) });
    printer.result(&document, || {
        text::printable(&format!("{} is refused: {reason}\n  size    {size} bytes\n  digest  {digest}", path.display()))
    })?;
    Ok(exit::refused())
}

fn document(component: &Component) -> Value {
    let descriptor = component.descriptor();
    let schema: Value = serde_json::from_str(&descriptor.config_schema).unwrap_or_default();
    let secrets: Vec<Value> = secrets(component)
        .iter()
        .map(|secret| json!({ "name": secret.name, "required": secret.required, "to": secret.to, "help": secret.help }))
        .collect();
    let imports: Vec<Value> =
        component.imports().iter().map(|import| json!({ "name": import.name, "version": import.version })).collect();
    json!({
        "accepted": true,
        "id": descriptor.id,
        "version": descriptor.version,
        "title": descriptor.title,
        "summary": descriptor.summary,
        "digest": component.digest().to_string(),
        "size": component.size(),
        "compiled_size": component.artifact_size(),
        "contract": component.contract(),
        "exports": exports(component),
        "imports": imports,
        "transports": descriptor.transports,
        "asks": wanted_grants(&descriptor.asks),
        "secrets": secrets,
        "exclusive": { "secrets": descriptor.exclusive.secrets, "config": descriptor.exclusive.config },
        "start_budget": descriptor.start_budget.map(|budget| json!({ "starts": budget.starts, "window": units::show_duration(budget.window) })),
        "checkpoints": { "writes": descriptor.writes_checkpoint, "reads": descriptor.reads_checkpoints },
        "actions": actions(component),
        "config_schema": schema,
        "notes": notes(component),
    })
}

fn people(path: &Path, component: &Component) -> String {
    let descriptor = component.descriptor();
    let mut lines = vec![
        format!("{} is accepted", path.display()),
        format!(
            "  is          {} {}: {} — {}",
            descriptor.id, descriptor.version, descriptor.title, descriptor.summary
        ),
        format!("  digest      {}", component.digest()),
        format!(
            "  size        {} bytes, {} compiled in {} ms",
            component.size(),
            component.artifact_size(),
            component.load_time().as_millis()
        ),
        format!("  contract    jackfield:connector@{}", component.contract()),
        format!("  exports     {}", exports(component).join(", ")),
        format!("  asks for    {}", or_nothing(&wanted_grants(&descriptor.asks))),
    ];
    for secret in secrets(component) {
        let required = if secret.required { "required" } else { "optional" };
        let to =
            if secret.to.is_empty() { "signatures only".to_owned() } else { format!("to {}", secret.to.join(", ")) };
        lines.push(format!("  secret      {} ({required}, {to}): {}", secret.name, secret.help));
    }
    let exclusive: Vec<String> =
        descriptor.exclusive.secrets.iter().chain(&descriptor.exclusive.config).cloned().collect();
    lines.push(format!("  one session a {}", or_nothing(&exclusive)));
    if let Some(budget) = descriptor.start_budget {
        lines.push(format!("  starts      at most {} in {}", budget.starts, units::show_duration(budget.window)));
    }
    lines.push(format!(
        "  checkpoints writes format {}, reads {:?}",
        descriptor.writes_checkpoint, descriptor.reads_checkpoints
    ));
    for action in component.actions() {
        let approval = if action.semantics.needs_approval() { ", needs approval" } else { "" };
        let implements =
            if action.implements.is_empty() { String::new() } else { format!(", is {}", action.implements.join(" ")) };
        lines.push(format!("  action      {}: {}{approval}{implements}", action.name, words(&action.semantics)));
    }
    lines.extend(notes(component).iter().map(|note| format!("  note        {note}")));
    text::printable(&lines.join("\n"))
}

fn or_nothing(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn exports(component: &Component) -> Vec<&'static str> {
    let exports = component.exports();
    let named = [
        ("transform", exports.transform),
        ("runtime", exports.runtime),
        ("webhook", exports.webhook),
        ("action", exports.action),
    ];
    std::iter::once("connector").chain(named.into_iter().filter(|(_, there)| *there).map(|(name, _)| name)).collect()
}

fn notes(component: &Component) -> Vec<&'static str> {
    if component.exports().webhook { vec![WEBHOOK_NOTE] } else { Vec::new() }
}

fn actions(component: &Component) -> Vec<Value> {
    let document = |action: &ActionSpec| {
        let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        json!({
            "name": action.name,
            "summary": action.summary,
            "semantics": action.semantics,
            "needs_approval": action.semantics.needs_approval(),
            "timeout": units::show_duration(action.timeout),
            "implements": action.implements,
            "required_scopes": action.required_scopes,
            "input_schema": schema(&action.input_schema),
            "output_schema": schema(&action.output_schema),
        })
    };
    component.actions().iter().map(document).collect()
}

fn secrets(component: &Component) -> Vec<&SecretAsk> {
    let asks = component.descriptor().asks.iter();
    asks.filter_map(|ask| if let Ask::Secret(secret) = ask { Some(secret) } else { None }).collect()
}
