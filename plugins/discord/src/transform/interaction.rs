//! Interactions: commands, buttons, menus and forms. Discord wants an answer within three seconds.
//!
//! The token that the answer needs is as good as the bot's own for this one conversation. It stays in the raw
//! dispatch and never enters the event.

use jackfield_sdk::Event;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::person::{Membership, User};
use super::{Context, Meaning, ignored, message_key, one, place, properties};
use crate::wire::{Id, Text};

/// How long Discord waits for the first answer, in milliseconds.
const ANSWER_WITHIN_MS: u32 = 3_000;

/// A check that an endpoint lives; the gateway never sends one.
const PING: u16 = 1;

/// An interaction, without its token.
#[derive(Deserialize)]
pub(super) struct Interaction<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(rename = "type")]
    kind: u16,
    #[serde(borrow)]
    guild_id: Option<Id<'a>>,
    #[serde(borrow)]
    channel_id: Option<Id<'a>>,
    #[serde(borrow)]
    member: Option<Membership<'a>>,
    #[serde(borrow)]
    user: Option<User<'a>>,
    #[serde(borrow)]
    message: Option<Origin<'a>>,
    #[serde(borrow)]
    data: Option<Data<'a>>,
    #[serde(borrow)]
    locale: Option<Text<'a>>,
}

/// The message that the button or menu is under.
#[derive(Deserialize)]
struct Origin<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(borrow)]
    channel_id: Option<Id<'a>>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    custom_id: Option<Text<'a>>,
    component_type: Option<u16>,
    /// The person or message that a command of a context menu is about.
    #[serde(borrow)]
    target_id: Option<Id<'a>>,
    #[serde(borrow)]
    values: Option<Vec<Text<'a>>>,
    #[serde(borrow)]
    options: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    components: Option<Vec<Row<'a>>>,
}

/// An option of a command, or a subcommand with its own. Read and written alike.
#[derive(Deserialize, Serialize)]
struct Choice<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    value: Option<Value<'a>>,
    /// Whether it is being typed, and its completion asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    focused: Option<bool>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    options: Option<Vec<Choice<'a>>>,
}

/// A row of a form, or a label with one field in it.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    components: Option<Vec<Field<'a>>>,
    #[serde(borrow)]
    component: Option<Field<'a>>,
}

/// A filled-in field. Read and written alike.
#[derive(Deserialize, Serialize)]
struct Field<'a> {
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    custom_id: Option<Text<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    value: Option<Value<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Text<'a>>>,
}

/// A string, sanitised, or a number or a flag exactly as it was written.
#[derive(Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Text(Text<'a>),
    Exact(&'a RawValue),
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        match raw.get().as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw.get()).map(Self::Text),
            Some(b'[' | b'{') => return Err(serde::de::Error::custom("a value that is a list or a record")),
            _ => Ok(Self::Exact(raw)),
        }
        .map_err(serde::de::Error::custom)
    }
}

#[derive(Serialize)]
struct Properties<'a> {
    interaction_id: &'a str,
    interaction: &'static str,
    answer_within_ms: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_id: Option<Id<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'a [Choice<'a>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_id: Option<&'a Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    component_type: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<&'a [Text<'a>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<&'a Field<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locale: Option<&'a Text<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sanitized: bool,
}

pub(super) fn created(interaction: &Interaction<'_>, about: &Context<'_>) -> Meaning {
    if interaction.kind == PING {
        return Ok(ignored("ping"));
    }
    let key = format!("interaction:{}", interaction.id);
    let mut event = Event::once("interaction", key, interaction.id.made_at());
    let nick = interaction.member.as_ref().and_then(|member| member.nick.as_ref());
    let user = interaction.user();
    event.subject = user.map(|user| user.subject(nick));
    if let Some(subject) = &mut event.subject {
        subject.is_self = about.is_me(user.map(|user| user.id));
    }
    event.location = Some(place(interaction.guild_id, interaction.channel_id));
    event.refers_to = interaction
        .message
        .as_ref()
        .map(|message| message_key(message.channel_id.or(interaction.channel_id), message.id));
    event.properties = properties(&interaction.properties());
    one(event)
}

impl<'a> Interaction<'a> {
    /// In a guild the user is inside the member.
    fn user(&self) -> Option<&User<'a>> {
        self.member.as_ref().and_then(|member| member.user.as_ref()).or(self.user.as_ref())
    }

    fn properties(&self) -> Properties<'_> {
        let data = self.data.as_ref();
        Properties {
            interaction_id: self.id.as_str(),
            interaction: match self.kind {
                2 => "command",
                3 => "component",
                4 => "autocomplete",
                5 => "form",
                _ => "other",
            },
            answer_within_ms: ANSWER_WITHIN_MS,
            command: data.and_then(|data| data.name.as_ref()),
            target_id: data.and_then(|data| data.target_id),
            options: data.and_then(|data| data.options.as_deref()),
            custom_id: data.and_then(|data| data.custom_id.as_ref()),
            component_type: data.and_then(|data| data.component_type),
            values: data.and_then(|data| data.values.as_deref()),
            fields: data.and_then(|data| data.components.as_deref()).map(fields),
            locale: self.locale.as_ref(),
            sanitized: self.user().is_some_and(User::is_sanitized) || data.is_some_and(Data::is_sanitized),
        }
    }
}

fn fields<'a>(rows: &'a [Row<'a>]) -> Vec<&'a Field<'a>> {
    rows.iter().flat_map(|row| row.components.iter().flatten().chain(&row.component)).collect()
}

impl Data<'_> {
    fn is_sanitized(&self) -> bool {
        let typed = self.components.as_deref().map(fields).unwrap_or_default();
        [&self.name, &self.custom_id].into_iter().flatten().chain(self.values.iter().flatten()).any(Text::is_sanitized)
            || self.options.iter().flatten().any(Choice::is_sanitized)
            || typed.into_iter().any(Field::is_sanitized)
    }
}

impl Choice<'_> {
    /// Recursive, and bounded: nothing deeper than [`crate::wire::DEPTH_MAX`] is parsed.
    fn is_sanitized(&self) -> bool {
        self.name.is_sanitized()
            || self.value.as_ref().is_some_and(Value::is_sanitized)
            || self.options.iter().flatten().any(Self::is_sanitized)
    }
}

impl Field<'_> {
    fn is_sanitized(&self) -> bool {
        self.value.as_ref().is_some_and(Value::is_sanitized)
            || self.custom_id.iter().chain(self.values.iter().flatten()).any(Text::is_sanitized)
    }
}

impl Value<'_> {
    fn is_sanitized(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_sanitized())
    }
}
