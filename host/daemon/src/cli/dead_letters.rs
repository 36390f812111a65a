//! `dead-letters`: list, show, redrive, discard.

use std::process::ExitCode;

use serde_json::json;

use super::arguments::DeadLetters;
use super::exit::Failure;
use super::printer::Printer;
use super::table::table;
use crate::admin::Client;
use crate::admin::dead_letters::{Envelope, Letters, Redriven, Show, Wanted, Whole};
use crate::text;

pub(super) async fn run(host: &Client, command: DeadLetters, printer: &Printer) -> Result<ExitCode, Failure> {
    match command {
        DeadLetters::List { connection, after, limit } => {
            let wanted = Wanted { connection, after, limit: usize::try_from(limit).unwrap_or(usize::MAX) };
            let letters: Letters = host.get("/v0/dead-letters", &wanted).await?;
            printer.result(&letters, || list(&letters.dead_letters))?;
        }
        DeadLetters::Show { id, raw } => {
            let whole: Whole = host.get(&path(id), &Show { raw }).await?;
            printer.result(&whole, || show(&whole))?;
        }
        DeadLetters::Redrive { ids } => {
            let mut redriven = Vec::new();
            for id in ids {
                let one: Redriven = host.post(&format!("{}/redrive", path(id)), &()).await?;
                redriven.push(one);
            }
            let line = |one: &Redriven| match one.served {
                true => format!("{} goes to {} again", one.id, one.connection),
                false => format!("{} waits for {}, which is not served at the moment", one.id, one.connection),
            };
            printer.result(&json!({ "redriven": redriven }), || {
                redriven.iter().map(line).collect::<Vec<_>>().join("\n")
            })?;
        }
        DeadLetters::Discard { ids } => {
            for id in &ids {
                host.delete(&path(*id)).await?;
            }
            printer.result(&json!({ "discarded": ids }), || format!("{} discarded", ids.len()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn path(id: u64) -> String {
    format!("/v0/dead-letters/{id}")
}

fn list(letters: &[Envelope]) -> String {
    if letters.is_empty() {
        return "no dead letters".to_owned();
    }
    let row = |letter: &Envelope| {
        vec![
            letter.id.to_string(),
            letter.connection.to_string(),
            letter.died_at.to_string(),
            letter.kind.clone(),
            text::word(&letter.stage),
            letter.attempts.to_string(),
            letter.repeats.saturating_add(1).to_string(),
            letter.bytes.to_string(),
            letter.error.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = letters.iter().map(row).collect();
    table(&["ID", "CONNECTION", "DIED", "KIND", "STAGE", "TRIES", "TIMES", "BYTES", "ERROR"], &rows)
}

fn show(whole: &Whole) -> String {
    let letter = &whole.envelope;
    let pretty = |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let payload = match (&whole.raw, &whole.payload) {
        (Some(raw), _) if whole.base64 => format!("payload, {} bytes, in base64:\n{raw}", letter.bytes),
        (Some(raw), _) => format!("payload, {} bytes, as received:\n{raw}", letter.bytes),
        (None, Some(payload)) => {
            format!("payload, {} bytes, redacted (as received: --raw):\n{}", letter.bytes, pretty(payload))
        }
        (None, None) => format!(
            "payload: {} bytes that are no JSON, so nothing in them can be masked (as received: --raw)",
            letter.bytes
        ),
    };
    let again = match letter.repeats {
        0 => String::new(),
        times => format!(", and came again {times} times since"),
    };
    let context = whole.context.as_ref().map(pretty).unwrap_or_default();
    let head = [
        format!("dead letter {} of {}", letter.id, letter.connection),
        format!("kind      {}, lane {}", letter.kind, letter.lane),
        format!("died      {} in {} after {} tries{again}", letter.died_at, text::word(&letter.stage), letter.attempts),
        format!("error     {}", letter.error),
        format!("received  {} by generation {}", letter.received_at, letter.submitted_by),
        format!("tried by  {}", letter.digest),
        format!("context   {context}"),
    ];
    text::printable(&format!("{}\n{payload}", head.join("\n")))
}
