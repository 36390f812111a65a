//! Reading the fields of a body or a query as Discord does: what it takes for what, and how it says that it does not.
//!
//! Ids come as strings or as whole numbers; `null` is the same as nothing; fields that nobody knows are passed over. Everything
//! else has its one type: where it is not known what Discord would make of another, it is refused.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::reply::Reply;
use super::route;
use crate::discord::snowflake::Id;

/// The fields of an object, and where it stands in the body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    fields: &'a Map<String, Value>,
    within: Option<&'a str>,
}

impl<'a> Form<'a> {
    pub(crate) fn new(fields: &'a Map<String, Value>) -> Self {
        Self { fields, within: None }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// Whether the field is there, be it as `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, Reply> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value
            .as_str()
            .map(Some)
            .ok_or_else(|| self.wrong(name, "STRING_TYPE_CONVERT", "Could not interpret it as string."))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Reply> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value
            .as_bool()
            .map(Some)
            .ok_or_else(|| self.wrong(name, "BOOLEAN_TYPE_CONVERT", "Must be either true or false."))
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Reply> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let message = || format!("Value \"{value}\" is not int.");
        value.as_u64().map(Some).ok_or_else(|| self.wrong(name, "NUMBER_TYPE_COERCE", &message()))
    }

    /// A list of at most so many.
    pub(crate) fn list(&self, name: &str, max: usize) -> Result<Option<&'a Vec<Value>>, Reply> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let message = "Only iterables may be used in a ListType";
        let list = value.as_array().ok_or_else(|| self.wrong(name, "LIST_TYPE_CONVERT", message))?;
        if list.len() > max {
            return Err(self.wrong(name, "BASE_TYPE_MAX_LENGTH", &format!("Must be {max} or fewer in length.")));
        }
        Ok(Some(list))
    }

    pub(crate) fn object(&self, name: &'a str) -> Result<Option<Form<'a>>, Reply> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.as_object() {
            Some(fields) => Ok(Some(Form { fields, within: Some(name) })),
            None => Err(self.wrong(name, "MODEL_TYPE_CONVERT", "Expected an object/dictionary.")),
        }
    }

    pub(crate) fn id(&self, name: &str) -> Result<Option<Id>, Reply> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let message = format!("Value \"{shown}\" is not snowflake.");
        snowflake(value).map(Some).ok_or_else(|| self.wrong(name, "NUMBER_TYPE_COERCE", &message))
    }

    pub(crate) fn wrong(&self, name: &str, code: &str, message: &str) -> Reply {
        match self.within {
            Some(within) => Reply::form(&[within, name], code, message),
            None => Reply::form(&[name], code, message),
        }
    }
}

/// An id as JSON: a string or a whole number.
pub(crate) fn snowflake(value: &Value) -> Option<Id> {
    value.as_str().map_or_else(|| value.as_u64().map(Id::new), |text| text.parse().ok())
}

/// A value of a query that has to be an id.
pub(crate) fn query_id(name: &str, value: &str) -> Result<Id, Reply> {
    value.parse().map_err(|_| route::not_a_snowflake(name, value))
}

/// A value of a query that has to be a number within these bounds.
pub(crate) fn query_number<T: FromStr + PartialOrd + ToString>(
    name: &str,
    value: &str,
    (least, most): (T, T),
) -> Result<T, Reply> {
    let Ok(number) = value.parse::<T>() else {
        return Err(Reply::form(&[name], "NUMBER_TYPE_COERCE", &format!("Value \"{value}\" is not int.")));
    };
    if number < least {
        let message = format!("int value should be greater than or equal to {}.", least.to_string());
        return Err(Reply::form(&[name], "NUMBER_TYPE_MIN", &message));
    }
    if number > most {
        let message = format!("int value should be less than or equal to {}.", most.to_string());
        return Err(Reply::form(&[name], "NUMBER_TYPE_MAX", &message));
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_come_as_strings_or_as_numbers() {
        assert_eq!(snowflake(&json!("1213428388094649333")), Some(Id::new(1_213_428_388_094_649_333)));
        assert_eq!(snowflake(&json!(1_213_428_388_094_649_333_u64)), Some(Id::new(1_213_428_388_094_649_333)));
        for other in [json!("x"), json!(1.5), json!(-1), json!([]), json!("")] {
            assert_eq!(snowflake(&other), None, "{other}");
        }
    }

    #[test]
    fn what_has_the_wrong_type_is_said_by_its_path() {
        let body = json!({ "a": 1, "b": null, "inner": { "list": [1, 2], "flag": "yes" } });
        let form = Form::new(body.as_object().unwrap());
        let code = |reply: Reply| reply.body["errors"].to_string();
        assert!(code(form.text("a").unwrap_err()).contains("STRING_TYPE_CONVERT"));
        assert_eq!((form.text("b").unwrap(), form.has("b"), form.has("c")), (None, true, false));
        let inner = form.object("inner").unwrap().unwrap();
        assert!(code(inner.list("list", 1).unwrap_err()).starts_with(r#"{"inner":{"list":"#));
        assert!(code(inner.flag("flag").unwrap_err()).contains("BOOLEAN_TYPE_CONVERT"));
        assert!(code(form.object("a").unwrap_err()).contains("MODEL_TYPE_CONVERT"));
    }

    #[test]
    fn numbers_of_a_query_have_bounds() {
        let code = |value| query_number("limit", value, (1, 100)).map_err(|reply| reply.body["errors"].to_string());
        assert_eq!(code("100").unwrap(), 100);
        for (value, expected) in [("0", "NUMBER_TYPE_MIN"), ("101", "NUMBER_TYPE_MAX"), ("x", "NUMBER_TYPE_COERCE")] {
            assert!(code(value).unwrap_err().contains(expected), "{value}");
        }
    }
}
