//! Where results and complaints go: the one place that writes to stdout, and the one that writes complaints to stderr.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde::Serialize;

use super::arguments::Output;
use super::exit::Failure;
use crate::config::{Environment, Problems};
use crate::text;

/// Width of a diagnostic where the terminal says nothing.
const WIDTH: usize = 110;

/// Writes results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    json: bool,
    colour: bool,
}

impl Printer {
    pub(super) fn new(output: Output, environment: &Environment) -> Self {
        let colour = io::stderr().is_terminal() && !environment.no_colour();
        Self { json: output == Output::Json, colour }
    }

    /// Results are documents.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Writes a result, in its form for people or as a document, and ends the line. The result has left this process when
    /// this returns.
    pub(crate) fn result(self, document: &impl Serialize, people: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json { self.document(document) } else { self.text(&people()) }
    }

    /// Writes a document on one line.
    pub(crate) fn document(self, document: &impl Serialize) -> Result<(), Failure> {
        let line =
            serde_json::to_string(document).map_err(|error| Failure::failed(format!("write the result: {error}")))?;
        self.text(&line)
    }

    /// Writes text as it is, and a line end where it lacks one.
    pub(crate) fn text(self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let written =
            out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes())).and_then(|()| out.flush());
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::Unread,
            _ => Failure::failed(format!("write to stdout: {error}")),
        })
    }

    /// Writes problems for people to stderr. There is nobody to tell when that fails.
    pub(crate) fn complain(self, problems: &Problems) {
        if !problems.is_empty() {
            _ = io::stderr().lock().write_all(problems.render(self.colour, WIDTH).as_bytes());
        }
    }

    /// Writes a line for people to stderr.
    pub(crate) fn note(self, line: &str) {
        _ = writeln!(io::stderr().lock(), "{}", text::printable(line));
    }

    /// Says why a command failed, and how the process ends.
    pub(super) fn fail(self, failure: &Failure) -> ExitCode {
        match failure {
            Failure::Failed(text) | Failure::Refused(text) | Failure::Usage(text) if self.json => {
                self.note(&serde_json::json!({ "error": text }).to_string());
            }
            Failure::Failed(text) | Failure::Refused(text) | Failure::Usage(text) => {
                self.note(&format!("jackfield: {text}"));
            }
            Failure::Host(refusal) if self.json => self.note(&refusal.document().to_string()),
            Failure::Host(refusal) => self.note(&format!("jackfield: {}", refusal.error)),
            Failure::Problems(problems) if self.json => {
                self.note(&serde_json::json!({ "problems": problems.documents() }).to_string());
            }
            Failure::Problems(problems) => self.complain(problems),
            Failure::Unread => {}
        }
        failure.code()
    }
}
