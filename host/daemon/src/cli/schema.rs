//! A JSON Schema as people read it: the fields that it knows, one a line.
//!
//! Reads what schemas of arguments are made of: properties in objects in lists, references into `$defs`, alternatives. What
//! is not understood stands in the schema itself, which the JSON output has.

use serde_json::{Map, Value};

/// Deepest field that is listed.
const DEPTH_MAX: usize = 6;
/// Most fields that are listed.
const FIELDS_MAX: usize = 200;
/// Longest list of allowed values.
const VALUES_MAX: usize = 8;

/// One field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Dots between objects, `[]` for the items of a list.
    pub(super) name: String,
    /// Its type, and what narrows it.
    pub(super) kind: String,
    /// The object around it is not valid without it.
    pub(super) required: bool,
    /// The schema's words on it.
    pub(super) description: String,
}

/// The fields of a schema: in each object those that are required first, then by name.
pub(super) fn fields(schema: &Value) -> Vec<Field> {
    let mut fields = Vec::new();
    Walk { root: schema, fields: &mut fields }.object(schema, "", 0);
    fields
}

struct Walk<'a> {
    root: &'a Value,
    fields: &'a mut Vec<Field>,
}

impl<'a> Walk<'a> {
    fn object(&mut self, schema: &'a Value, prefix: &str, depth: usize) {
        let schema = self.resolved(schema);
        let required: Vec<&str> = list(schema, "required").iter().filter_map(Value::as_str).collect();
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let (needed, free): (Vec<_>, Vec<_>) = properties.partition(|(key, _)| required.contains(&key.as_str()));
        let all = needed.into_iter().map(|one| (one, true)).chain(free.into_iter().map(|one| (one, false)));
        for ((key, field), required) in all {
            if self.fields.len() >= FIELDS_MAX {
                return;
            }
            let described = field.get("description");
            let field = self.resolved(field);
            let described = described.or_else(|| field.get("description")).and_then(Value::as_str);
            let (name, description) = (format!("{prefix}{key}"), described.unwrap_or_default().to_owned());
            self.fields.push(Field { name: name.clone(), kind: self.kind(field), required, description });
            self.inside(field, &name, depth + 1);
        }
    }

    fn inside(&mut self, field: &'a Value, name: &str, depth: usize) {
        if depth >= DEPTH_MAX {
            return;
        }
        if let Some(items) = field.get("items") {
            self.inside(self.resolved(items), &format!("{name}[]"), depth);
        }
        if field.get("properties").is_some() {
            self.object(field, &format!("{name}."), depth);
        }
    }

    /// What a reference into the schema itself means. One step: a reference to a reference is left as it is.
    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        target.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema)
    }

    fn kind(&self, field: &'a Value) -> String {
        if let Some(value) = field.get("const") {
            return value.to_string();
        }
        let values = list(field, "enum");
        if !values.is_empty() {
            let shown: Vec<String> = values.iter().take(VALUES_MAX).map(Value::to_string).collect();
            return shown.join(" | ") + if values.len() > VALUES_MAX { " | …" } else { "" };
        }
        let alternatives = list(field, "oneOf").iter().chain(list(field, "anyOf"));
        let kinds: Vec<String> = alternatives.map(|one| plain(self.resolved(one))).collect();
        if !kinds.is_empty() && field.get("type").is_none() {
            return kinds.join(" | ");
        }
        let kind = match field.get("items") {
            Some(items) => format!("{} of {}", plain(field), plain(self.resolved(items))),
            None => plain(field),
        };
        let narrow = narrowed(field);
        if narrow.is_empty() { kind } else { format!("{kind}, {}", narrow.join(", ")) }
    }
}

/// The bare type.
fn plain(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => "any".to_owned(),
    }
}

/// What narrows the type, in words.
fn narrowed(field: &Value) -> Vec<String> {
    let Some(members) = field.as_object() else { return Vec::new() };
    let mut narrow = Vec::new();
    if let Some(format) = members.get("format").and_then(Value::as_str) {
        narrow.push(format.to_owned());
    }
    narrow.extend(range(members, "minLength", "maxLength", " characters"));
    narrow.extend(range(members, "minItems", "maxItems", " items"));
    narrow.extend(range(members, "minimum", "maximum", ""));
    if let Some(pattern) = members.get("pattern").and_then(Value::as_str) {
        narrow.push(format!("matches {pattern}"));
    }
    if let Some(default) = members.get("default") {
        narrow.push(format!("by default {default}"));
    }
    narrow
}

fn range(members: &Map<String, Value>, low: &str, high: &str, unit: &str) -> Option<String> {
    match (members.get(low), members.get(high)) {
        (Some(low), Some(high)) if low == high => Some(format!("{low}{unit}")),
        (Some(low), Some(high)) => Some(format!("{low} to {high}{unit}")),
        (Some(low), None) => Some(format!("at least {low}{unit}")),
        (None, Some(high)) => Some(format!("at most {high}{unit}")),
        (None, None) => None,
    }
}

fn list<'a>(schema: &'a Value, name: &str) -> &'a [Value] {
    schema.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_a_message() {
        let schema = json!({
            "type": "object",
            "required": ["channel", "embeds"],
            "$defs": {"id": {"type": "string", "pattern": "^[0-9]+$", "description": "an id"}},
            "properties": {
                "channel": {"$ref": "#/$defs/id", "description": "where"},
                "text": {"type": "string", "minLength": 1, "maxLength": 2000},
                "tone": {"enum": ["plain", "loud"]},
                "count": {"type": ["integer", "null"], "minimum": 1},
                "embeds": {"type": "array", "maxItems": 10, "items": {"type": "object", "required": ["title"],
                    "properties": {"title": {"type": "string"}, "by": {"$ref": "#/$defs/id"}}}},
            }
        });
        let field = |name: &str, kind: &str, required, description: &str| Field {
            name: name.to_owned(),
            kind: kind.to_owned(),
            required,
            description: description.to_owned(),
        };
        let expected = [
            field("channel", "string, matches ^[0-9]+$", true, "where"),
            field("embeds", "array of object, at most 10 items", true, ""),
            field("embeds[].title", "string", true, ""),
            field("embeds[].by", "string, matches ^[0-9]+$", false, "an id"),
            field("count", "integer | null, at least 1", false, ""),
            field("text", "string, 1 to 2000 characters", false, ""),
            field("tone", "\"plain\" | \"loud\"", false, ""),
        ];
        assert_eq!(fields(&schema), expected);
    }

    #[test]
    fn whatever_it_is_it_ends() {
        let around = json!({"properties": {"a": {"$ref": "#"}}});
        assert_eq!(fields(&around).len(), DEPTH_MAX);
        for odd in [json!(null), json!(true), json!({"properties": 1}), json!({"properties": {"a": 1}, "required": 1})]
        {
            fields(&odd);
        }
    }
}
