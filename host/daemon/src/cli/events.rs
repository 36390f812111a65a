//! `events`: pages of the log, following it, and durable consumers.

use std::process::ExitCode;

use jackfield_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::arguments::Events;
use super::exit::Failure;
use super::printer::Printer;
use crate::admin::Client;
use crate::admin::events::{CursorDocument, PAGE_MAX, Page, Place, Wanted};
use crate::text;

/// Events shown where nobody says how many.
const LIMIT: u64 = 50;

/// Seconds that one request waits for an event.
const WAIT: u64 = 20;

/// Longest piece of a message on a line for people, in characters.
const TEXT_CHARS_MAX: usize = 80;

pub(super) async fn run(host: &Client, asked: Events, printer: &Printer) -> Result<ExitCode, Failure> {
    let mut reading = Reading { host, printer, asked, left: u64::MAX };
    let after = reading.begin().await?;
    if !reading.asked.follow {
        reading.left = reading.asked.limit.unwrap_or(LIMIT);
        if after.is_none() && reading.left > PAGE_MAX as u64 {
            let text = format!(
                "more than the newest {PAGE_MAX} events: say behind which position, for example `--after 0` for all"
            );
            return Err(Failure::failed(text));
        }
        return reading.list(after).await;
    }
    let after = match after {
        Some(after) => after,
        None => reading.newest().await?,
    };
    reading.follow(after).await
}

/// A list as one document. Events are passed on as they stand: their numbers may be longer than any type of ours.
#[derive(Serialize)]
struct Listed<'a> {
    events: &'a [Box<RawValue>],
    seen: Option<u64>,
}

struct Reading<'a> {
    host: &'a Client,
    printer: &'a Printer,
    asked: Events,
    left: u64,
}

impl Reading<'_> {
    /// Where to begin: at the consumer's place, behind a position, or (nothing said) with the newest.
    async fn begin(&self) -> Result<Option<u64>, Failure> {
        let Some(name) = &self.asked.consumer else { return Ok(self.asked.after) };
        let cursor: CursorDocument = self.host.get(&cursor_path(name), &()).await?;
        let position = cursor.position.unwrap_or(0);
        if cursor.position.is_none() {
            // From now on nothing is pruned before this consumer has seen it.
            self.advance(0).await?;
        }
        Ok(Some(position))
    }

    async fn list(mut self, after: Option<u64>) -> Result<ExitCode, Failure> {
        let mut all: Vec<Box<RawValue>> = Vec::new();
        let mut seen = after;
        loop {
            let page = self.page(seen, self.left, 0).await?;
            let full = page.events.len() as u64 >= self.left.min(PAGE_MAX as u64) && !page.events.is_empty();
            self.left = self.left.saturating_sub(page.events.len() as u64);
            all.extend(page.events);
            // The newest come in one page, and there is nothing behind them.
            let more = full && self.left > 0 && after.is_some();
            seen = Some(page.seen);
            if !more {
                break;
            }
        }
        if self.printer.is_json() {
            self.printer.document(&Listed { events: &all, seen })?;
        } else {
            self.lines(&all)?;
        }
        self.moved(seen.unwrap_or(0)).await?;
        Ok(ExitCode::SUCCESS)
    }

    /// Writes the newest, and says where the log ends.
    async fn newest(&self) -> Result<u64, Failure> {
        let page = self.page(None, self.asked.limit.unwrap_or(LIMIT), 0).await?;
        self.lines(&page.events)?;
        Ok(page.seen)
    }

    async fn follow(self, mut after: u64) -> Result<ExitCode, Failure> {
        loop {
            let page = self.page(Some(after), PAGE_MAX as u64, WAIT).await?;
            // Only what was written and has left this process counts as dealt with.
            self.lines(&page.events)?;
            if page.seen > after {
                after = page.seen;
                self.moved(after).await?;
            }
        }
    }

    async fn page(&self, after: Option<u64>, limit: u64, wait: u64) -> Result<Page, Failure> {
        let limit = usize::try_from(limit).unwrap_or(PAGE_MAX).min(PAGE_MAX);
        let wanted =
            Wanted { connection: self.asked.connection.clone(), name: self.asked.name.clone(), after, limit, wait };
        Ok(self.host.get("/v0/events", &wanted).await?)
    }

    fn lines(&self, events: &[Box<RawValue>]) -> Result<(), Failure> {
        let line = |event: &str| if self.printer.is_json() { event.to_owned() } else { for_people(event) };
        let lines: Vec<String> = events.iter().map(|event| line(event.get())).collect();
        if lines.is_empty() { Ok(()) } else { self.printer.text(&lines.join("\n")) }
    }

    async fn moved(&self, position: u64) -> Result<(), Failure> {
        if self.asked.consumer.is_some() { self.advance(position).await } else { Ok(()) }
    }

    async fn advance(&self, position: u64) -> Result<(), Failure> {
        let Some(name) = &self.asked.consumer else { return Ok(()) };
        Ok(self.host.put(&cursor_path(name), &Place { position }).await?)
    }
}

fn cursor_path(name: &str) -> String {
    let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
    format!("/v0/cursors/{name}")
}

/// What a line for people shows.
#[derive(Deserialize)]
struct Shown {
    position: u64,
    connection: String,
    name: String,
    key: String,
    occurred_at: Timestamp,
    location: Option<Location>,
    subject: Option<Subject>,
    properties: serde_json::Value,
    late: bool,
}

#[derive(Deserialize)]
struct Location {
    room: Option<String>,
    peer: Option<String>,
}

#[derive(Deserialize)]
struct Subject {
    ids: Vec<String>,
    display_name: Option<String>,
}

fn for_people(event: &str) -> String {
    let Ok(event) = serde_json::from_str::<Shown>(event) else { return text::line(event, TEXT_CHARS_MAX) };
    let place = event.location.and_then(|location| location.room.or(location.peer)).unwrap_or_default();
    let who =
        event.subject.map(|subject| subject.display_name.or_else(|| subject.ids.first().cloned()).unwrap_or_default());
    let said = event.properties.get("text").and_then(serde_json::Value::as_str).unwrap_or_default();
    let late = if event.late { " late" } else { "" };
    let line = format!(
        "{:>8}  {}  {}  {}{late}  {}  {place}  {}  {}",
        event.position,
        event.occurred_at,
        event.connection,
        event.name,
        event.key,
        who.unwrap_or_default(),
        text::line(said, TEXT_CHARS_MAX),
    );
    text::line(line.trim_end(), usize::MAX)
}
