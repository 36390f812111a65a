//! Handing raw dispatches to the host.
//!
//! Promised: what is submitted takes effect when the call returns, in order with everything else; the bytes of a signal are
//! shared, never copied. A dispatch that is too large or has no JSON object as context is `invalid`; one that is too large is
//! an effect besides, so that whoever does the effects can count what was not kept.

mod host;

use jackfield_model::session::{Effect, Signal};
use jackfield_model::{Dispatch, Fault};
use wasmtime::component::{HasData, Linker};

use crate::effects::{Effects, label};
use crate::failure::Refusal;
use crate::guest::Guest;
use crate::json;
use crate::limits::{DISPATCH_BYTES_MAX, LABEL_BYTES_MAX};
use crate::log::LogSink;
use crate::phase::{ANY_SIDE_EFFECT, Call, RUNTIME};

/// What this import works on.
pub(super) struct IngestView<'a> {
    call: &'a mut Call,
    effects: &'a mut Effects,
    /// Those of the running call.
    signals: &'a [Signal],
    log: &'a LogSink,
}

impl IngestView<'_> {
    fn submit(&mut self, dispatch: Dispatch, mark: Option<String>) -> Result<(), Refusal> {
        self.call.admit("ingest.submit", ANY_SIDE_EFFECT)?;
        self.collect(dispatch, mark)
    }

    fn submit_signal(
        &mut self,
        index: u32,
        kind: String,
        lane: String,
        context: String,
        mark: Option<String>,
    ) -> Result<(), Refusal> {
        self.call.admit("ingest.submit-signal", RUNTIME)?;
        let signal = usize::try_from(index).ok().and_then(|index| self.signals.get(index));
        let payload = signal.and_then(Signal::payload).ok_or_else(|| {
            let count = self.signals.len();
            Fault::Invalid(format!("index: {index} is no message and no fetched body of this call's {count} signals"))
        })?;
        self.collect(Dispatch { kind, payload: payload.clone(), lane, context }, mark)
    }

    fn collect(&mut self, dispatch: Dispatch, mark: Option<String>) -> Result<(), Refusal> {
        label("kind", &dispatch.kind)?;
        label("lane", &dispatch.lane)?;
        if mark.as_ref().is_some_and(|mark| mark.len() > LABEL_BYTES_MAX) {
            return Err(Fault::Invalid(format!("mark: use at most {LABEL_BYTES_MAX} bytes")).into());
        }
        let weight = dispatch.weight();
        if weight > DISPATCH_BYTES_MAX {
            // People will read the names.
            let [kind, lane] =
                [dispatch.kind, dispatch.lane].map(|name| self.log.fit(&name, LABEL_BYTES_MAX).into_owned());
            let told = kind.len() + lane.len();
            self.effects.push(Effect::TooLarge { kind, lane, bytes: weight }, told)?;
            return Err(Fault::Invalid(format!("dispatch: {weight} bytes, at most {DISPATCH_BYTES_MAX}")).into());
        }
        json::object(&dispatch.context).map_err(|problem| Fault::Invalid(format!("context: {problem}")))?;
        let weight = weight + mark.as_ref().map_or(0, String::len);
        Ok(self.effects.push(Effect::Submit { dispatch, mark }, weight)?)
    }
}

struct HasIngest;

impl HasData for HasIngest {
    type Data<'a> = IngestView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::ingest::add_to_linker::<_, HasIngest>(linker, |guest| IngestView {
        call: &mut guest.call,
        effects: &mut guest.effects,
        signals: &guest.signals,
        log: &guest.log,
    })
}
