//! What a guest says it brought about, made fit for callers and for the ledger: bounded, masked, and redacted where it stays.

use jackfield_engine::secret::Mask;
use jackfield_model::action::{Ending, Outcome, Patch};
use serde_json::Value;

use super::registry::Action;
use crate::redact;

/// Longest output, in bytes.
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// Most ids of the platform.
const PROVIDER_IDS_MAX: usize = 1_000;
/// Longest id, in bytes.
const PROVIDER_ID_BYTES_MAX: usize = 256;
/// Most patches for the caller.
const PATCHES_MAX: usize = 256;
/// Longest reason, in bytes.
const REASON_BYTES_MAX: usize = 4 * 1024;
/// Longest arguments or output in the ledger, in bytes: it is read by people, and kept for a month.
const LEDGER_BYTES_MAX: usize = 64 * 1024;

/// An outcome within bounds. What had to go is noted: it was brought about all the same.
pub(super) fn bounded(mut outcome: Outcome, action: &Action, notes: &mut Vec<String>) -> Outcome {
    match serde_json::from_str::<Value>(&outcome.output) {
        _ if outcome.output.len() > OUTPUT_BYTES_MAX => {
            notes.push(format!("the output has {} bytes, at most {OUTPUT_BYTES_MAX}: dropped", outcome.output.len()));
            "null".clone_into(&mut outcome.output);
        }
        Ok(value) => notes.extend(action.misfit(&value)),
        Err(error) => {
            notes.push(format!("the output is no JSON ({error}): dropped"));
            "null".clone_into(&mut outcome.output);
        }
    }
    let ids = outcome.provider_ids.len();
    outcome.provider_ids.retain(|id| (1..=PROVIDER_ID_BYTES_MAX).contains(&id.len()));
    outcome.provider_ids.truncate(PROVIDER_IDS_MAX);
    if outcome.provider_ids.len() < ids {
        notes.push(format!("{} ids of the platform were dropped", ids - outcome.provider_ids.len()));
    }
    let patches = outcome.effects.len();
    let fits = |patch: &Patch| patch.path.len() + patch.value.len() <= LEDGER_BYTES_MAX;
    outcome.effects.retain(fits);
    outcome.effects.truncate(PATCHES_MAX);
    if outcome.effects.len() < patches {
        notes.push(format!("{} effects for the caller were dropped", patches - outcome.effects.len()));
    }
    outcome
}

/// An ending without secrets of the connection in it.
pub(super) fn masked(ending: Ending, mask: &Mask) -> Ending {
    let text = |text: String| mask.text(&text).into_owned();
    let reason = |reason: String| {
        let masked = mask.text(&reason);
        let end = masked.floor_char_boundary(REASON_BYTES_MAX);
        masked.get(..end).unwrap_or_default().to_owned()
    };
    let outcome = |Outcome { output, provider_ids, effects }| Outcome {
        output: text(output),
        provider_ids: provider_ids.into_iter().map(text).collect(),
        effects: effects
            .into_iter()
            .map(|Patch { op, path, value }| Patch { op, path: text(path), value: text(value) })
            .collect(),
    };
    match ending {
        Ending::Done(done) => Ending::Done(outcome(done)),
        Ending::Partial(done) => Ending::Partial(outcome(done)),
        Ending::Rejected { reason: why } => Ending::Rejected { reason: reason(why) },
        Ending::Retry { reason: why, after_ms } => Ending::Retry { reason: reason(why), after_ms },
        Ending::Unauthorized { reason: why } => Ending::Unauthorized { reason: reason(why) },
        Ending::Unknown { reason: why } => Ending::Unknown { reason: reason(why) },
    }
}

/// An output as the ledger shows it.
pub(super) fn shown(ending: &Ending) -> String {
    let value = ending.outcome().and_then(|outcome| serde_json::from_str::<Value>(&outcome.output).ok());
    let Some(mut value) = value else { return String::new() };
    redact::value_in_place(&mut value);
    kept(value.to_string())
}

/// JSON that is kept in the ledger, or how long it was.
pub(super) fn kept(json: String) -> String {
    if json.len() <= LEDGER_BYTES_MAX { json } else { format!("{{\"omitted\":\"{} bytes\"}}", json.len()) }
}
