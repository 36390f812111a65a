//! `action`: list, show, run.

use std::process::ExitCode;
use std::time::Duration;

use jackfield_model::action::EndingKind;
use jackfield_model::semantics::{DestructiveClass, Semantics};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::arguments::{Action, Run};
use super::exit::{self, Failure};
use super::pretty;
use super::printer::Printer;
use super::progress::Progress;
use super::schema::{self, Field};
use super::table::{self, table};
use crate::admin::Client;
use crate::admin::actions::{
    self as wire, ARGS_BYTES_MAX, ActionDocument, Actions, EffectDocument, RUN, ReportDocument, Wanted,
};
use crate::config::units;
use crate::text;

/// Longest wait for a run where the caller names no time: the action's own time ends it before.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// How much longer than the caller's time its answer may take: what ended is written to the ledger first.
const SLACK: Duration = Duration::from_secs(30);

/// Longest description of a field, in characters.
const DESCRIPTION_CHARS_MAX: usize = 400;

pub(super) async fn run(host: &Client, command: Action, printer: &Printer) -> Result<ExitCode, Failure> {
    match command {
        Action::List { connection } => {
            let wanted = Wanted { connection, action: None };
            let list: Actions = host.get("/v0/actions", &wanted).await?;
            printer.result(&list, || rows(&list.actions))?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Show { connection, action } => {
            let wanted = Wanted { connection: Some(connection), action: Some(action) };
            let mut list: Actions = host.get("/v0/actions", &wanted).await?;
            let action = list.actions.pop().ok_or_else(|| Failure::failed("the host knows it no longer"))?;
            printer.result(&action, || show(&action))?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Run(asked) => execute(host, asked, printer).await,
    }
}

/// Few words on what an action does to the world.
pub(super) fn words(semantics: &Semantics) -> String {
    let Semantics { effect, destructive, idempotency, .. } = semantics;
    let destructive = match destructive {
        DestructiveClass::None => String::new(),
        other => format!(", {}", other.as_str()),
    };
    format!("{}{destructive}, {}", effect.as_str(), idempotency.as_str())
}

fn rows(actions: &[ActionDocument]) -> String {
    if actions.is_empty() {
        return "no connector here has actions".to_owned();
    }
    let row = |action: &ActionDocument| {
        vec![
            action.connection.to_string(),
            action.action.clone(),
            words(&action.semantics),
            approval(action.needs_approval).to_owned(),
            action.implements.join(" "),
            action.summary.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = actions.iter().map(row).collect();
    table(&["CONNECTION", "ACTION", "SEMANTICS", "APPROVAL", "IMPLEMENTS", "SUMMARY"], &rows)
}

fn approval(needed: bool) -> &'static str {
    if needed { "needed" } else { "-" }
}

fn show(action: &ActionDocument) -> String {
    let Semantics { effect, scope, destructive, idempotency, retry } = &action.semantics;
    let mut lines = vec![format!("{} of {}: {}", action.action, action.connection, action.summary)];
    let mut line = |name: &str, text: String| lines.push(format!("  {name:<10} {text}"));
    line("effect", format!("{} on {}, destructive: {}", effect.as_str(), scope.as_str(), destructive.as_str()));
    line("again", format!("{}, {}", idempotency.as_str(), retry.as_str()));
    line("approval", if action.needs_approval { "needed: --approve" } else { "not needed" }.to_owned());
    line("time", format!("at most {}", units::show_duration(Duration::from_millis(action.timeout_ms))));
    for (name, list) in [("implements", &action.implements), ("scopes", &action.required_scopes)] {
        if !list.is_empty() {
            line(name, list.join(", "));
        }
    }
    line("code", format!("generation {}", action.generation));
    let takes = section("takes", "ARGUMENT", &action.input_schema, true);
    let gives = section("gives", "FIELD", &action.output_schema, false);
    text::printable(&format!("{}\n\n{takes}\n{gives}", lines.join("\n")))
}

/// What a schema says, as a table; the schema itself where it has no fields to list.
fn section(what: &str, column: &str, schema: &RawValue, arguments: bool) -> String {
    let parsed: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    let fields = schema::fields(&parsed);
    if fields.is_empty() {
        let bare = schema.get().len() <= "{\"type\": \"object\"}".len();
        return if bare {
            format!("{what}: anything, or nothing\n")
        } else {
            format!("{what}:\n{}\n", pretty::json(schema.get()))
        };
    }
    let row = |field: &Field| {
        let Field { name, kind, required, description } = field;
        let required = if *required { "yes" } else { "-" };
        let needed = arguments.then(|| required.to_owned());
        [Some(name.clone()), Some(kind.clone()), needed, Some(description.clone())].into_iter().flatten().collect()
    };
    let rows: Vec<Vec<String>> = fields.iter().map(row).collect();
    let required = arguments.then_some("REQUIRED");
    let head: Vec<&str> = [Some(column), Some("TYPE"), required, Some("DESCRIPTION")].into_iter().flatten().collect();
    table::within(DESCRIPTION_CHARS_MAX, &head, &rows)
}

async fn execute(host: &Client, asked: Run, printer: &Printer) -> Result<ExitCode, Failure> {
    let Run { connection, action, args, key, attempt, approve, timeout } = asked;
    let args = arguments(&args).await?;
    let progress = Progress::line(*printer);
    progress.say(format!("run {action} on {connection}"));
    let timeout_ms = timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let request = wire::Run { connection, action, args, key, attempt, approve, timeout_ms };
    let patience = timeout.unwrap_or(PATIENCE).saturating_add(SLACK);
    let answered = tokio::select! {
        answered = host.post_within(RUN, &request, patience) => Some(answered),
        // The connection goes with the request, and the host takes that for what it is.
        _ = tokio::signal::ctrl_c() => None,
    };
    drop(progress);
    let Some(answered) = answered else {
        let wire::Run { connection, action, .. } = request;
        printer.note(&format!(
            "jackfield: broken off, and cancelled by the host; what became of it: \
             `jackfield executions list --connection {connection} --action {action} --limit 1`"
        ));
        return Ok(exit::interrupted());
    };
    let report: ReportDocument = answered?;
    printer.result(&report, || told(&report))?;
    Ok(if report.outcome == EndingKind::Done { ExitCode::SUCCESS } else { exit::undone() })
}

/// The arguments, digit for digit. Whether the action takes them is the host's to say.
async fn arguments(given: &str) -> Result<Box<RawValue>, Failure> {
    let (from, text) = match given.strip_prefix('@') {
        Some(file) => {
            let opened = tokio::fs::File::open(file).await;
            let opened = opened.map_err(|error| Failure::Usage(format!("open the arguments in {file}: {error}")))?;
            (format!("in {file}"), read(opened, file).await?)
        }
        None if given == "-" => ("on stdin".to_owned(), read(tokio::io::stdin(), "stdin").await?),
        None => ("after --args".to_owned(), given.to_owned()),
    };
    RawValue::from_string(text).map_err(|error| {
        let hint = "write a JSON object, `@FILE` for one in a file, or `-` for one on stdin";
        Failure::Usage(format!("the arguments {from} are no JSON: {error}; {hint}"))
    })
}

async fn read(source: impl AsyncRead + Unpin, name: &str) -> Result<String, Failure> {
    let mut text = String::new();
    // One byte more than the host takes tells what is too long from what just fits.
    let read = source.take(ARGS_BYTES_MAX as u64 + 1).read_to_string(&mut text).await;
    match read {
        Ok(bytes) if bytes > ARGS_BYTES_MAX => {
            Err(Failure::Usage(format!("the arguments in {name} have more than {ARGS_BYTES_MAX} bytes")))
        }
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::Usage(format!("read the arguments from {name}: {error}"))),
    }
}

/// How it ended, the one word first.
fn told(report: &ReportDocument) -> String {
    let mut lines = vec![report.outcome.as_str().to_owned()];
    let mut line = |name: &str, text: String| lines.push(format!("{name:<13} {text}"));
    if let Some(reason) = &report.reason {
        line("reason", text::line(reason, usize::MAX));
    }
    if let Some(after) = report.after_ms {
        line("again in", units::show_duration(Duration::from_millis(after)));
    }
    if !report.provider_ids.is_empty() {
        line("provider ids", report.provider_ids.join(" "));
    }
    for EffectDocument { op, path, value } in &report.effects {
        line("for you", format!("{} {path} {}", text::word(op), value.get()));
    }
    let earlier = if report.recorded { ": recorded earlier under this key, nothing was sent now" } else { "" };
    line("execution", format!("{}, attempt {}{earlier}", report.id, report.attempt));
    for note in &report.notes {
        line("note", text::line(note, usize::MAX));
    }
    if let Some(output) = &report.output {
        lines.push(pretty::json(output.get()));
    }
    text::printable(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcome: EndingKind) -> ReportDocument {
        ReportDocument {
            id: "01890a5d0ac87b1e9f2a3b4c5d6e7f80".parse().unwrap(),
            outcome,
            attempt: 2,
            recorded: false,
            reason: None,
            after_ms: None,
            output: None,
            provider_ids: Vec::new(),
            effects: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn an_end_as_it_is_told() {
        let done = ReportDocument {
            recorded: true,
            output: Some(RawValue::from_string(r#"{"id":12345678901234567890123}"#.to_owned()).unwrap()),
            provider_ids: vec!["1\u{1b}[31m".to_owned(), "2".to_owned()],
            ..report(EndingKind::Done)
        };
        let later = ReportDocument {
            reason: Some("the platform asks\nto wait".to_owned()),
            after_ms: Some(1_500),
            notes: vec!["a lock lapsed".to_owned()],
            ..report(EndingKind::Retry)
        };
        insta::assert_snapshot!([told(&done), told(&later)].join("\n\n"));
    }

    #[tokio::test]
    async fn arguments_come_from_anywhere_and_stay_what_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("args.json");
        std::fs::write(&file, r#"{"n": 1.10}"#).unwrap();
        assert_eq!(arguments(&format!("@{}", file.display())).await.unwrap().get(), r#"{"n": 1.10}"#);
        assert_eq!(arguments("{}").await.unwrap().get(), "{}");
        std::fs::write(&file, " ".repeat(ARGS_BYTES_MAX + 1)).unwrap();
        for bad in ["{", "@/nowhere/args.json", &format!("@{}", file.display())] {
            let failure = arguments(bad).await.unwrap_err();
            assert!(matches!(&failure, Failure::Usage(_)), "{bad}: {failure:?}");
        }
    }
}
