//! What can be done on a platform, a call of it, and how the call ended.

use jackfield_model::action::{ActionFault, ActionSpec, Call, Outcome, Patch, PatchOp, Pause};
use jackfield_model::semantics::{
    DestructiveClass, EffectClass, IdempotencyKind, MutationScope, RetrySafety, Semantics,
};

use super::duration;
use crate::exports::action;

/// The same words on both sides.
macro_rules! same {
    ($wit:ident => $model:ident { $($variant:ident),+ }) => {
        impl From<action::$wit> for $model {
            fn from(word: action::$wit) -> Self {
                match word { $(action::$wit::$variant => Self::$variant),+ }
            }
        }
    };
}

same!(EffectClass => EffectClass { Read, Create, Update, Upsert, Delete, Send, CustomWrite, MultiStep, Unknown });
same!(MutationScope => MutationScope {
    None, SingleRecord, Collection, ProviderAccount, ExternalDelivery, Custom, Unknown
});
same!(DestructiveClass => DestructiveClass {
    None, SoftDelete, HardDelete, Overwrite, IrreversibleSend, UnknownDestructive
});
same!(IdempotencyKind => IdempotencyKind {
    NaturallyIdempotent, ProviderIdempotencyKey, ClientSuppliedExternalKey, LedgerOnly, NotIdempotent, Unknown
});
same!(RetrySafety => RetrySafety {
    SafeRetry, RetryBeforeProviderCall, RetryWithIdempotencyKey, NoAutomaticRetry, ManualReview
});
same!(EffectOp => PatchOp { Set, MergeObject, EmitRequest, SearchAttributesMerge });

impl From<action::ActionSpec> for ActionSpec {
    fn from(spec: action::ActionSpec) -> Self {
        let action::Semantics { effect, scope, destructive, idempotency, retry } = spec.semantics;
        Self {
            name: spec.name,
            summary: spec.summary,
            input_schema: spec.input_schema,
            output_schema: spec.output_schema,
            semantics: Semantics {
                effect: effect.into(),
                scope: scope.into(),
                destructive: destructive.into(),
                idempotency: idempotency.into(),
                retry: retry.into(),
            },
            timeout: duration(spec.timeout),
            implements: spec.implements,
            required_scopes: spec.required_scopes,
            annotations: spec.annotations,
        }
    }
}

impl From<action::Outcome> for Outcome {
    fn from(outcome: action::Outcome) -> Self {
        let patch = |action::Effect { op, path, value }| Patch { op: op.into(), path, value };
        Self {
            output: outcome.output,
            provider_ids: outcome.provider_ids,
            effects: outcome.effects.into_iter().map(patch).collect(),
        }
    }
}

impl From<action::ActionFault> for ActionFault {
    fn from(fault: action::ActionFault) -> Self {
        match fault {
            action::ActionFault::Rejected(reason) => Self::Rejected(reason),
            action::ActionFault::Retry(action::Pause { after, bucket }) => {
                Self::Retry(Pause { after: after.map(duration), bucket })
            }
            action::ActionFault::Unauthorized(reason) => Self::Unauthorized(reason),
            action::ActionFault::Partial(outcome) => Self::Partial(outcome.into()),
            action::ActionFault::Unknown(reason) => Self::Unknown(reason),
        }
    }
}

/// A call, ready to be lent.
#[derive(Debug)]
pub struct ActionCall<'a> {
    call: &'a Call,
    execution: String,
}

impl<'a> ActionCall<'a> {
    /// Prepares a call for lending.
    #[must_use]
    pub fn new(call: &'a Call) -> Self {
        Self { call, execution: call.execution.to_string() }
    }

    /// The call as `run` takes it.
    #[must_use]
    pub fn lend(&self) -> action::Call<'_> {
        let Call { name, args, idempotency_key, attempt, deadline, annotations, execution: _ } = self.call;
        action::Call {
            name,
            args,
            execution_id: &self.execution,
            idempotency_key: idempotency_key.as_deref(),
            attempt: *attempt,
            deadline: deadline.0,
            annotations,
        }
    }
}
