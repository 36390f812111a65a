//! `serve`: the host in the foreground.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use super::exit::Failure;
use super::printer::Printer;
use super::progress::Progress;
use crate::config::{Environment, Problems};
use crate::serve::signal::Ending;
use crate::serve::{GRACE, Running};
use crate::spec::Spec;

pub(super) async fn run(path: &Path, printer: &Printer, environment: &Environment) -> Result<ExitCode, Failure> {
    let system = |error: std::io::Error| Failure::failed(format!("listen for signals: {error}"));
    let mut ending = Ending::new().map_err(system)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(system)?;
    let progress = Progress::line(*printer);
    let complain = |problems: &Problems| printer.complain(problems);
    let running = tokio::select! {
        started = Running::start(path, environment, &progress, &complain) => started?,
        name = ending.next() => return Err(Failure::failed(format!("{name} came before the host was up"))),
    };
    drop(progress);
    let connections = running.specs().len();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), config = %path.display(), connections, "ready");
    let broken = loop {
        tokio::select! {
            name = ending.next() => {
                tracing::info!(signal = name, grace = ?GRACE, "stopping; the same again stops at once");
                break None;
            }
            error = running.host.broken() => {
                tracing::error!(error, "the store can't be trusted any more");
                break Some(error);
            }
            _ = hangup.recv() => reload(&running, path, environment).await,
        }
    };
    tokio::select! {
        () = running.stop(GRACE) => tracing::info!("stopped"),
        name = ending.next() => {
            tracing::warn!(signal = name, "stopped at once; what was under way comes again after the next start");
            return Ok(ExitCode::FAILURE);
        }
    }
    match broken {
        None => Ok(ExitCode::SUCCESS),
        Some(error) => Err(Failure::failed(error)),
    }
}

/// Says what a reload would change. Applying it on the live sockets is a later version's; until then a restart does it.
async fn reload(running: &Running, path: &Path, environment: &Environment) {
    match running.consider(path, environment).await {
        Ok((specs, warnings)) => {
            let changes = changes(running.specs(), &specs);
            if !warnings.is_empty() {
                tracing::warn!(%warnings, "reload: worth knowing");
            }
            match changes.as_slice() {
                [] => tracing::info!("reload: the file is valid and changes nothing"),
                changes => tracing::warn!(
                    changes = changes.join(", "),
                    "reload: the file is valid; this version applies changes with a restart only, everything goes on as it was"
                ),
            }
        }
        Err(Failure::Problems(problems)) => {
            tracing::error!(%problems, "reload: the file is refused, everything goes on as it was");
        }
        Err(failure) => tracing::error!(?failure, "reload: everything goes on as it was"),
    }
}

/// What differs, one phrase a connection.
fn changes(running: &[Spec], wanted: &[Spec]) -> Vec<String> {
    let by_id = |specs: &[Spec]| {
        specs.iter().map(|spec| (spec.id.clone(), spec.fingerprint.clone())).collect::<BTreeMap<_, _>>()
    };
    let (running, wanted) = (by_id(running), by_id(wanted));
    let added = wanted.keys().filter(|id| !running.contains_key(*id)).map(|id| format!("{id} would be added"));
    let removed = running.keys().filter(|id| !wanted.contains_key(*id)).map(|id| format!("{id} would be removed"));
    let differs = wanted.iter().filter(|(id, print)| running.get(*id).is_some_and(|running| running != *print));
    added.chain(removed).chain(differs.map(|(id, _)| format!("{id} would be changed"))).collect()
}
