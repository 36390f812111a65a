//! Where a secret may go: asked for by the connector, and allowed by the operator. Both have to name an origin.

use std::collections::{BTreeMap, BTreeSet};

use jackfield_model::descriptor::{Ask, SecretAsk};

use super::document::member;
use super::file::Connection;
use super::grant::{Grant, Origin, within};
use super::nearest;
use super::problem::Problem;
use super::rights::{Found, origin};

/// Compares the secrets that are asked for with those that are configured. `filled` is what the connector asks to reach.
pub(super) fn look(asks: &[Ask], filled: &[Grant], connection: &Connection, found: &mut Vec<Found>) {
    let secret = |ask: &'_ Ask| if let Ask::Secret(secret) = ask { Some(secret.clone()) } else { None };
    let asked: BTreeMap<String, SecretAsk> =
        asks.iter().filter_map(secret).map(|ask| (ask.name.clone(), ask)).collect();
    for (name, ask) in &asked {
        let to: Vec<Origin> = ask.to.iter().filter_map(|text| origin(text, "", &connection.config, found)).collect();
        match connection.secrets.get(name) {
            Some(configured) => {
                let way = Way { name, asked: &to, allowed: &configured.to };
                let at = member("/secrets", name);
                found.extend(way.not_asked().chain(way.not_allowed()).map(|problem| (at.clone(), problem)));
                found.extend(way.not_granted(&connection.grants).map(|problem| (at.clone(), problem)));
                found.extend(way.not_reachable(filled).map(|problem| ("/connector".to_owned(), problem)));
            }
            None if ask.required => {
                let text = format!("the connector needs the secret `{name}`: {}", ask.help);
                let problem = Problem::refused("missing-secret", text).help(format!("add `{}`", paste(name, &to)));
                found.push((String::new(), problem));
            }
            None => {}
        }
    }
    let known: BTreeSet<&str> = asked.keys().map(String::as_str).collect();
    for name in connection.secrets.keys().filter(|name| !known.contains(name.as_str())) {
        let near = nearest::word(name, known.iter().copied());
        let help = near.map_or_else(|| "remove it".to_owned(), |near| format!("did you mean `{near}`?"));
        let text = format!("the connector does not ask for the secret `{name}`");
        found.push((member("/secrets", name), Problem::warning("unused-secret", text).help(help)));
    }
}

/// The way of one secret.
struct Way<'a> {
    name: &'a str,
    asked: &'a [Origin],
    allowed: &'a [Origin],
}

impl Way<'_> {
    /// Allowed, and not asked for: the operator means another place than the connector.
    fn not_asked(&self) -> impl Iterator<Item = Problem> {
        let Self { name, asked, allowed } = self;
        let help = match asked {
            [] => "remove `to`: this secret only signs".to_owned(),
            asked => format!("it asks for: {}", list(asked)),
        };
        let beyond = allowed.iter().filter(|origin| !asked.iter().any(|asked| within(origin, asked)));
        beyond.map(move |origin| {
            let text = format!("the connector does not ask to send the secret `{name}` to `{origin}`");
            Problem::refused("secret-to", text).help(help.clone())
        })
    }

    /// Asked for, and not allowed.
    fn not_allowed(&self) -> impl Iterator<Item = Problem> {
        let Self { name, asked, allowed } = self;
        let lacking = asked.iter().filter(|asked| !allowed.iter().any(|origin| within(asked, origin)));
        lacking.map(move |asked| {
            if allowed.iter().any(|origin| origin.meet(asked).is_some()) {
                let text = format!("the secret `{name}` goes to a part of `{asked}` only");
                return Problem::warning("narrow-secret", text);
            }
            let text =
                format!("the connector asks to send the secret `{name}` to `{asked}`, which its `to` does not allow");
            Problem::refused("missing-grant", text)
                .help(format!("to allow it, add to `secrets.{name}.to`: \"{asked}\""))
        })
    }

    /// Allowed, and out of reach by the operator's own word.
    fn not_granted(&self, grants: &[Grant]) -> impl Iterator<Item = Problem> {
        let Self { name, allowed, .. } = self;
        let out_of_reach = allowed.iter().filter(move |origin| !reaches(grants, |grant| origin.meet(grant).is_some()));
        out_of_reach.map(move |origin| {
            let text = format!("the secret `{name}` may go to `{origin}`, which is not granted");
            Problem::warning("secret-to", text).help("grant that origin, or take it out of `to`")
        })
    }

    /// Asked for, and out of reach by the connector's own word.
    fn not_reachable(&self, filled: &[Grant]) -> impl Iterator<Item = Problem> {
        let Self { name, asked, .. } = self;
        let out_of_reach = asked.iter().filter(move |asked| !reaches(filled, |ask| within(asked, ask)));
        out_of_reach.map(move |asked| {
            let text =
                format!("the connector wants the secret `{name}` sent to `{asked}`, and does not ask to reach it");
            Problem::warning("bad-descriptor", text).help("this is for the connector's author to mend")
        })
    }
}

fn reaches(grants: &[Grant], allows: impl Fn(&Origin) -> bool) -> bool {
    grants.iter().any(|grant| matches!(grant, Grant::Origin(origin) if allows(origin)))
}

/// The line that configures a secret.
fn paste(name: &str, to: &[Origin]) -> String {
    let variable = name.to_uppercase().replace('-', "_");
    let to = if to.is_empty() { String::new() } else { format!(", to = [{}]", list(to)) };
    format!("secrets.{name} = {{ env = \"{variable}\"{to} }}")
}

fn list(origins: &[Origin]) -> String {
    let quoted: Vec<String> = origins.iter().map(|origin| format!("\"{origin}\"")).collect();
    quoted.join(", ")
}
