//! What stands in a configuration file, as written. The JSON Schema for editors is made of these types, and the file is
//! checked against that very schema; so a key is added here and nowhere else. What the texts mean is read in `file`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Configuration of a Jackfield host.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    /// The host itself.
    pub(super) host: Host,
    /// The connections that it serves.
    pub(super) connection: Vec<Connection>,
}

/// The host itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Host {
    /// Folder of the store, the compiled components and the admin socket. Relative to this file's folder.
    pub(super) data: String,
    /// Several hosts share leases, fences and events. Not in this version.
    #[schemars(with = "String")]
    pub(super) cluster: Option<String>,
    /// Whether this host runs sessions. `false` is for hosts of actions and webhooks: not in this version.
    pub(super) sessions: bool,
}

impl Default for Host {
    fn default() -> Self {
        Self { data: "./data".to_owned(), cluster: None, sessions: true }
    }
}

/// One configured use of a connector: one bot token, one workspace.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Connection {
    /// Its name: lower-case letters, digits and `-`, at most 64.
    #[schemars(required)]
    pub(super) id: Option<String>,
    /// The component's file. Relative to this file's folder.
    #[schemars(required)]
    pub(super) connector: Option<String>,
    /// `sha256:…` over the whole file; refused when it differs.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) digest: Option<String>,
    /// The connector's own configuration, as its schema says.
    #[serde(default)]
    pub(super) config: Map<String, Value>,
    /// Contact space: connections of one space share contacts. By default the connection's own name.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) contacts: Option<String>,
    /// Secrets by the names that the connector asks for.
    #[serde(default)]
    pub(super) secrets: BTreeMap<String, Secret>,
    /// What the connector may do: `https://host`, `wss://host` (`*.` for one or more labels), `contacts`, `lease`, `state:64KiB`.
    #[serde(default)]
    pub(super) grants: Vec<String>,
    /// Where granted origins really lead: a double, a gateway. Keys are grants as written; plain `http` and `ws` on loopback only.
    #[serde(default)]
    pub(super) connect: BTreeMap<String, String>,
    /// Ceilings of this connection.
    #[serde(default)]
    pub(super) limits: Limits,
}

/// Where a secret comes from, and where it may go.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Secret {
    /// An environment variable.
    #[schemars(with = "String")]
    pub(super) env: Option<String>,
    /// A file; one line end at its end is left out. Relative to this file's folder.
    #[schemars(with = "String")]
    pub(super) file: Option<String>,
    /// How it is written there.
    #[schemars(with = "Decode")]
    pub(super) decode: Option<Decode>,
    /// Origins that it may be sent to.
    pub(super) to: Vec<String>,
}

/// How a secret is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Decode {
    /// Base64, standard alphabet, with padding.
    Base64,
}

/// Ceilings.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Limits {
    /// Memory of one guest instance, by default `64MiB`, at most `256MiB`.
    #[schemars(with = "String")]
    pub(super) memory: Option<String>,
    /// Longest guest call, by default and at most `5s`.
    #[schemars(with = "String")]
    pub(super) call: Option<String>,
    /// Longest frame, by default and at most `4MiB`.
    #[schemars(with = "String")]
    pub(super) frame: Option<String>,
    /// Dispatches that may wait before the session stops reading, by default and at most `256MiB`.
    #[schemars(with = "String")]
    pub(super) inbox: Option<String>,
    /// Instances that transform dispatches side by side, by default 2, at most 16.
    #[schemars(with = "u8", range(min = 1, max = 16))]
    pub(super) transforms: Option<u8>,
    /// Longest action, waiting for rate limits included, by default `60s`, at most `15min`.
    #[schemars(with = "String")]
    pub(super) action: Option<String>,
    /// Actions that run side by side, by default 8, at most 64. More wait for their turn.
    #[schemars(with = "u8", range(min = 1, max = 64))]
    pub(super) actions: Option<u8>,
    /// Requests that the platform may refuse (401, 403, 429) within ten minutes before no more are sent, by default 5000.
    #[schemars(with = "u32", range(min = 1, max = 1_000_000))]
    pub(super) refusals: Option<u32>,
}

/// The JSON Schema of a configuration file.
#[must_use]
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    // TOML has no null, so "nothing" is no default.
    let no_null = RecursiveTransform(|schema: &mut schemars::Schema| {
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
    });
    let mut schema = settings.with_transform(no_null).into_generator().into_root_schema_for::<File>();
    schema.insert("title".to_owned(), "jackfield.toml".into());
    schema.to_value()
}
