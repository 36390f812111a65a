//! What a connector says of an action.
//!
//! The five answers of [`Semantics`] decide what a host and a caller may do with a call whose answer is lost, so the usual
//! sets of them have names.

use crate::action::{
    ActionSpec, DestructiveClass, EffectClass, IdempotencyKind, MutationScope, RetrySafety, Semantics,
};

/// Arguments without any key.
const NO_ARGS: &str = r#"{"type":"object","additionalProperties":false}"#;

/// An object of which nothing else is said.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// How long one run may take where its author says nothing, in milliseconds: a few requests.
const TIMEOUT_MS: u32 = 30_000;

impl ActionSpec {
    /// An action that takes no arguments, says nothing of its output, and could do anything: say more with what follows.
    pub fn new(name: impl Into<String>, summary: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            summary: summary.into(),
            input_schema: NO_ARGS.to_owned(),
            output_schema: ANY_OBJECT.to_owned(),
            semantics: Semantics::UNKNOWN,
            timeout: TIMEOUT_MS,
            implements: Vec::new(),
            required_scopes: Vec::new(),
            annotations: "{}".to_owned(),
        }
    }

    /// JSON Schema of the arguments.
    #[must_use]
    pub fn input(mut self, schema: impl Into<String>) -> Self {
        self.input_schema = schema.into();
        self
    }

    /// JSON Schema of the output.
    #[must_use]
    pub fn output(mut self, schema: impl Into<String>) -> Self {
        self.output_schema = schema.into();
        self
    }

    /// What it does to the world.
    #[must_use]
    pub fn semantics(mut self, semantics: Semantics) -> Self {
        self.semantics = semantics;
        self
    }

    /// How long one run may take, in milliseconds, waiting for the platform included.
    #[must_use]
    pub fn timeout_ms(mut self, timeout: u32) -> Self {
        self.timeout = timeout;
        self
    }

    /// The standard actions that it performs: it takes every input of theirs.
    #[must_use]
    pub fn implements(mut self, standard: &[&str]) -> Self {
        self.implements = own(standard);
        self
    }

    /// What the platform must have allowed the credential to do, in the platform's own words.
    #[must_use]
    pub fn scopes(mut self, scopes: &[&str]) -> Self {
        self.required_scopes = own(scopes);
        self
    }

    /// A JSON object for what the contract has no field for.
    #[must_use]
    pub fn annotations(mut self, json: impl Into<String>) -> Self {
        self.annotations = json.into();
        self
    }
}

fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl Semantics {
    /// Looks and changes nothing.
    pub const READ: Self = Self {
        effect: EffectClass::Read,
        scope: MutationScope::None,
        destructive: DestructiveClass::None,
        idempotency: IdempotencyKind::NaturallyIdempotent,
        retry: RetrySafety::SafeRetry,
    };

    /// Writes to people, and the platform knows the caller's key: a second time under the same key is the first one.
    pub const SEND_WITH_KEY: Self = Self {
        effect: EffectClass::Send,
        scope: MutationScope::ExternalDelivery,
        destructive: DestructiveClass::IrreversibleSend,
        idempotency: IdempotencyKind::ProviderIdempotencyKey,
        retry: RetrySafety::RetryWithIdempotencyKey,
    };

    /// Writes to people, and nothing makes a second time harmless.
    pub const SEND: Self = Self {
        idempotency: IdempotencyKind::NotIdempotent,
        retry: RetrySafety::NoAutomaticRetry,
        ..Self::SEND_WITH_KEY
    };

    /// Replaces one thing's content: a second time changes nothing more, and what stood there before is gone.
    pub const OVERWRITE: Self = Self {
        effect: EffectClass::Update,
        scope: MutationScope::SingleRecord,
        destructive: DestructiveClass::Overwrite,
        idempotency: IdempotencyKind::NaturallyIdempotent,
        retry: RetrySafety::SafeRetry,
    };

    /// Nothing is known: a host has to assume the worst.
    pub const UNKNOWN: Self = Self {
        effect: EffectClass::Unknown,
        scope: MutationScope::Unknown,
        destructive: DestructiveClass::UnknownDestructive,
        idempotency: IdempotencyKind::Unknown,
        retry: RetrySafety::ManualReview,
    };
}
