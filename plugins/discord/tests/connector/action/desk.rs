//! A host without anything real: answers from a script, and keeps what it was asked for. It holds every call to the contract:
//! arguments fit the schema that the action declares, a place is reserved before each request, the token stands in the one
//! header and is listed once, and what comes out fits the schema too.

use std::collections::{HashMap, VecDeque};

use jackfield_discord::action::{self, Host};
use jackfield_sdk::action::{ActionFault, ActionSpec, Call, Outcome, Pause};
use jackfield_sdk::contacts::{Reference, Resolution};
use jackfield_sdk::log::Level;
use jackfield_sdk::{Fault, HttpMethod, HttpRequest, HttpResponse, Place, SecretUse};
use serde_json::{Value, json};

/// A channel, and what Discord calls creating a message in it.
pub(super) const CHANNEL: &str = "1432011223344556677";
pub(super) const BUCKET: &str = "POST /channels/1432011223344556677/messages";

/// When the desk's clock starts, and when calls have to be done.
const NOW_MS: u64 = 1_770_100_000_000;
pub(super) const TIME_MS: u64 = 60_000;

/// Id of the first message that the desk makes; the next ones count on.
const FIRST_ID: u64 = 1_468_248_479_167_064_500;

/// What the host was asked, in order.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Asked {
    Reserve(String),
    Send(Sent),
    Left(String, u32, u32),
    Resolve(Reference),
}

/// A request.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sent {
    /// Method and path below the version.
    pub(super) line: String,
    /// The body; null where there is none.
    pub(super) body: Value,
    pub(super) timeout: u32,
}

/// The host's side.
pub(super) struct Desk {
    pub(super) asked: Vec<Asked>,
    /// What `send` answers; messages are made where the script has ended.
    pub(super) answers: VecDeque<Result<HttpResponse, Fault>>,
    /// What `reserve` answers; yes where the script has ended.
    pub(super) places: VecDeque<Result<(), Fault>>,
    pub(super) contacts: HashMap<String, Result<Resolution, Fault>>,
    /// How long each request takes, in milliseconds.
    pub(super) slow_ms: u64,
    now_ms: u64,
    made: u64,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self {
            asked: Vec::new(),
            answers: VecDeque::new(),
            places: VecDeque::new(),
            contacts: HashMap::new(),
            slow_ms: 0,
            now_ms: NOW_MS,
            made: 0,
        }
    }

    /// One whose requests are answered so.
    pub(super) fn answering(answers: impl IntoIterator<Item = Result<HttpResponse, Fault>>) -> Self {
        Self { answers: answers.into_iter().collect(), ..Self::new() }
    }

    /// Runs an action with arguments that fit its schema.
    pub(super) fn run(&mut self, name: &str, args: &Value) -> Result<Outcome, ActionFault> {
        self.run_with(name, args, |_| {})
    }

    pub(super) fn run_with(
        &mut self,
        name: &str,
        args: &Value,
        change: impl FnOnce(&mut Call),
    ) -> Result<Outcome, ActionFault> {
        let spec = spec(name);
        fits(&spec.input_schema, args).unwrap();
        let mut call = call(name, &args.to_string(), self.now_ms);
        change(&mut call);
        let ended = action::run(&call, self);
        if let Ok(outcome) | Err(ActionFault::Partial(outcome)) = &ended {
            fits(&spec.output_schema, &serde_json::from_str(&outcome.output).unwrap()).unwrap();
        }
        if let Err(fault) = &ended {
            assert!(!fault.text().to_string().contains("secret:"), "{fault:?}");
        }
        ended
    }

    /// What was sent.
    pub(super) fn sent(&self) -> Vec<&Sent> {
        let sent = self.asked.iter().filter_map(|asked| match asked {
            Asked::Send(sent) => Some(sent),
            _ => None,
        });
        sent.collect()
    }

    /// Lines of what was sent.
    pub(super) fn lines(&self) -> Vec<&str> {
        self.sent().into_iter().map(|sent| sent.line.as_str()).collect()
    }

    /// The only request.
    #[track_caller]
    pub(super) fn only(&self) -> &Sent {
        match self.sent().as_slice() {
            [sent] => sent,
            sent => panic!("not one request: {sent:#?}"),
        }
    }

    /// What was said of buckets by hand, answers' headers aside.
    pub(super) fn slowed(&self) -> Vec<(&str, u32)> {
        let left = self.asked.iter().filter_map(|asked| match asked {
            Asked::Left(bucket, 0, ms) => Some((bucket.as_str(), *ms)),
            _ => None,
        });
        left.collect()
    }

    pub(super) fn message(&mut self) -> HttpResponse {
        let id = FIRST_ID + self.made;
        self.made += 1;
        HttpResponse::text(200, json!({ "id": id.to_string(), "type": 0, "content": "…" }).to_string())
    }
}

impl Host for Desk {
    fn reserve(&mut self, bucket: &str) -> Result<(), Fault> {
        self.asked.push(Asked::Reserve(bucket.to_owned()));
        self.places.pop_front().unwrap_or(Ok(()))
    }

    fn send(&mut self, request: &HttpRequest) -> Result<HttpResponse, Fault> {
        let path = request.url.strip_prefix("https://discord.com/api/v10").unwrap();
        let method = match request.method {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
            HttpMethod::Patch => "PATCH",
            other => panic!("{other:?}"),
        };
        let line = format!("{method} {path}");
        let bucket = self.asked.iter().rev().find_map(|asked| match asked {
            Asked::Reserve(bucket) => Some(bucket.as_str()),
            Asked::Send(_) => Some("nothing"),
            _ => None,
        });
        let bucket = bucket.unwrap_or("nothing");
        assert!(line.starts_with(bucket), "a place in {bucket} for {line}");

        let header = |wanted: &str| -> Vec<&str> {
            let headers = request.headers.iter().filter(|(name, _)| name == wanted);
            headers.map(|(_, value)| value.as_str()).collect()
        };
        assert_eq!(header("authorization"), ["Bot {{secret:bot-token}}"]);
        assert_eq!(request.secrets, [SecretUse { secret: "bot-token".to_owned(), place: Place::Header }]);
        let body = match request.body.as_text().unwrap() {
            "" => Value::Null,
            body => {
                assert_eq!(header("content-type"), ["application/json"]);
                serde_json::from_str(body).unwrap()
            }
        };
        assert!(request.timeout > 0 && request.timeout <= 15_000, "{}", request.timeout);
        self.asked.push(Asked::Send(Sent { line, body, timeout: request.timeout }));
        self.now_ms += self.slow_ms;
        self.answers.pop_front().unwrap_or_else(|| Ok(self.message()))
    }

    fn left(&mut self, bucket: &str, remaining: u32, resets_in_ms: u32) {
        self.asked.push(Asked::Left(bucket.to_owned(), remaining, resets_in_ms));
    }

    fn resolve(&mut self, reference: &Reference) -> Result<Resolution, Fault> {
        self.asked.push(Asked::Resolve(reference.clone()));
        let (Reference::Text(name) | Reference::Email(name) | Reference::ExternalId(name)) = reference else {
            panic!("{reference:?}");
        };
        self.contacts.get(name).cloned().unwrap_or(Ok(Resolution::None))
    }

    fn log(&mut self, _: Level, _: &str, _: &[(&str, &str)]) {}

    fn now_ms(&mut self) -> u64 {
        self.now_ms
    }
}

pub(super) fn call(name: &str, args: &str, now_ms: u64) -> Call {
    Call {
        name: name.to_owned(),
        args: args.to_owned(),
        execution_id: "019c1f6a5a0c7d2e9b3f4a5b6c7d8e9f".to_owned(),
        idempotency_key: None,
        attempt: 1,
        deadline: now_ms + TIME_MS,
        annotations: "{}".to_owned(),
    }
}

pub(super) fn spec(name: &str) -> ActionSpec {
    action::describe().into_iter().find(|spec| spec.name == name).unwrap()
}

/// Whether a value fits a schema; otherwise what is wrong.
pub(super) fn fits(schema: &str, value: &Value) -> Result<(), String> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_else(|error| panic!("{error}: {schema}"));
    let validator = jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{error}: {schema}"));
    validator.validate(value).map_err(|error| format!("{error} in {value}"))
}

/// An answer of Discord's.
pub(super) fn answer(status: u16, body: &Value) -> Result<HttpResponse, Fault> {
    Ok(HttpResponse::text(status, body.to_string()))
}

/// A refusal of Discord's.
pub(super) fn refusal(status: u16, code: u32, message: &str) -> Result<HttpResponse, Fault> {
    answer(status, &json!({ "message": message, "code": code }))
}

/// A 429 of one bucket, or of everything.
pub(super) fn too_many(seconds: f64, global: bool) -> Result<HttpResponse, Fault> {
    answer(429, &json!({ "message": "You are being rate limited.", "retry_after": seconds, "global": global }))
}

pub(super) fn retry(after: Option<u32>, bucket: Option<&str>) -> ActionFault {
    ActionFault::Retry(Pause { after, bucket: bucket.map(str::to_owned) })
}

/// The ids of messages that the desk made: the first `count`.
pub(super) fn ids(count: u64) -> Vec<String> {
    (0..count).map(|made| (FIRST_ID + made).to_string()).collect()
}

/// The output of an outcome.
pub(super) fn output(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.output).unwrap()
}

/// The outcome of a call that was done in part.
#[track_caller]
pub(super) fn partial(ended: Result<Outcome, ActionFault>) -> Outcome {
    match ended {
        Err(ActionFault::Partial(outcome)) => outcome,
        other => panic!("not partial: {other:?}"),
    }
}
