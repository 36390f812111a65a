//! What the two do when they are called, against an engine alone: a platform, a state and people that answer as told. Each
//! import that they use has to show in what comes of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jackfield_engine::action::{Done, Outbound, Pool};
use jackfield_engine::capability::contacts::Directory;
use jackfield_engine::capability::http::Client;
use jackfield_model::action::{ActionFault, Call, Outcome, Pause};
use jackfield_model::contact::{Contact, Reference, Resolution};
use jackfield_model::session::Effect;
use jackfield_model::wire::{HttpRequest, HttpResponse, Method, Place, SecretUse};
use jackfield_model::{Blob, ExecutionId, Fault, Timestamp};
use jackfield_tests::guest;
use jackfield_tests::guest::Guest;
use jackfield_tests::sandbox::{Bench, MemoryMap};
use serde_json::{Value, json};

use super::bench;

/// Longest call. An interpreter on a busy machine takes its time.
const LIMIT: Duration = Duration::from_secs(30);

/// A platform that keeps what it is asked, and answers the same to everything.
struct Platform {
    answer: Result<HttpResponse, Fault>,
    requests: Mutex<Vec<HttpRequest>>,
}

#[async_trait]
impl Client for Platform {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Fault> {
        self.requests.lock().unwrap().push(request);
        self.answer.clone()
    }

    async fn reserve(&self, _: &str) -> Result<(), Fault> {
        Ok(())
    }

    fn left(&self, _: &str, _: u32, _: Duration) {}
}

/// Whom every reference means.
struct People(Result<Resolution, Fault>);

#[async_trait]
impl Directory for People {
    async fn resolve(&self, reference: &Reference) -> Result<Resolution, Fault> {
        assert!(matches!(reference, Reference::Text { text, .. } if text == "juno@example.com"), "{reference:?}");
        self.0.clone()
    }
}

/// A call, and what it finds.
struct Given {
    args: Value,
    config: Value,
    counted: Option<&'static str>,
    answer: Result<HttpResponse, Fault>,
    person: Option<Result<Resolution, Fault>>,
}

/// A call of the usual kind.
fn given(answer: Result<HttpResponse, Fault>) -> Given {
    Given { args: json!({ "text": "hello" }), config: json!({}), counted: None, answer, person: None }
}

fn answered(status: u16, body: &str) -> Result<HttpResponse, Fault> {
    Ok(HttpResponse { status, headers: Vec::new(), body: Blob::from(body) })
}

/// What came of it.
struct Seen {
    done: Done,
    requests: Vec<HttpRequest>,
}

struct Connector {
    bench: Bench,
    pool: Pool,
}

impl Connector {
    async fn say(&self, given: Given) -> Seen {
        let platform = Arc::new(Platform { answer: given.answer, requests: Mutex::default() });
        let outbound = Outbound {
            client: platform.clone(),
            directory: given.person.map(|person| Arc::new(People(person)) as Arc<dyn Directory>),
            locks: None,
        };
        let state = given.counted.map_or_else(MemoryMap::default, |count| MemoryMap::of("count", count));
        let host = self.bench.host(&given.config.to_string(), Arc::new(state));
        let call = Call {
            name: "say".to_owned(),
            args: given.args.to_string(),
            execution: ExecutionId::new(Timestamp(1), 1),
            idempotency_key: None,
            attempt: 1,
            deadline: Timestamp(u64::MAX >> 12),
            annotations: "{}".to_owned(),
        };
        let done = self.pool.slot().await.run(&call, host, outbound, LIMIT).await.unwrap();
        let requests = platform.requests.lock().unwrap().clone();
        Seen { done, requests }
    }
}

#[tokio::test]
pub(super) async fn language_javascript() {
    does_what_it_should(guest::LANGUAGE_JAVASCRIPT).await;
}

#[tokio::test]
pub(super) async fn language_python() {
    does_what_it_should(guest::LANGUAGE_PYTHON).await;
}

async fn does_what_it_should(guest: Guest) {
    let bench = bench(guest).await;
    let pool = bench.actions();
    let connector = Connector { bench, pool };
    posts_the_text(&connector).await;
    counts_and_names_people(&connector).await;
    tells_what_the_host_did_not_do(&connector).await;
    tells_what_the_platform_answered(&connector).await;
    takes_ids_that_are_ids(&connector).await;
}

fn body(request: &HttpRequest) -> Value {
    serde_json::from_str(request.body.as_str().unwrap()).unwrap()
}

async fn posts_the_text(connector: &Connector) {
    let text = "grüße, 😀 and {{secret:canary}}";
    let seen = connector.say(Given { args: json!({ "text": text }), ..given(answered(201, r#"{"id":"m-1"}"#)) }).await;
    let [request] = seen.requests.as_slice() else { panic!("{:?}", seen.requests) };
    assert_eq!((request.method, request.url.as_str()), (Method::Post, "https://echo.test/say"));
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let expected = [header("authorization", "Bearer {{secret:canary}}"), header("content-type", "application/json")];
    assert_eq!(request.headers, expected);
    // In the header: the same words in somebody's text stay text.
    assert_eq!(request.secrets, [SecretUse { secret: "canary".to_owned(), place: Place::Header }]);
    assert_eq!(body(request), json!({ "text": text, "number": 1 }));
    let Ok(Outcome { output, provider_ids, effects }) = seen.done.result else { panic!("{:?}", seen.done) };
    assert_eq!(serde_json::from_str::<Value>(&output).unwrap(), json!({ "status": 201, "body": r#"{"id":"m-1"}"# }));
    assert_eq!((provider_ids, effects.len()), (vec!["m-1".to_owned()], 0));
    assert_eq!(seen.done.effects, [Effect::StateSet { key: "count".to_owned(), value: Blob::from("1") }]);
    let lines = connector.bench.lines();
    let said = lines.iter().find(|line| line.message == "said").unwrap_or_else(|| panic!("{lines:?}"));
    assert_eq!(said.fields, [header("number", "1"), header("status", "201")]);
}

async fn counts_and_names_people(connector: &Connector) {
    let to = |person: Result<Resolution, Fault>| Given {
        args: json!({ "text": "hello", "to": "juno@example.com" }),
        config: json!({ "name": "Mo" }),
        counted: Some("41"),
        person: Some(person),
        ..given(answered(200, "{}"))
    };
    let juno =
        Contact { id: "c-7".to_owned(), email: None, external_id: None, ids: Vec::new(), properties: "{}".to_owned() };
    let seen = connector.say(to(Ok(Resolution::Found(juno)))).await;
    assert_eq!(body(&seen.requests[0]), json!({ "text": "hello", "from": "Mo", "to": "c-7", "number": 42 }));
    assert_eq!(seen.done.effects, [Effect::StateSet { key: "count".to_owned(), value: Blob::from("42") }]);

    let several = Resolution::Ambiguous(vec!["c-7".to_owned(), "c-9".to_owned()]);
    let refusals = [
        (Some(Ok(Resolution::None)), "no such contact"),
        (Some(Ok(several)), "c-7, c-9"),
        (Some(Err(Fault::Denied("grant `contacts`".to_owned()))), "grant `contacts`"),
        // Not granted: the engine itself says so.
        (None, "contacts"),
    ];
    for (person, part) in refusals {
        let seen = connector.say(Given { person, ..to(Ok(Resolution::None)) }).await;
        assert!(seen.requests.is_empty(), "nothing is sent to nobody");
        let Err(ActionFault::Rejected(why)) = &seen.done.result else { panic!("{:?}", seen.done) };
        assert!(why.contains(part), "{why}");
    }
}

async fn tells_what_the_host_did_not_do(connector: &Connector) {
    let retry = |after| ActionFault::Retry(Pause { after, bucket: None });
    let text = || "why".to_owned();
    let second = Duration::from_secs(1);
    let faults = [
        (Fault::Unavailable(Some(second)), retry(Some(second))),
        (Fault::Unavailable(None), retry(None)),
        (Fault::Exhausted(text()), retry(None)),
        (Fault::Cancelled, retry(None)),
        (Fault::Unknown(text()), ActionFault::Unknown(text())),
        (Fault::Invalid(text()), ActionFault::Rejected(text())),
        (Fault::Denied(text()), ActionFault::Rejected(text())),
    ];
    for (fault, told) in faults {
        let url = "https://elsewhere.test/";
        let seen =
            connector.say(Given { args: json!({ "text": "hello", "url": url }), ..given(Err(fault.clone())) }).await;
        assert_eq!(seen.requests[0].url, url);
        assert_eq!(seen.done, Done { result: Err(told), effects: Vec::new() }, "{fault}");
    }
}

async fn tells_what_the_platform_answered(connector: &Connector) {
    let retry = |after| ActionFault::Retry(Pause { after, bucket: None });
    let status = |status: u16| format!("the platform answered {status}");
    let wait = |seconds: &str| {
        let headers = vec![("retry-after".to_owned(), seconds.to_owned())];
        Ok(HttpResponse { status: 429, headers, body: Blob::from("") })
    };
    let answers = [
        (answered(302, ""), ActionFault::Rejected(status(302))),
        (answered(401, ""), ActionFault::Unauthorized("the platform does not accept the token".to_owned())),
        (answered(422, ""), ActionFault::Rejected(status(422))),
        (answered(429, ""), retry(None)),
        (wait("7"), retry(Some(Duration::from_secs(7)))),
        (wait("Wed, 21 Oct 2026 07:28:00 GMT"), retry(None)),
        (answered(503, ""), ActionFault::Unknown(status(503))),
    ];
    for (answer, told) in answers {
        let seen = connector.say(given(answer.clone())).await;
        assert_eq!(seen.done, Done { result: Err(told), effects: Vec::new() }, "{answer:?}");
    }
}

/// Whatever the answer is, the call comes back: something was said, and a trap would not tell so.
async fn takes_ids_that_are_ids(connector: &Connector) {
    let bodies: [(Blob, &[&str]); 9] = [
        (Blob::from(r#"{"id":"é"}"#), &["é"]),
        (Blob::from(r#"{"id":7}"#), &[]),
        (Blob::from(r#"{"id":{"id":"m-1"}}"#), &[]),
        (Blob::from(r#"{"id":"\ud800"}"#), &[]),
        (Blob::from("[]"), &[]),
        (Blob::from("null"), &[]),
        (Blob::from(r#"{"id":"#), &[]),
        (Blob::from(""), &[]),
        (Blob::Binary(vec![0xff, 0xfe].into()), &[]),
    ];
    for (body, ids) in bodies {
        let answer = HttpResponse { status: 200, headers: Vec::new(), body: body.clone() };
        let seen = connector.say(given(Ok(answer))).await;
        let Ok(Outcome { output, provider_ids, .. }) = seen.done.result else { panic!("{body:?}: {:?}", seen.done) };
        assert_eq!(provider_ids, ids, "{body:?}");
        let output: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(output, json!({ "status": 200, "body": body.as_str() }));
    }
}
