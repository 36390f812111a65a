//! What an action says of its own effects, and the rules between the five answers.
//!
//! An action that contradicts itself is refused at load, not when somebody calls it: what a caller may do with a failed or
//! a lost answer follows from these words alone.

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[expect(missing_docs, reason = "each variant is the word itself")]
        pub enum $name { $($(#[$of])* $variant),+ }

        impl $name {
            /// The word of the contract.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

words! {
    /// What an action does.
    EffectClass {
        Read = "read", Create = "create", Update = "update", Upsert = "upsert", Delete = "delete", Send = "send",
        CustomWrite = "custom-write", MultiStep = "multi-step", Unknown = "unknown",
    }
}

words! {
    /// On how much.
    MutationScope {
        None = "none", SingleRecord = "single-record", Collection = "collection", ProviderAccount = "provider-account",
        ExternalDelivery = "external-delivery", Custom = "custom", Unknown = "unknown",
    }
}

words! {
    /// Whether it can be taken back.
    DestructiveClass {
        None = "none", SoftDelete = "soft-delete", HardDelete = "hard-delete", Overwrite = "overwrite",
        IrreversibleSend = "irreversible-send", UnknownDestructive = "unknown-destructive",
    }
}

words! {
    /// What makes a second time harmless.
    IdempotencyKind {
        NaturallyIdempotent = "naturally-idempotent", ProviderIdempotencyKey = "provider-idempotency-key",
        ClientSuppliedExternalKey = "client-supplied-external-key", LedgerOnly = "ledger-only",
        NotIdempotent = "not-idempotent", Unknown = "unknown",
    }
}

words! {
    /// When it may be tried again.
    RetrySafety {
        SafeRetry = "safe-retry", RetryBeforeProviderCall = "retry-before-provider-call",
        RetryWithIdempotencyKey = "retry-with-idempotency-key", NoAutomaticRetry = "no-automatic-retry",
        ManualReview = "manual-review",
    }
}

/// The five answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each field is its type")]
pub struct Semantics {
    pub effect: EffectClass,
    pub scope: MutationScope,
    pub destructive: DestructiveClass,
    pub idempotency: IdempotencyKind,
    pub retry: RetrySafety,
}

impl Semantics {
    /// Every rule that these answers break, each with what to change.
    #[must_use]
    pub fn contradictions(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut rule = |holds: bool, problem: String| {
            if !holds {
                broken.push(problem);
            }
        };
        if self.effect == EffectClass::Read {
            let destructive = self.destructive.as_str();
            rule(
                self.destructive == DestructiveClass::None,
                format!("a read destroys nothing: destructive is `{destructive}`, use `none`"),
            );
            let idempotency = self.idempotency.as_str();
            rule(
                self.idempotency == IdempotencyKind::NaturallyIdempotent,
                format!("a read is `naturally-idempotent`: idempotency is `{idempotency}`"),
            );
            let retry = self.retry.as_str();
            rule(self.retry == RetrySafety::SafeRetry, format!("a read is a `safe-retry`: retry is `{retry}`"));
        }
        rule(
            !(self.idempotency == IdempotencyKind::NotIdempotent && self.retry == RetrySafety::SafeRetry),
            "what is `not-idempotent` is no `safe-retry`: use `no-automatic-retry`, or say what makes it idempotent"
                .to_owned(),
        );
        broken
    }

    /// Whether it needs somebody's approval: everything destructive but a message that is sent.
    #[must_use]
    pub fn needs_approval(&self) -> bool {
        !matches!(self.destructive, DestructiveClass::None | DestructiveClass::IrreversibleSend)
    }

    /// Whether a second time does no harm without any key.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        self.idempotency == IdempotencyKind::NaturallyIdempotent && self.retry == RetrySafety::SafeRetry
    }

    /// Whether a second time does no harm under the caller's key, since the platform or the target knows it.
    #[must_use]
    pub fn is_repeatable_with_key(&self) -> bool {
        let keyed = matches!(
            self.idempotency,
            IdempotencyKind::NaturallyIdempotent
                | IdempotencyKind::ProviderIdempotencyKey
                | IdempotencyKind::ClientSuppliedExternalKey
        );
        keyed && matches!(self.retry, RetrySafety::SafeRetry | RetrySafety::RetryWithIdempotencyKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Semantics = Semantics {
        effect: EffectClass::Read,
        scope: MutationScope::None,
        destructive: DestructiveClass::None,
        idempotency: IdempotencyKind::NaturallyIdempotent,
        retry: RetrySafety::SafeRetry,
    };
    const SEND: Semantics = Semantics {
        effect: EffectClass::Send,
        scope: MutationScope::ExternalDelivery,
        destructive: DestructiveClass::IrreversibleSend,
        idempotency: IdempotencyKind::ProviderIdempotencyKey,
        retry: RetrySafety::RetryWithIdempotencyKey,
    };

    #[test]
    fn a_read_is_harmless_in_every_way() {
        assert_eq!(READ.contradictions(), Vec::<String>::new());
        let broken = Semantics {
            destructive: DestructiveClass::Overwrite,
            idempotency: IdempotencyKind::LedgerOnly,
            retry: RetrySafety::ManualReview,
            ..READ
        };
        let problems = broken.contradictions();
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems[0].contains("`overwrite`") && problems[1].contains("`ledger-only`"), "{problems:?}");
    }

    #[test]
    fn what_is_not_idempotent_is_no_safe_retry() {
        let broken = Semantics { idempotency: IdempotencyKind::NotIdempotent, retry: RetrySafety::SafeRetry, ..SEND };
        assert_eq!(broken.contradictions().len(), 1);
        assert_eq!(SEND.contradictions(), Vec::<String>::new());
    }

    #[test]
    fn sending_needs_no_approval_and_destroying_does() {
        assert!(!READ.needs_approval() && !SEND.needs_approval());
        for destructive in [
            DestructiveClass::SoftDelete,
            DestructiveClass::HardDelete,
            DestructiveClass::Overwrite,
            DestructiveClass::UnknownDestructive,
        ] {
            assert!(Semantics { destructive, ..SEND }.needs_approval(), "{destructive:?}");
        }
    }

    #[test]
    fn who_may_repeat() {
        assert!(READ.is_repeatable() && READ.is_repeatable_with_key());
        assert!(!SEND.is_repeatable() && SEND.is_repeatable_with_key());
        let ledger = Semantics { idempotency: IdempotencyKind::LedgerOnly, ..SEND };
        assert!(!ledger.is_repeatable_with_key());
    }
}
