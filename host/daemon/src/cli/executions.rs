//! `executions`: list, show.

use std::process::ExitCode;
use std::time::Duration;

use jackfield_model::Timestamp;
use jackfield_model::action::EndingKind;
use jackfield_store::execution::Request;

use super::arguments::{Executions, Which};
use super::exit::Failure;
use super::pretty;
use super::printer::Printer;
use super::table::table;
use crate::admin::Client;
use crate::admin::executions::{self as wire, Envelope, Wanted, Whole};
use crate::config::units;
use crate::text;

pub(super) async fn run(host: &Client, command: Executions, printer: &Printer) -> Result<ExitCode, Failure> {
    match command {
        Executions::List(Which { connection, action, outcome, key, provider_id, before, limit }) => {
            let limit = usize::try_from(limit).unwrap_or(wire::PAGE_MAX);
            let wanted = Wanted { connection, action, outcome, key, provider_id, before, limit };
            let found: wire::Executions = host.get("/v0/executions", &wanted).await?;
            printer.result(&found, || list(&found.executions, limit))?;
        }
        Executions::Show { id } => {
            let whole: Whole = host.get(&format!("/v0/executions/{id}"), &()).await?;
            printer.result(&whole, || show(&whole))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The one word for how it is.
pub(super) fn outcome(execution: &Envelope) -> &'static str {
    execution.outcome.map_or("running", EndingKind::as_str)
}

/// Milliseconds between two times, as they are written.
pub(super) fn took(from: Timestamp, to: Timestamp) -> String {
    units::show_duration(to.since(from))
}

fn list(executions: &[Envelope], limit: usize) -> String {
    let Some(oldest) = executions.last() else { return "no executions".to_owned() };
    let row = |execution: &Envelope| {
        let took = execution.finished_at.map(|at| took(execution.submitted_at, at));
        let told = execution.reason.clone().unwrap_or_else(|| execution.provider_ids.join(" "));
        vec![
            execution.id.to_string(),
            execution.submitted_at.to_string(),
            execution.connection.to_string(),
            execution.action.clone(),
            outcome(execution).to_owned(),
            execution.attempt.to_string(),
            took.unwrap_or_else(|| "-".to_owned()),
            execution.key.clone().unwrap_or_else(|| "-".to_owned()),
            told,
        ]
    };
    let rows: Vec<Vec<String>> = executions.iter().map(row).collect();
    let head = ["ID", "SUBMITTED", "CONNECTION", "ACTION", "OUTCOME", "ATTEMPT", "TOOK", "KEY", "MADE, OR WHY NOT"];
    let more = if executions.len() >= limit { format!("older ones: --before {}\n", oldest.id) } else { String::new() };
    table(&head, &rows) + &more
}

fn show(whole: &Whole) -> String {
    let execution = &whole.envelope;
    let mut lines = vec![format!("execution {} on {}", execution.id, execution.connection)];
    let mut line = |name: &str, text: String| lines.push(format!("{name:<10} {}", text::line(&text, usize::MAX)));
    let key = execution.key.as_ref().map(|key| format!(", under key {key}")).unwrap_or_default();
    line("action", format!("{}, attempt {}{key}", execution.action, execution.attempt));
    let reason = execution.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    line("outcome", format!("{}{reason}", outcome(execution)));
    if !execution.provider_ids.is_empty() {
        line("made", execution.provider_ids.join(" "));
    }
    line("asked by", format!("{}, over {}", execution.caller, text::word(&execution.surface)));
    if let Some(approved) = &execution.approved {
        line("approved", format!("by {approved}"));
    }
    line("code", format!("generation {}, {}", execution.generation, execution.digest));
    line("submitted", execution.submitted_at.to_string());
    if let Some(at) = execution.started_at {
        let waited = Duration::from_millis(execution.waited_ms);
        let waited = if waited.is_zero() {
            String::new()
        } else {
            format!(", waited {} for its turn at the platform", units::show_duration(waited))
        };
        line("started", format!("{at}{waited}"));
    } else {
        // Known once it has ended in this process; one that ended with its host left no times.
        let unknown = execution.finished_at.is_none() || execution.outcome == Some(EndingKind::Unknown);
        line("started", if unknown { "not recorded" } else { "never" }.to_owned());
    }
    line(
        "finished",
        match execution.finished_at {
            Some(at) => format!("{at}, {} after it was submitted", took(execution.submitted_at, at)),
            None => "not yet".to_owned(),
        },
    );
    for note in &whole.notes {
        line("note", note.clone());
    }
    lines.push(format!("arguments, redacted:\n{}", pretty::json(whole.args.get())));
    if let Some(result) = &whole.result {
        lines.push(format!("result, redacted:\n{}", pretty::json(result.get())));
    }
    lines.push(match whole.requests.as_slice() {
        [] if execution.finished_at.is_some() && execution.started_at.is_some() => "nothing was sent".to_owned(),
        [] => "what was sent is not recorded: it runs, or ended with its host".to_owned(),
        requests => format!("sent, oldest first:\n{}", sent(requests)),
    });
    text::printable(&lines.join("\n"))
}

fn sent(requests: &[Request]) -> String {
    let row = |request: &Request| {
        let answer = match (request.status, &request.fault) {
            (Some(status), _) => status.to_string(),
            (None, Some(fault)) => fault.clone(),
            (None, None) => "-".to_owned(),
        };
        vec![
            request.at.to_string(),
            request.method.clone(),
            request.target.clone(),
            if request.left { "yes" } else { "no" }.to_owned(),
            units::show_duration(Duration::from_millis(request.ms)),
            answer,
        ]
    };
    table(&["AT", "METHOD", "TO", "LEFT", "TOOK", "ANSWER"], &requests.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use jackfield_store::execution::Surface;
    use serde_json::value::RawValue;

    use super::*;

    const AT: Timestamp = Timestamp(1_770_128_116_171);

    fn whole() -> Whole {
        let request = |after: u64, status: Option<u16>, fault: Option<&str>| Request {
            at: Timestamp(AT.0 + after),
            method: "POST".to_owned(),
            target: "https://discord.com/api/v10/channels/1/messages".to_owned(),
            left: status.is_some(),
            status,
            fault: fault.map(str::to_owned),
            ms: 80,
        };
        Whole {
            envelope: Envelope {
                id: "01890a5d0ac87b1e9f2a3b4c5d6e7f80".parse().unwrap(),
                connection: "acme".parse().unwrap(),
                action: "send-message".to_owned(),
                outcome: Some(EndingKind::Unknown),
                reason: Some("the call was killed\nafter 5 s".to_owned()),
                key: Some("order-17".to_owned()),
                attempt: 2,
                surface: Surface::Admin,
                caller: "uid:1000 (ann)".to_owned(),
                approved: None,
                submitted_at: AT,
                started_at: Some(Timestamp(AT.0 + 3)),
                finished_at: Some(Timestamp(AT.0 + 5_003)),
                waited_ms: 120,
                provider_ids: vec!["1234".to_owned()],
                generation: jackfield_model::Generation(3),
                digest: "sha256:0000".to_owned(),
            },
            args: RawValue::from_string(r#"{"channel":"1","token":"[redacted]"}"#.to_owned()).unwrap(),
            result: None,
            notes: vec!["the guest was \u{1b}[31mkilled".to_owned()],
            requests: vec![request(10, Some(429), None), request(900, None, Some("no connection within 2 s"))],
        }
    }

    #[test]
    fn one_of_them() {
        // Over the wire, as a command gets it.
        let shown = serde_json::from_str(&serde_json::to_string(&whole()).unwrap()).unwrap();
        insta::assert_snapshot!(show(&shown));
    }

    #[test]
    fn a_list_of_them() {
        let running = Envelope { outcome: None, reason: None, finished_at: None, key: None, ..whole().envelope };
        insta::assert_snapshot!(list(&[running, whole().envelope], 2));
        assert_eq!(list(&[], 2), "no executions");
    }
}
