//! What is refused before anything is sent: what destroys without approval, and what would be done twice.

use jackfield_model::action::ActionSpec;

use super::request::{Refused, Request};

/// Longest key of a caller, in bytes: a hash, a URL or an order number with room to spare.
const KEY_BYTES_MAX: usize = 256;

/// Whether this may be run.
pub(super) fn check(spec: &ActionSpec, request: &Request) -> Result<(), Refused> {
    if let Some(key) = &request.key {
        let fits = (1..=KEY_BYTES_MAX).contains(&key.len()) && !key.chars().any(char::is_control);
        if !fits {
            let text = format!("the key is empty, longer than {KEY_BYTES_MAX} bytes, or has control characters");
            return Err(Refused::Invalid(text));
        }
    }
    if request.attempt == 0 {
        return Err(Refused::Invalid("attempts are counted from 1".to_owned()));
    }
    let semantics = spec.semantics;
    if semantics.needs_approval() && !request.approve {
        return Err(Refused::NeedsApproval { action: spec.name.clone(), class: semantics.destructive.as_str() });
    }
    if request.attempt > 1 && request.key.is_none() && !semantics.is_repeatable() {
        return Err(Refused::Repeat {
            action: spec.name.clone(),
            attempt: request.attempt,
            idempotency: semantics.idempotency.as_str(),
        });
    }
    Ok(())
}
