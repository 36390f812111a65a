//! What is wrong with a configuration: every problem with its place, what to change, and whether it is an error, a
//! refusal or a warning. Shown all at once, in the order of the file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use serde::Serialize;

use crate::text;

/// How grave a problem is, and so how the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Worth knowing; nothing is kept from running.
    Warning,
    /// The file is well-formed and something in it is not allowed: a grant, a digest, a component. Exit code 3.
    Refused,
    /// The file says something that has no meaning. Exit code 2.
    Invalid,
}

/// The text of a configuration file, shared by everything that points into it.
#[derive(Clone)]
pub struct Source(Arc<NamedSource<String>>);

impl Source {
    /// A file's name, as messages show it, and its text.
    #[must_use]
    pub fn new(name: &str, text: String) -> Self {
        Self(Arc::new(NamedSource::new(name, text)))
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.inner()
    }

    /// Line and column of a byte offset, both from 1; columns count characters.
    #[must_use]
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let before = self.text().get(..offset).unwrap_or(self.text());
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before.get(line_start..).map_or(0, |line| line.chars().count());
        (before.matches('\n').count() + 1, column + 1)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// One problem.
#[derive(Clone, Debug)]
pub struct Problem {
    grade: Grade,
    code: &'static str,
    message: String,
    help: Option<String>,
    connection: Option<String>,
    place: Option<Box<Place>>,
}

/// Where in a file, and what is said there.
#[derive(Clone, Debug)]
struct Place {
    source: Source,
    span: Range<usize>,
    label: &'static str,
}

impl Problem {
    /// A problem of this grade. `code` is stable, for example `unknown-key`.
    #[must_use]
    pub fn new(grade: Grade, code: &'static str, message: impl Into<String>) -> Self {
        Self { grade, code, message: text::printable(&message.into()), help: None, connection: None, place: None }
    }

    /// Something without a meaning.
    #[must_use]
    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Grade::Invalid, code, message)
    }

    /// Something that is not allowed.
    #[must_use]
    pub fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Grade::Refused, code, message)
    }

    /// Something worth knowing.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Grade::Warning, code, message)
    }

    /// What to change.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(text::printable(&help.into()));
        self
    }

    /// Where in the file.
    #[must_use]
    pub fn at(mut self, source: &Source, span: Range<usize>, label: &'static str) -> Self {
        self.place = Some(Box::new(Place { source: source.clone(), span, label }));
        self
    }

    /// The connection that it is about.
    #[must_use]
    pub fn of(mut self, connection: &str) -> Self {
        self.connection = Some(connection.to_owned());
        self
    }

    /// How grave it is.
    #[must_use]
    pub fn grade(&self) -> Grade {
        self.grade
    }

    /// The stable word.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    fn offset(&self) -> usize {
        self.place.as_ref().map_or(0, |place| place.span.start)
    }

    fn document(&self) -> Document<'_> {
        let position = self.place.as_ref().map(|place| place.source.position(place.span.start));
        Document {
            severity: self.grade,
            code: self.code,
            message: &self.message,
            help: self.help.as_deref(),
            connection: self.connection.as_deref(),
            file: self.place.as_ref().map(|place| place.source.0.name()),
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(connection) = &self.connection {
            write!(f, "connection `{connection}`: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl miette::Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(if self.grade == Grade::Warning { miette::Severity::Warning } else { miette::Severity::Error })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| &*place.source.0 as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let Place { span, label, .. } = self.place.as_deref()?;
        let label = LabeledSpan::new_primary_with_span(Some((*label).to_owned()), span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}

/// A problem as the JSON output has it.
#[derive(Serialize)]
struct Document<'a> {
    severity: Grade,
    code: &'a str,
    message: &'a str,
    help: Option<&'a str>,
    connection: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
}

/// All problems of one attempt.
#[derive(Clone, Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Adds many.
    pub fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.0.extend(problems);
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// None at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        let mut sorted: Vec<&Problem> = self.0.iter().collect();
        sorted.sort_by_key(|problem| problem.offset());
        sorted.into_iter()
    }

    /// The gravest grade; `None` when there is no problem.
    #[must_use]
    pub fn worst(&self) -> Option<Grade> {
        self.0.iter().map(Problem::grade).max()
    }

    /// Whether something keeps the configuration from running.
    #[must_use]
    pub fn stop(&self) -> bool {
        self.worst().is_some_and(|grade| grade > Grade::Warning)
    }

    /// `value` with the warnings, or the problems when one of them stops it.
    ///
    /// # Errors
    /// All problems, when one is more than a warning.
    pub fn unless_stopped<T>(self, value: T) -> Result<(T, Self), Self> {
        if self.stop() { Err(self) } else { Ok((value, self)) }
    }

    /// For people, with the lines of the file. Colours only where asked for. Nothing is wrapped: what is to be pasted into
    /// the file stays on its line.
    #[must_use]
    pub fn render(&self, colour: bool, width: usize) -> String {
        let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler =
            GraphicalReportHandler::new_themed(theme).with_links(false).with_width(width).with_wrap_lines(false);
        let mut out = String::new();
        for problem in self.iter() {
            if handler.render_report(&mut out, problem).is_err() {
                out.push_str(&problem.to_string());
            }
            out.push('\n');
        }
        out
    }

    /// For programs: one object a problem.
    #[must_use]
    pub fn documents(&self) -> serde_json::Value {
        self.iter().map(|problem| serde_json::to_value(problem.document()).unwrap_or_default()).collect()
    }
}

/// One line a problem, for logs.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            if let Some(Place { source, span, .. }) = problem.place.as_deref() {
                let (line, column) = source.position(span.start);
                write!(f, "{}:{line}:{column}: ", source.0.name())?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
