//! What a component says can be done with it, held to the rules of the contract. Schemas are compiled by whoever checks
//! arguments with them; here they only have to be JSON objects.

use std::collections::BTreeSet;

use jackfield_model::action::ActionSpec;

use super::describe::{ENTRIES_MAX, SCHEMA_BYTES_MAX, TEXT_BYTES_MAX, is_id};
use crate::json;
use crate::limits::LABEL_BYTES_MAX;

pub(super) const EXPORT: &str = "action.describe";

/// Most actions of one connector. A whole platform API has a few hundred calls.
const ACTIONS_MAX: usize = 512;

/// All that breaks the contract.
pub(super) fn problems(actions: &[ActionSpec]) -> Vec<String> {
    let mut problems = Vec::new();
    if actions.len() > ACTIONS_MAX {
        problems.push(format!("actions: {} of them, at most {ACTIONS_MAX}", actions.len()));
    }
    let mut names = BTreeSet::new();
    for action in actions.iter().take(ACTIONS_MAX) {
        let name = &action.name;
        let mut check = |fits: bool, problem: String| {
            if !fits {
                problems.push(format!("action {name:?}: {problem}"));
            }
        };
        check(is_id(name), "name: use `^[a-z][a-z0-9-]*$`, at most 64 bytes".to_owned());
        check(names.insert(name), "name: there are several of this name".to_owned());
        let summary = &action.summary;
        check(summary.len() <= TEXT_BYTES_MAX, format!("summary: {} bytes, at most {TEXT_BYTES_MAX}", summary.len()));
        for (what, schema) in [("input-schema", &action.input_schema), ("output-schema", &action.output_schema)] {
            let length = schema.len();
            check(length <= SCHEMA_BYTES_MAX, format!("{what}: {length} bytes, at most {SCHEMA_BYTES_MAX}"));
            if let Err(problem) = json::object(schema) {
                check(false, format!("{what}: {problem}"));
            }
        }
        check(!action.timeout.is_zero(), "timeout: use a time longer than nothing".to_owned());
        for problem in action.semantics.contradictions() {
            check(false, format!("semantics: {problem}"));
        }
        for (what, list) in [("implements", &action.implements), ("required-scopes", &action.required_scopes)] {
            check(list.len() <= ENTRIES_MAX, format!("{what}: {} entries, at most {ENTRIES_MAX}", list.len()));
            let fits = list.iter().all(|entry| (1..=LABEL_BYTES_MAX).contains(&entry.len()));
            check(fits, format!("{what}: use entries of 1 to {LABEL_BYTES_MAX} bytes"));
        }
        let annotations = &action.annotations;
        check(annotations.len() <= TEXT_BYTES_MAX, format!("annotations: at most {TEXT_BYTES_MAX} bytes"));
        if !annotations.is_empty()
            && let Err(problem) = json::object(annotations)
        {
            check(false, format!("annotations: {problem}"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jackfield_model::semantics::{
        DestructiveClass, EffectClass, IdempotencyKind, MutationScope, RetrySafety, Semantics,
    };

    use super::*;

    fn good() -> ActionSpec {
        ActionSpec {
            name: "send-message".to_owned(),
            summary: String::new(),
            input_schema: "{}".to_owned(),
            output_schema: "{}".to_owned(),
            semantics: Semantics {
                effect: EffectClass::Send,
                scope: MutationScope::ExternalDelivery,
                destructive: DestructiveClass::IrreversibleSend,
                idempotency: IdempotencyKind::NotIdempotent,
                retry: RetrySafety::NoAutomaticRetry,
            },
            timeout: Duration::from_secs(1),
            implements: Vec::new(),
            required_scopes: Vec::new(),
            annotations: String::new(),
        }
    }

    #[test]
    fn a_good_one_has_no_problem_and_two_of_a_name_do() {
        assert_eq!(problems(&[good()]), Vec::<String>::new());
        assert_eq!(problems(&[good(), good()]).len(), 1);
    }

    #[test]
    fn every_problem_is_told_with_its_action() {
        let semantics = Semantics { retry: RetrySafety::SafeRetry, ..good().semantics };
        let bad = [
            (ActionSpec { name: "Send".to_owned(), ..good() }, "name"),
            (ActionSpec { input_schema: "[]".to_owned(), ..good() }, "input-schema"),
            (ActionSpec { output_schema: String::new(), ..good() }, "output-schema"),
            (ActionSpec { timeout: Duration::ZERO, ..good() }, "timeout"),
            (ActionSpec { semantics, ..good() }, "semantics"),
            (ActionSpec { implements: vec![String::new()], ..good() }, "implements"),
            (ActionSpec { required_scopes: vec!["x".to_owned(); 65], ..good() }, "required-scopes"),
            (ActionSpec { annotations: "1".to_owned(), ..good() }, "annotations"),
        ];
        for (action, part) in bad {
            let found = problems(std::slice::from_ref(&action));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(&format!("action {:?}: {part}", action.name)), "{found:?}");
        }
    }
}
