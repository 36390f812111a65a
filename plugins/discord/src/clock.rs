//! The component's clock. Real in `runtime` and `action`, where it is recorded with the call; constant in `transform`,
//! which never reads it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "a component has no other clock than WASI's")]
pub(crate) fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| u64::try_from(since.as_millis()).ok())
        .unwrap_or_default()
}
