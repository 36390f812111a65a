//! TOML as JSON, with the place of every value: what the schema and all later checks work on.
//!
//! Reads as much as it can: a file with a broken line still tells of the problems in the others.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

use super::problem::{Problem, Problems, Source};

/// The JSON pointer (RFC 6901) of a member of what `base` points to.
pub(super) fn member(base: &str, key: &str) -> String {
    format!("{base}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// A file's content.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) source: Source,
    pub(super) value: Value,
    places: BTreeMap<String, Place>,
    broken: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
struct Place {
    key: Option<Range<usize>>,
    value: Range<usize>,
}

impl Document {
    /// Parses a file. What can't be read is a problem, and missing from the value.
    pub(super) fn parse(source: Source, problems: &mut Problems) -> Self {
        let (table, errors) = DeTable::parse_recoverable(source.text());
        // Values on broken lines are what the parser made of them: nothing is said of those.
        let mut unread = Problems::default();
        let sink = if errors.is_empty() { &mut *problems } else { &mut unread };
        let mut reader = Reader { source: &source, problems: sink, places: BTreeMap::new() };
        let value = Value::Object(reader.table(String::new(), table.get_ref()));
        let places = reader.places;
        let mut broken = BTreeSet::new();
        for error in errors {
            let span = error.span().unwrap_or_default();
            // What follows the first error of a line mostly follows from it.
            if broken.insert(source.position(span.start).0) {
                problems.push(Problem::invalid("syntax", error.message().trim_end()).at(&source, span, "here"));
            }
        }
        Self { value, places, source, broken }
    }

    /// Whether this place lies on a line that could not be read, or there is one and the problem is that something is missing.
    pub(super) fn doubtful(&self, span: &Range<usize>, missing: bool) -> bool {
        !self.broken.is_empty() && (missing || self.broken.contains(&self.source.position(span.start).0))
    }

    /// Where the value that this points to stands, or the nearest thing around it that stands anywhere.
    pub(super) fn value_at(&self, pointer: &str) -> Range<usize> {
        self.nearest(pointer).map_or(0..0, |place| place.value.clone())
    }

    /// Where its key stands, or what is nearest.
    pub(super) fn key_at(&self, pointer: &str) -> Range<usize> {
        self.nearest(pointer).map_or(0..0, |place| place.key.clone().unwrap_or_else(|| place.value.clone()))
    }

    fn nearest(&self, pointer: &str) -> Option<&Place> {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.places.get(pointer) {
                return Some(place);
            }
            pointer = pointer.rsplit_once('/')?.0;
        }
    }
}

struct Reader<'a> {
    source: &'a Source,
    problems: &'a mut Problems,
    places: BTreeMap<String, Place>,
}

impl Reader<'_> {
    fn table(&mut self, pointer: String, table: &DeTable<'_>) -> Map<String, Value> {
        let mut map = Map::new();
        for (key, value) in table {
            let pointer = member(&pointer, key.get_ref());
            if let Some(value) = self.value(pointer, Some(key.span()), value) {
                map.insert(key.get_ref().to_string(), value);
            }
        }
        map
    }

    fn array(&mut self, pointer: &str, array: &DeArray<'_>) -> Vec<Value> {
        let items = array.iter().enumerate();
        items.filter_map(|(index, value)| self.value(format!("{pointer}/{index}"), None, value)).collect()
    }

    fn value(&mut self, pointer: String, key: Option<Range<usize>>, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        let span = value.span();
        self.places.insert(pointer.clone(), Place { key, value: span.clone() });
        match value.get_ref() {
            DeValue::String(text) => Some(Value::String(text.to_string())),
            DeValue::Boolean(value) => Some(Value::Bool(*value)),
            DeValue::Integer(integer) => integer_value(integer).or_else(|| {
                self.refuse(span, "integer", "an integer that fits no 64 bits");
                None
            }),
            DeValue::Float(float) => {
                float.as_str().parse().ok().and_then(Number::from_f64).map(Value::Number).or_else(|| {
                    self.refuse(span, "float", "a number that JSON does not have");
                    None
                })
            }
            DeValue::Datetime(_) => {
                self.refuse(span, "datetime", "a date, which JSON does not have");
                None
            }
            DeValue::Array(array) => Some(Value::Array(self.array(&pointer, array))),
            DeValue::Table(table) => Some(Value::Object(self.table(pointer, table))),
        }
    }

    fn refuse(&mut self, span: Range<usize>, code: &'static str, what: &str) {
        let problem = Problem::invalid(code, format!("this is {what}")).help("write it as text, in quotes");
        self.problems.push(problem.at(self.source, span, "here"));
    }
}

fn integer_value(integer: &DeInteger<'_>) -> Option<Value> {
    let digits = integer.as_str();
    let signed = i64::from_str_radix(digits, integer.radix()).ok().map(Value::from);
    signed.or_else(|| u64::from_str_radix(digits, integer.radix()).ok().map(Value::from))
}
