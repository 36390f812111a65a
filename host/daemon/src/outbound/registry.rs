//! The actions of one component, ready to be asked for: schemas compiled, names looked up, arguments checked.

use std::collections::BTreeMap;
use std::time::Duration;

use jackfield_model::Digest;
use jackfield_model::action::ActionSpec;
use jackfield_model::limits::{DISPATCH_BYTES_MAX, JSON_DEPTH_MAX};
use jackfield_model::semantics::IdempotencyKind;
use jackfield_store::execution::Repeats;
use serde_json::Value;

use super::request::ArgumentProblem;
use crate::config::nearest;
use crate::config::schema::{Finding, Schema};
use crate::{redact, text};

/// Longest arguments, in bytes: as long as the longest payload that comes in.
const ARGUMENTS_BYTES_MAX: usize = DISPATCH_BYTES_MAX;

/// Most problems of arguments that are told: more are noise.
const PROBLEMS_MAX: usize = 20;

/// Longest pointer into an output that is told.
const POINTER_CHARS_MAX: usize = 160;

/// The annotation that says for how many milliseconds the platform knows a key.
const WINDOW: &str = "idempotency-window-ms";

/// The actions of one component.
#[derive(Default)]
pub struct Registry {
    actions: BTreeMap<String, Action>,
}

/// One action.
pub struct Action {
    spec: ActionSpec,
    repeats: Repeats,
    input: Schema,
    output: Schema,
}

/// Arguments that fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    /// As the guest gets them: JSON without doubled keys, keys in order.
    pub(super) text: String,
    /// Of `text`.
    pub(super) digest: Digest,
    /// As the ledger shows them.
    pub(super) redacted: String,
}

impl Registry {
    /// Compiles what a component says of its actions.
    ///
    /// # Errors
    /// What can't be used, each with its action: a schema, or answers that contradict each other.
    pub fn new(specs: &[ActionSpec]) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let mut actions = BTreeMap::new();
        for spec in specs {
            let name = &spec.name;
            problems.extend(spec.semantics.contradictions().into_iter().map(|what| format!("action `{name}`: {what}")));
            let mut compiled = |what: &str, text: &str| {
                let schema = serde_json::from_str(text).map_err(|error| format!("it is no JSON ({error})"));
                let schema = schema.and_then(Schema::new);
                schema
                    .map_err(|reason| problems.push(format!("action `{name}`: its {what} can't be used: {reason}")))
                    .ok()
            };
            let (input, output) =
                (compiled("input-schema", &spec.input_schema), compiled("output-schema", &spec.output_schema));
            let repeats = repeats(spec).map_err(|what| problems.push(format!("action `{name}`: {what}"))).ok();
            if let (Some(input), Some(output), Some(repeats)) = (input, output, repeats)
                && actions.insert(name.clone(), Action { spec: spec.clone(), repeats, input, output }).is_some()
            {
                problems.push(format!("action `{name}`: there are several of this name"));
            }
        }
        if problems.is_empty() { Ok(Self { actions }) } else { Err(problems) }
    }

    /// Every action, by name.
    pub fn specs(&self) -> impl Iterator<Item = &ActionSpec> {
        self.actions.values().map(|action| &action.spec)
    }

    /// An action, or the name that is most like it.
    pub(super) fn find(&self, name: &str) -> Result<&Action, Option<String>> {
        let near = || nearest::word(name, self.actions.keys().map(String::as_str)).map(str::to_owned);
        self.actions.get(name).ok_or_else(near)
    }
}

impl Action {
    /// What it says of itself.
    pub(super) fn spec(&self) -> &ActionSpec {
        &self.spec
    }

    /// Whether what may have been done may be done again under the same key.
    pub(super) fn repeats(&self) -> Repeats {
        self.repeats
    }

    /// Reads arguments.
    pub(super) fn arguments(&self, text: &str) -> Result<Arguments, Vec<ArgumentProblem>> {
        let whole = |problem: String| vec![ArgumentProblem { pointer: String::new(), problem }];
        if text.len() > ARGUMENTS_BYTES_MAX {
            return Err(whole(format!("{} bytes, at most {ARGUMENTS_BYTES_MAX}", text.len())));
        }
        let value: Value = serde_json::from_str(text).map_err(|error| {
            // The reader stops at this depth.
            whole(format!("this is no JSON that can be used ({error}); nested at most {JSON_DEPTH_MAX} deep"))
        })?;
        if !value.is_object() {
            return Err(whole("expected an object, for example {\"text\": \"hello\"}".to_owned()));
        }
        let findings = self.input.findings(&value, PROBLEMS_MAX);
        if !findings.is_empty() {
            return Err(findings.into_iter().map(problem).collect());
        }
        let text = canonical(&value);
        let mut shown = value;
        redact::value_in_place(&mut shown);
        Ok(Arguments { digest: Digest::of(text.as_bytes()), text, redacted: shown.to_string() })
    }

    /// What is wrong with an output, where something is. The action is done all the same.
    pub(super) fn misfit(&self, output: &Value) -> Option<String> {
        let findings = self.output.findings(output, 1);
        let first = findings.into_iter().next().map(problem)?;
        // Where, and not what is there: the ledger keeps notes as they are.
        let at = if first.pointer.is_empty() { "the whole of it" } else { &first.pointer };
        Some(format!("the output is not what the action's schema says, at {}", text::line(at, POINTER_CHARS_MAX)))
    }
}

/// What its semantics say of a second time under the same key, and its annotation of how long.
fn repeats(spec: &ActionSpec) -> Result<Repeats, String> {
    let semantics = spec.semantics;
    if !semantics.is_repeatable_with_key() {
        return Ok(Repeats::Never);
    }
    let annotations = if spec.annotations.is_empty() { "{}" } else { &spec.annotations };
    let annotations: BTreeMap<String, Value> =
        serde_json::from_str(annotations).map_err(|error| format!("its annotations are no JSON object ({error})"))?;
    match annotations.get(WINDOW) {
        // It is harmless by itself, whatever a platform remembers.
        _ if semantics.idempotency == IdempotencyKind::NaturallyIdempotent => Ok(Repeats::Always),
        None => Ok(Repeats::Always),
        Some(window) => match window.as_u64() {
            Some(ms @ 1..) => Ok(Repeats::Within(Duration::from_millis(ms))),
            _ => Err(format!("its annotation `{WINDOW}` is {window}: use a whole number of milliseconds, 1 at least")),
        },
    }
}

fn problem(finding: Finding) -> ArgumentProblem {
    let Finding { pointer, message, help, .. } = finding;
    ArgumentProblem { pointer, problem: help.map_or(message.clone(), |help| format!("{message}; {help}")) }
}

/// JSON whose keys are in order on every level, so that equal values have equal text.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<&String, &Value> = members.iter().collect();
            let members =
                sorted.into_iter().map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        simple => simple.to_string(),
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
