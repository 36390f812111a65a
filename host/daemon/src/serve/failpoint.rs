//! Crashes to order, for the harness that tries them out: `JACKFIELD_FAILPOINT=name[:n]` kills this process, without a
//! chance to tidy up, when the point of that name is reached for the nth time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Signal, getpid, kill_process};

use crate::cli::Failure;
use crate::config::Environment;
use crate::failpoint::{Failpoint, POINTS};

/// The failpoint that the environment asks for.
pub(super) fn from(environment: &Environment) -> Result<Failpoint, Failure> {
    let Some(asked) = environment.failpoint() else { return Ok(Failpoint::default()) };
    let (name, count) = asked.split_once(':').unwrap_or((&asked, "1"));
    let point = POINTS.into_iter().find(|point| *point == name);
    let (Some(point), Ok(count @ 1..)) = (point, count.parse::<u64>()) else {
        let text = format!("JACKFIELD_FAILPOINT={asked}: write `name` or `name:n`, with one of {}", POINTS.join(", "));
        return Err(Failure::failed(text));
    };
    let hits = AtomicU64::new(0);
    let hook = move |name: &'static str| {
        if name == point && hits.fetch_add(1, Ordering::SeqCst).saturating_add(1) == count {
            // Nothing may run after this: not a destructor, not a flush.
            _ = kill_process(getpid(), Signal::KILL);
        }
    };
    Ok(Failpoint::new(Some(Arc::new(hook))))
}
