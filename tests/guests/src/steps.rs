//! Actions that do what their arguments say, step by step, so that a test decides in one line what a connector does.
//!
//! Arguments: `{"steps": [STEP, ...], "end": END, "ids": [ID, ...]}`. A step is one word with its operand:
//!
//! | step | does |
//! | --- | --- |
//! | `{"send": URL}`, `{"send": {"url", "method", "body", "header": [NAME, VALUE], "secret", "timeout"}}` | a request; `secret` fills the canary into that place |
//! | `{"place": BUCKET}` | reserves, or ends the run with `retry` and this bucket |
//! | `{"reserve": BUCKET}` | reserves, and goes on whatever comes of it |
//! | `{"left": [BUCKET, REMAINING, MS]}` | what the platform says of a bucket |
//! | `{"acquire": [KEY, TTL_MS]}`, `{"only": [KEY, TTL_MS]}` | takes a lock; `only` ends with `rejected` when somebody has it |
//! | `{"renew": TTL_MS}`, `{"drop": true}` | the newest lock |
//! | `{"sleep": MS}`, `{"spin": true}`, `{"trap": true}`, `{"fill": BYTES}` | waits, computes for ever, ends, fills memory for ever |
//! | `{"set": [KEY, VALUE]}`, `{"get": KEY}`, `{"delete": KEY}` | the connection's map |
//! | `{"submit": [KIND, PAYLOAD, LANE]}` | hands in a dispatch |
//! | `{"resolve": TEXT}` | looks a person up |
//! | `{"log": TEXT}`, `{"calls": COUNT}` | a line; as many host calls |
//!
//! Every step leaves one text in the output's `said`. `end` is `"done"` (the default), or `{"rejected": TEXT}`,
//! `{"unauthorized": TEXT}`, `{"unknown": TEXT}`, `{"partial": true}`, `{"retry": {"after": MS, "bucket": BUCKET}}`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "arguments that make no sense end the guest, which a test sees"
)]

use std::time::Duration;

use jackfield_sdk::action::{ActionFault, ActionSpec, Call, Outcome, Pause, Semantics};
use jackfield_sdk::action::{DestructiveClass, EffectClass, IdempotencyKind, MutationScope, RetrySafety};
use jackfield_sdk::{
    Blob, Dispatch, Fault, HttpMethod, HttpRequest, Place, contacts, egress, ingest, lease, log, state,
};
use serde_json::{Value, json};

use crate::describe::SECRET;

/// What every action of this guest takes.
const INPUT: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "steps": { "type": "array", "items": { "type": "object" } },
    "end": { "type": ["string", "object", "array"] },
    "ids": { "type": "array", "items": { "type": "string" } },
    "token": { "type": "string" }
  }
}"#;

/// How long one run may take, in milliseconds.
const TIMEOUT_MS: u32 = 20_000;

/// The actions: the same steps under different semantics.
#[must_use]
pub fn describe() -> Vec<ActionSpec> {
    let send = Semantics {
        effect: EffectClass::Send,
        scope: MutationScope::ExternalDelivery,
        destructive: DestructiveClass::IrreversibleSend,
        idempotency: IdempotencyKind::NotIdempotent,
        retry: RetrySafety::NoAutomaticRetry,
    };
    let keyed = Semantics {
        idempotency: IdempotencyKind::ProviderIdempotencyKey,
        retry: RetrySafety::RetryWithIdempotencyKey,
        ..send
    };
    let wipe = Semantics { effect: EffectClass::Delete, destructive: DestructiveClass::HardDelete, ..send };
    let look = Semantics {
        effect: EffectClass::Read,
        scope: MutationScope::None,
        destructive: DestructiveClass::None,
        idempotency: IdempotencyKind::NaturallyIdempotent,
        retry: RetrySafety::SafeRetry,
    };
    let spec = |name: &str, summary: &str, semantics| ActionSpec {
        name: name.to_owned(),
        summary: summary.to_owned(),
        input_schema: INPUT.to_owned(),
        output_schema: r#"{"type": "object", "required": ["said"]}"#.to_owned(),
        semantics,
        timeout: TIMEOUT_MS,
        implements: Vec::new(),
        required_scopes: Vec::new(),
        annotations: "{}".to_owned(),
    };
    vec![
        spec("steps", "Does what it is told, and twice is too often.", send),
        spec("keyed", "The same, for a platform that knows the key.", keyed),
        ActionSpec {
            annotations: r#"{"idempotency-window-ms":3000}"#.to_owned(),
            ..spec("brief", "The same, for a platform that knows the key for a moment.", keyed)
        },
        spec("wipe", "The same, and it can't be taken back.", wipe),
        spec("look", "The same, and nothing is changed.", look),
    ]
}

/// Does what the arguments say.
///
/// # Errors
/// The fault that they ask for.
///
/// # Panics
/// Where they say so, and where they make no sense.
pub fn run(call: &Call) -> Result<Outcome, ActionFault> {
    let args: Value = serde_json::from_str(&call.args).expect("the host has checked");
    let mut run = Run { said: Vec::new(), locks: Vec::new() };
    for step in args["steps"].as_array().into_iter().flatten() {
        let said = run.step(step)?;
        run.said.push(said);
    }
    let ids = args["ids"].as_array().into_iter().flatten().map(|id| text(id).to_owned()).collect();
    let output = json!({ "said": run.said, "attempt": call.attempt, "key": call.idempotency_key }).to_string();
    let outcome = Outcome { output, provider_ids: ids, effects: Vec::new() };
    let end = match &args["end"] {
        // One for each attempt.
        Value::Array(ends) => ends.get(call.attempt as usize - 1).expect("an end for this attempt"),
        end => end,
    };
    let said = |word: &str| end.get(word).and_then(Value::as_str).map(str::to_owned);
    if let Some(why) = said("rejected") {
        return Err(ActionFault::Rejected(why));
    }
    if let Some(why) = said("unauthorized") {
        return Err(ActionFault::Unauthorized(why));
    }
    if let Some(why) = said("unknown") {
        return Err(ActionFault::Unknown(why));
    }
    if let Some(pause) = end.get("retry") {
        let bucket = pause.get("bucket").and_then(Value::as_str).map(str::to_owned);
        return Err(ActionFault::Retry(Pause { after: pause.get("after").map(ms), bucket }));
    }
    if end.get("partial").is_some() { Err(ActionFault::Partial(outcome)) } else { Ok(outcome) }
}

struct Run {
    said: Vec<String>,
    /// Locks that are held, the newest last.
    locks: Vec<lease::Guard>,
}

impl Run {
    fn step(&mut self, step: &Value) -> Result<String, ActionFault> {
        let (word, operand) = step.as_object().and_then(|step| step.iter().next()).expect("one word with its operand");
        let pair = || (text(&operand[0]), &operand[1]);
        Ok(match word.as_str() {
            "send" => send(operand),
            "place" => match egress::reserve(text(operand)) {
                Ok(()) => "ok".to_owned(),
                Err(Fault::Unavailable(after)) if self.said.iter().all(|said| !said.starts_with("sent ")) => {
                    return Err(ActionFault::Retry(Pause { after, bucket: Some(text(operand).to_owned()) }));
                }
                Err(fault) => fault.text().to_string(),
            },
            "reserve" => said(egress::reserve(text(operand))),
            "left" => {
                egress::left(text(&operand[0]), ms(&operand[1]), ms(&operand[2]));
                "ok".to_owned()
            }
            "acquire" | "only" => match lease::try_acquire(pair().0, ms(pair().1)) {
                Ok(Some(guard)) => {
                    let fence = guard.fence();
                    self.locks.push(guard);
                    format!("fence {fence}")
                }
                Ok(None) if word == "only" => return Err(ActionFault::Rejected("somebody has it".to_owned())),
                Ok(None) => "held".to_owned(),
                Err(fault) => fault.text().to_string(),
            },
            "renew" => said(self.locks.last().expect("a lock").renew(ms(operand))),
            "drop" => {
                drop(self.locks.pop());
                "ok".to_owned()
            }
            "sleep" => {
                std::thread::sleep(Duration::from_millis(ms(operand).into()));
                "ok".to_owned()
            }
            "spin" => loop {
                std::hint::black_box(());
            },
            "trap" => panic!("asked to"),
            "fill" => fill(ms(operand)),
            "set" => said(state::set(pair().0, &Blob::from(text(pair().1)))),
            "get" => match state::get(text(operand)) {
                Ok(value) => value.map_or("none".to_owned(), |value| value.to_text_lossy().into_owned()),
                Err(fault) => fault.text().to_string(),
            },
            "delete" => said(state::delete(text(operand))),
            "submit" => said(submit(operand)),
            "resolve" => match contacts::resolve(&contacts::Reference::Text(text(operand).to_owned())) {
                Ok(contacts::Resolution::Found(contact)) => contact.external_id.unwrap_or(contact.id),
                Ok(contacts::Resolution::None) => "nobody".to_owned(),
                Ok(contacts::Resolution::Ambiguous(ids)) => format!("{} of them", ids.len()),
                Err(fault) => fault.text().to_string(),
            },
            "log" => {
                log::info(text(operand), &[]);
                "ok".to_owned()
            }
            "calls" => {
                for _ in 0..ms(operand) {
                    std::hint::black_box(state::get("k").is_ok());
                }
                "ok".to_owned()
            }
            other => panic!("no step {other}"),
        })
    }
}

fn send(operand: &Value) -> String {
    let of = |key: &str| operand.get(key).and_then(Value::as_str);
    let method = match of("method").unwrap_or("get") {
        "post" => HttpMethod::Post,
        "put" => HttpMethod::Put,
        "delete" => HttpMethod::Delete,
        "options" => HttpMethod::Options,
        _ => HttpMethod::Get,
    };
    let mut request = HttpRequest::new(method, operand.as_str().or(of("url")).expect("a URL"));
    if let Some(body) = of("body") {
        request.body = Blob::from(body);
    }
    if let Some(header) = operand.get("header") {
        request = request.header(text(&header[0]), text(&header[1]));
    }
    match of("secret") {
        Some("header") => request = request.authorization("Bearer", SECRET),
        Some("body") => request = request.with_secret(SECRET, Place::Body),
        Some("url") => request = request.with_secret(SECRET, Place::Url),
        _ => {}
    }
    if let Some(timeout) = operand.get("timeout") {
        request = request.timeout_ms(ms(timeout));
    }
    match egress::send(&request) {
        Ok(response) => format!("sent {} {}", response.status, response.body.to_text_lossy()),
        Err(fault) => fault.text().to_string(),
    }
}

fn submit(operand: &Value) -> Result<(), Fault> {
    let part = |at: usize| text(&operand[at]).to_owned();
    let dispatch =
        Dispatch { kind: part(0), payload: Blob::from(part(1).as_str()), lane: part(2), context: "{}".to_owned() };
    ingest::submit(&dispatch, None)
}

/// Fills memory again and again, as `memory.fill` does in one instruction.
fn fill(bytes: u32) -> String {
    let mut memory = vec![0_u8; bytes as usize];
    let mut value = 0_u8;
    loop {
        memory.fill(value);
        value = value.wrapping_add(1);
        std::hint::black_box(&memory);
    }
}

fn said<T>(result: Result<T, Fault>) -> String {
    result.map_or_else(|fault| fault.text().to_string(), |_| "ok".to_owned())
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// A number that fits a duration.
fn ms(value: &Value) -> u32 {
    value.as_u64().and_then(|number| number.try_into().ok()).expect("a number")
}
