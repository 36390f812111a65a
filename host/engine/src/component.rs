//! A loaded component: compiled, linked, asked who it is. Instances are made from it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jackfield_contract::exports;
use jackfield_model::Digest;
use jackfield_model::action::ActionSpec;
use jackfield_model::descriptor::Descriptor;
use wasmtime::component::InstancePre;

use crate::engine::Engine;
use crate::guest::Guest;

/// A loaded component. Clones are the same one.
#[derive(Clone)]
pub struct Component(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) pre: InstancePre<Guest>,
    pub(crate) indices: Indices,
    pub(crate) descriptor: Descriptor,
    pub(crate) namespace: Arc<str>,
    pub(crate) actions: Vec<ActionSpec>,
    pub(crate) facts: Facts,
}

/// What is known of a component before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Of the whole file.
    pub digest: Digest,
    /// Length of the file in bytes.
    pub size: usize,
    /// Length of the compiled artifact in bytes.
    pub artifact_size: usize,
    /// The artifact came from the cache.
    pub cached: bool,
    /// Time from bytes to a linked component, compiling included.
    pub load_time: Duration,
    /// What it imports, by full name.
    pub imports: Vec<Import>,
}

/// One imported interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Package and interface, for example `jackfield:connector/session`.
    pub name: String,
    /// The version that it was made for, for example `0.1.0`.
    pub version: Option<String>,
}

/// What a component exports besides `connector`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the interface itself")]
pub struct Exports {
    pub transform: bool,
    pub runtime: bool,
    pub webhook: bool,
    pub action: bool,
}

/// Where its exports are.
pub(crate) struct Indices {
    pub(crate) connector: exports::connector::GuestIndices,
    pub(crate) transform: Option<exports::transform::GuestIndices>,
    pub(crate) runtime: Option<exports::runtime::GuestIndices>,
    pub(crate) webhook: Option<exports::webhook::GuestIndices>,
    pub(crate) action: Option<exports::action::GuestIndices>,
}

impl Component {
    /// Digest of the file.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0.facts.digest
    }

    /// Who it says it is, and what it asks for. Checked.
    #[must_use]
    pub fn descriptor(&self) -> &Descriptor {
        &self.0.descriptor
    }

    /// What can be done with it, as it says itself: the form is checked, schemas are not compiled. Empty where it exports
    /// no `action`.
    #[must_use]
    pub fn actions(&self) -> &[ActionSpec] {
        &self.0.actions
    }

    /// What it exports.
    #[must_use]
    pub fn exports(&self) -> Exports {
        let indices = &self.0.indices;
        Exports {
            transform: indices.transform.is_some(),
            runtime: indices.runtime.is_some(),
            webhook: indices.webhook.is_some(),
            action: indices.action.is_some(),
        }
    }

    /// What it imports.
    #[must_use]
    pub fn imports(&self) -> &[Import] {
        &self.0.facts.imports
    }

    /// The version of the contract that it is served by.
    #[must_use]
    pub fn contract(&self) -> &'static str {
        jackfield_contract::names::VERSION
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.facts.size
    }

    /// Length of the compiled artifact in bytes.
    #[must_use]
    pub fn artifact_size(&self) -> usize {
        self.0.facts.artifact_size
    }

    /// Whether the compiled artifact came from the cache.
    #[must_use]
    pub fn cached(&self) -> bool {
        self.0.facts.cached
    }

    /// Time from bytes to a linked component, compiling included.
    #[must_use]
    pub fn load_time(&self) -> Duration {
        self.0.facts.load_time
    }

    /// All that is known of it besides the descriptor.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.0.facts
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(crate) fn pre(&self) -> &InstancePre<Guest> {
        &self.0.pre
    }

    pub(crate) fn namespace(&self) -> Arc<str> {
        Arc::clone(&self.0.namespace)
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component")
            .field("id", &self.0.descriptor.id)
            .field("facts", &self.0.facts)
            .finish_non_exhaustive()
    }
}
