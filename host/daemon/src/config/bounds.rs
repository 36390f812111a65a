//! Is a stranger's JSON Schema small once its references are followed?
//!
//! A schema that refers to itself recurses until the stack ends, and one that refers to the same part twice on each of
//! thirty levels takes a billion steps on any value. Both are refused before they are used: a connection's
//! configuration needs neither.

use serde_json::Value;

/// Deepest nesting, references followed. The schema's reader recurses over it.
const DEPTH_MAX: usize = 64;

/// Most values in a schema, references followed: work that checking one value may take.
const PARTS_MAX: usize = 20_000;

/// Keywords that refer by something else than a pointer into the same document.
const OTHER_REFERENCES: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// Refuses a schema that is large, deep or endless, and references that lead elsewhere.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    follow(schema, schema, 0, &mut PARTS_MAX.clone())
}

fn follow(root: &Value, part: &Value, depth: usize, left: &mut usize) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err(format!(
            "it is nested deeper than {DEPTH_MAX} levels, references followed: a `$ref` may lead to itself"
        ));
    }
    *left = left.checked_sub(1).ok_or_else(|| format!("it has more than {PARTS_MAX} parts, references followed"))?;
    match part {
        Value::Array(items) => items.iter().try_for_each(|item| follow(root, item, depth + 1, left)),
        Value::Object(members) => {
            let text = |key: &str| members.get(key).and_then(Value::as_str);
            if depth > 0 && text("$id").is_some() {
                return Err("an `$id` inside it: use one at the top only".to_owned());
            }
            if let Some(keyword) = OTHER_REFERENCES.iter().find(|keyword| text(keyword).is_some()) {
                return Err(format!("`{keyword}` is not supported: refer by `$ref` and `#/…`"));
            }
            if let Some(reference) = text("$ref") {
                let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
                let target =
                    target.ok_or_else(|| format!("`$ref` to `{reference}`, which is not in it: refer by `#/…`"))?;
                follow(root, target, depth + 1, left)?;
            }
            members.values().try_for_each(|member| follow(root, member, depth + 1, left))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ordinary_schemas_pass() {
        let schema = json!({"$id": "x", "$defs": {"id": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/id"}, "$ref": {}}});
        assert_eq!(check(&schema), Ok(()));
    }

    #[test]
    fn endless_ones_do_not() {
        let itself = json!({"$ref": "#"});
        let by_way_of_another = json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#"}]}}});
        let through_a_property = json!({"properties": {"child": {"$ref": "#"}}});
        let elsewhere = json!({"$ref": "https://example.com/schema.json"});
        let dynamic = json!({"$dynamicRef": "#x"});
        for bad in [itself, by_way_of_another, through_a_property, elsewhere, dynamic] {
            assert!(check(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn nor_do_those_that_double_on_each_level() {
        let mut definitions = serde_json::Map::new();
        for level in 0..30 {
            let next = format!("#/$defs/{}", level + 1);
            definitions.insert(level.to_string(), json!({"allOf": [{"$ref": next}, {"$ref": next}]}));
        }
        definitions.insert("30".to_owned(), json!(true));
        assert!(check(&json!({"$ref": "#/$defs/0", "$defs": definitions})).is_err());
    }
}
