//! Names for what must not be written down: a credential, and everything that a connection runs with.

use std::collections::BTreeMap;

use jackfield_model::Digest;
use jackfield_model::descriptor::Descriptor;
use serde_json::Value;

use super::file::Connection;
use super::generation::Numbering;
use super::grant::Route;

/// What a start budget and a session belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Credential {
    /// Its name.
    pub(super) name: String,
    /// Only one live session may use it.
    pub(super) exclusive: bool,
    /// What it consists of, for people.
    pub(super) what: String,
}

/// Makes names of a connection's parts.
pub(super) struct Names<'a> {
    pub(super) numbering: &'a Numbering,
    pub(super) connection: &'a Connection,
    pub(super) values: &'a BTreeMap<String, Vec<u8>>,
}

impl Names<'_> {
    /// The credential that the descriptor says is exclusive: the same for every connection that uses it. A connector that
    /// says nothing has its connection's own.
    pub(super) fn credential(&self, descriptor: &Descriptor) -> Credential {
        let exclusive = &descriptor.exclusive;
        let mut parts: Vec<Vec<u8>> = vec![b"credential".to_vec(), descriptor.id.clone().into_bytes()];
        let secrets: Vec<&String> = exclusive.secrets.iter().filter(|name| self.values.contains_key(*name)).collect();
        for name in &secrets {
            parts.push(name.as_bytes().to_vec());
            parts.extend(self.values.get(*name).cloned());
        }
        let config = Value::Object(self.connection.config.clone());
        for pointer in &exclusive.config {
            parts.push(pointer.clone().into_bytes());
            parts.push(config.pointer(pointer).map(Value::to_string).unwrap_or_default().into_bytes());
        }
        let is_exclusive = !secrets.is_empty();
        if !is_exclusive {
            parts.push(self.connection.id.as_str().as_bytes().to_vec());
        }
        let named = secrets.iter().map(|name| format!("secret `{name}`"));
        let what: Vec<String> =
            named.chain(exclusive.config.iter().map(|pointer| format!("`{pointer}` of `config`"))).collect();
        Credential { name: self.name(&parts), exclusive: is_exclusive, what: what.join(" and ") }
    }

    /// Component, configuration, grants, routes and secrets: differs when one of them does.
    pub(super) fn fingerprint(&self, digest: Digest) -> String {
        let Self { connection, values, .. } = self;
        let mut parts: Vec<Vec<u8>> = vec![b"fingerprint".to_vec(), digest.0.to_vec()];
        parts.push(Value::Object(connection.config.clone()).to_string().into_bytes());
        parts.push(connection.space.as_str().as_bytes().to_vec());
        parts.extend(connection.grants.iter().map(|grant| grant.to_string().into_bytes()));
        parts.extend(connection.connect.iter().map(|Route { from, to }| format!("{from} {to}").into_bytes()));
        parts.push(format!("{:?}", connection.limits).into_bytes());
        for (name, secret) in &connection.secrets {
            parts.push(name.clone().into_bytes());
            parts.extend(values.get(name).cloned());
            parts.extend(secret.to.iter().map(|origin| origin.to_string().into_bytes()));
        }
        self.name(&parts)
    }

    fn name(&self, parts: &[Vec<u8>]) -> String {
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        self.numbering.name(&parts)
    }
}
