//! A descriptor, said in as few words as it has content.

use crate::Transport;
use crate::connector::{Ask, Descriptor, Exclusive, SecretAsk, StartBudget};

/// A configuration without any key: what a connector has that needs none.
const NO_CONFIG: &str = r#"{"type":"object","additionalProperties":false}"#;

impl Descriptor {
    /// A connector that takes no configuration, asks for nothing and keeps no checkpoint.
    pub fn new(id: impl Into<String>, version: impl Into<String>) -> Self {
        let id = id.into();
        Self {
            title: id.clone(),
            id,
            version: version.into(),
            summary: String::new(),
            transports: Vec::new(),
            config_schema: NO_CONFIG.to_owned(),
            asks: Vec::new(),
            exclusive: Exclusive { secrets: Vec::new(), config: Vec::new() },
            start_budget: None,
            writes_checkpoint: 1,
            reads_checkpoints: vec![1],
            annotations: "{}".to_owned(),
        }
    }

    /// The name and the sentence that people read.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>, summary: impl Into<String>) -> Self {
        self.title = title.into();
        self.summary = summary.into();
        self
    }

    /// How dispatches come.
    #[must_use]
    pub fn transports(mut self, transports: impl IntoIterator<Item = Transport>) -> Self {
        self.transports = transports.into_iter().collect();
        self
    }

    /// JSON Schema of the connection's `config`.
    #[must_use]
    pub fn config_schema(mut self, schema: impl Into<String>) -> Self {
        self.config_schema = schema.into();
        self
    }

    /// One more thing that the operator has to grant.
    #[must_use]
    pub fn ask(mut self, ask: Ask) -> Self {
        self.asks.push(ask);
        self
    }

    /// What together may have one live session only.
    #[must_use]
    pub fn exclusive(mut self, secrets: &[&str], config: &[&str]) -> Self {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        self.exclusive = Exclusive { secrets: own(secrets), config: own(config) };
        self
    }

    /// At most `starts` in `window_ms` milliseconds.
    #[must_use]
    pub fn start_budget(mut self, starts: u32, window_ms: u32) -> Self {
        self.start_budget = Some(StartBudget { starts, window: window_ms });
        self
    }
}

impl Ask {
    /// A secret that the connection can't do without, and where it may be sent.
    pub fn required_secret(name: &str, help: &str, to: &[&str]) -> Self {
        Self::Secret(SecretAsk {
            name: name.to_owned(),
            help: help.to_owned(),
            required: true,
            to: to.iter().map(|origin| (*origin).to_owned()).collect(),
        })
    }
}
