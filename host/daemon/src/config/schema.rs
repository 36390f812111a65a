//! A JSON Schema applied to a JSON value: every finding with its place, what was expected, and the nearest known word.
//!
//! The same check reads the configuration file against the schema of this version, and a connection's `config` against
//! the schema that its connector brings. Such a schema comes from a stranger: it fetches nothing, its patterns run in
//! linear time, and its references are followed before it is used (see `bounds`).

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::document::member;
use super::nearest;
use crate::text;

/// Longest piece of a value or schema that a message repeats, in characters.
const QUOTED_CHARS_MAX: usize = 160;

/// Memory of one compiled pattern, in bytes: the `regex` crate's own default, which a few hundred characters fit into.
const PATTERN_BYTES_MAX: usize = 10 << 20;

/// One thing in a value that its schema does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Stable word.
    pub(crate) code: &'static str,
    /// The value in question, or the member that should not be there.
    pub(crate) pointer: String,
    /// The key is what is wrong, not the value.
    pub(crate) about_key: bool,
    /// What is wrong.
    pub(crate) message: String,
    /// What to change.
    pub(crate) help: Option<String>,
}

/// A schema, ready to be applied.
pub(crate) struct Schema {
    document: Value,
    validator: Validator,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn new(document: Value) -> Result<Self, String> {
        super::bounds::check(&document)?;
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX);
        let options = jsonschema::options().with_pattern_options(patterns);
        let validator = options.build(&document).map_err(|error| text::line(&error.to_string(), QUOTED_CHARS_MAX))?;
        Ok(Self { document, validator })
    }

    /// What in the value the schema does not allow, at most so many: each is explained at some length, and values may come
    /// from those who mean harm.
    pub(crate) fn findings(&self, value: &Value, most: usize) -> Vec<Finding> {
        self.validator.iter_errors(value).flat_map(|error| self.explain(&error, most)).take(most).collect()
    }

    fn explain(&self, error: &ValidationError<'_>, most: usize) -> Vec<Finding> {
        let pointer = error.instance_path().as_str().to_owned();
        let found = error.instance();
        let one = |code, message: String, help: Option<String>| {
            vec![Finding { code, pointer: pointer.clone(), about_key: false, message, help }]
        };
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let known = self.known_keys(error);
                unexpected.iter().take(most).map(|key| unknown_key(&pointer, key, &known)).collect()
            }
            ValidationErrorKind::Required { property } => {
                let property = property.as_str().unwrap_or_default();
                one("missing-key", format!("`{property}` is missing"), Some(format!("add `{property} = …`")))
            }
            ValidationErrorKind::Type { kind } => {
                let expected = types(kind);
                let message = format!("{}: expected {expected}, found {}", place(&pointer), describe(found));
                one("wrong-type", message, quote_hint(kind, found))
            }
            ValidationErrorKind::Enum { options } => {
                let known: Vec<String> = options.as_array().into_iter().flatten().map(quoted).collect();
                let message = format!("{}: {} is not one of the allowed values", place(&pointer), describe(found));
                let near = nearest::word(found.as_str().unwrap_or_default(), options_words(options));
                let help = near
                    .map_or_else(|| format!("one of {}", known.join(", ")), |near| format!("did you mean \"{near}\"?"));
                one("wrong-value", message, Some(help))
            }
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                let message = format!("{}: {} matches none of the allowed forms", place(&pointer), describe(found));
                let firsts = context.iter().filter_map(|branch| branch.first());
                let forms: Vec<String> = firsts.map(|error| text::line(&error.to_string(), QUOTED_CHARS_MAX)).collect();
                one("wrong-form", message, (!forms.is_empty()).then(|| forms.join("; or ")))
            }
            _ => {
                let message = text::line(&error.masked().to_string(), QUOTED_CHARS_MAX);
                one("wrong-value", format!("{}: {} — {message}", place(&pointer), describe(found)), None)
            }
        }
    }

    /// The keys that the schema knows where an unknown one was found.
    fn known_keys(&self, error: &ValidationError<'_>) -> Vec<String> {
        let keyword = error.schema_path().as_str();
        let parent = keyword.rsplit_once('/').map_or("", |(parent, _)| parent);
        let properties = self.document.pointer(parent).and_then(|schema| schema.get("properties"));
        properties.and_then(Value::as_object).map(|keys| keys.keys().cloned().collect()).unwrap_or_default()
    }
}

/// More known keys than these are not compared, and not listed.
const KNOWN_MAX: usize = 100;
/// A longer key is nobody's slip of the pen. Bytes.
const KEY_BYTES_MAX: usize = 256;

fn unknown_key(pointer: &str, key: &str, known: &[String]) -> Finding {
    let near = if key.len() <= KEY_BYTES_MAX && known.len() <= KNOWN_MAX {
        nearest::word(key, known.iter().map(String::as_str))
    } else {
        None
    };
    let help = match (near, known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "remove it".to_owned(),
        (None, known) if known.len() > KNOWN_MAX => format!("{} keys are known here, and not this one", known.len()),
        (None, known) => format!("known here: {}", known.join(", ")),
    };
    Finding {
        code: "unknown-key",
        pointer: member(pointer, key),
        about_key: true,
        message: format!("unknown key `{}`", text::line(key, QUOTED_CHARS_MAX)),
        help: Some(help),
    }
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the whole value" } else { pointer }
}

fn types(kind: &TypeKind) -> String {
    let names: Vec<&str> = match kind {
        TypeKind::Single(one) => vec![one.as_str()],
        TypeKind::Multiple(many) => many.iter().map(JsonType::as_str).collect(),
    };
    names.join(" or ")
}

fn wants_string(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Single(one) => *one == JsonType::String,
        TypeKind::Multiple(many) => many.iter().any(|one| one == JsonType::String),
    }
}

/// Digits of a number from which on it can only be an id.
const ID_DIGITS_MIN: usize = 10;

/// Ids of platforms have more digits than a JSON number keeps: a reader that goes through floating point turns
/// …348 into …300. So a number is never taken for an id.
fn quote_hint(kind: &TypeKind, found: &Value) -> Option<String> {
    let number = found.as_number().filter(|_| wants_string(kind))?.to_string();
    let reason =
        if number.len() < ID_DIGITS_MIN { "" } else { "; a JSON number does not keep all digits of a long id" };
    Some(format!("write it in quotes: \"{number}\"{reason}"))
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("the boolean {value}"),
        Value::Number(number) if number.is_f64() => format!("the number {number}"),
        Value::Number(number) => format!("the integer {number}"),
        Value::String(text) => format!("the string {:?}", text::line(text, QUOTED_CHARS_MAX)),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn quoted(value: &Value) -> String {
    text::line(&value.to_string(), QUOTED_CHARS_MAX)
}

fn options_words(options: &Value) -> impl Iterator<Item = &str> {
    options.as_array().into_iter().flatten().filter_map(Value::as_str)
}
