//! What a message is to say, as a body gives it: read and checked, for a new message and for a change alike.

use serde_json::Value;

use crate::discord::rest::form::Form;
use crate::discord::rest::mentions::Allowed;
use crate::discord::rest::reply::Reply;

/// Longest message. Discord says "characters"; the double counts Unicode scalar values.
const CONTENT_CHARS_MAX: usize = 2000;

const EMBEDS_MAX: usize = 10;

/// Rows of a message, or components where it has nothing else.
const COMPONENTS_MAX: usize = 40;

/// The flags that a bot can set and the double keeps: SUPPRESS_EMBEDS and SUPPRESS_NOTIFICATIONS.
const FLAGS_SETTABLE: u64 = 1 << 2 | 1 << 12;

/// A message to be. What is none was not given.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// Without the white space around it, which Discord takes away.
    pub(super) content: Option<&'a str>,
    pub(super) embeds: Option<&'a Vec<Value>>,
    pub(super) components: Option<&'a Vec<Value>>,
    pub(super) flags: Option<u64>,
    pub(super) allowed: Allowed,
}

impl<'a> Draft<'a> {
    pub(super) fn read(form: &Form<'a>) -> Result<Self, Reply> {
        // In a change `null` takes away what was there, so it is not the same as nothing.
        let emptied = form.has("content").then_some("");
        let content = form.text("content")?.or(emptied);
        if content.is_some_and(|content| content.chars().count() > CONTENT_CHARS_MAX) {
            let message = format!("Must be {CONTENT_CHARS_MAX} or fewer in length.");
            return Err(form.wrong("content", "BASE_TYPE_MAX_LENGTH", &message));
        }
        Ok(Self {
            content: content.map(str::trim),
            embeds: form.list("embeds", EMBEDS_MAX)?,
            components: form.list("components", COMPONENTS_MAX)?,
            flags: form.number("flags")?.map(|flags| flags & FLAGS_SETTABLE),
            allowed: Allowed::read(form)?,
        })
    }

    /// Whether nothing of it can be seen.
    pub(super) fn is_empty(&self) -> bool {
        let nothing = |list: Option<&Vec<Value>>| list.is_none_or(Vec::is_empty);
        self.content.unwrap_or_default().is_empty() && nothing(self.embeds) && nothing(self.components)
    }
}
