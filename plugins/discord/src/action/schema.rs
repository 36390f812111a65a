//! Pieces of JSON Schema (2020-12), joined when this is compiled. The host checks arguments against them before it calls.

/// An id: a string of digits. As a number it would lose some of them on its way through most languages.
macro_rules! id {
    ($description:literal) => {
        concat!(r#"{"type":"string","pattern":"^[0-9]{17,20}$","description":""#, $description, r#""}"#)
    };
}

/// A text of 1 to `$max` characters.
macro_rules! text {
    ($max:literal, $description:literal) => {
        concat!(r#"{"type":"string","minLength":1,"maxLength":"#, $max, r#","description":""#, $description, r#""}"#)
    };
}

/// A string of the output.
macro_rules! string {
    ($description:literal) => {
        concat!(r#"{"type":"string","description":""#, $description, r#""}"#)
    };
}

/// Yes or no.
macro_rules! flag {
    ($description:literal) => {
        concat!(r#"{"type":"boolean","description":""#, $description, r#""}"#)
    };
}

/// A list of `$min` to `$max` different items.
macro_rules! list {
    ($min:literal to $max:literal, $items:expr) => {
        concat!(
            r#"{"type":"array","uniqueItems":true,"minItems":"#,
            $min,
            r#","maxItems":"#,
            $max,
            r#","items":"#,
            $items,
            "}"
        )
    };
    ($items:expr) => {
        concat!(r#"{"type":"array","items":"#, $items, "}")
    };
}

/// An object with these keys and no others; those before the `;` have to be there.
macro_rules! object {
    ($first:literal: $of_first:expr $(, $key:literal: $schema:expr)* $(; $maybe:literal: $of_maybe:expr)*) => {
        concat!(
            r#"{"type":"object","additionalProperties":false,"required":[""#, $first, r#"""#,
            $(r#",""#, $key, r#"""#,)*
            r#"],"properties":{""#, $first, r#"":"#, $of_first,
            $(r#",""#, $key, r#"":"#, $schema,)*
            $(r#",""#, $maybe, r#"":"#, $of_maybe,)*
            "}}"
        )
    };
}

/// Who is notified where the text names them.
macro_rules! mentions {
    () => {
        concat!(
            r#"{"type":"object","additionalProperties":false,"description":"Who is notified where the text names them. Without it: nobody.","properties":{"everyone":"#,
            flag!("@everyone and @here."),
            r#","users":"#,
            list!(0 to 100, id!("A user.")),
            r#","roles":"#,
            list!(0 to 100, id!("A role.")),
            r#","replied_user":"#,
            flag!("The author of the message that is replied to."),
            "}}"
        )
    };
}

/// Somebody: by id, by contact, or by a username that is looked up in a guild when the call is made.
macro_rules! person {
    () => {
        concat!(
            r#"{"oneOf":["#,
            id!("A user's id."),
            ",",
            object!("contact": text!(320, "Who it is: an email address, the operator's own id, or an id of Discord.")),
            ",",
            object!("email": text!(320, "A contact's email address.")),
            ",",
            object!("external_id": text!(256, "The operator's own id for the contact.")),
            ",",
            object!(
                "username": text!(32, "The whole username, as Discord writes it, without @. No nickname, no display name."),
                "guild_id": id!("The guild in which it is looked up.")
            ),
            "]}"
        )
    };
}

/// Where a message in several parts ended before its end: there when the outcome is partial.
macro_rules! stopped {
    () => {
        object!(
            "part": r#"{"type":"integer","minimum":1,"description":"The part that is missing."}"#,
            "of": r#"{"type":"integer","minimum":1,"description":"Parts that there are."}"#,
            "happened": r#"{"enum":["no","maybe"],"description":"Whether that part was made. Those behind it were not."}"#,
            "why": string!("For people.")
        )
    };
}

pub(super) use {flag, id, list, mentions, object, person, stopped, string, text};
