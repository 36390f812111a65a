//! The two on a whole host, with a real web server as their platform: the same calls, the same answers, the same rows.

use jackfield::outbound::Refused;
use jackfield_model::action::{Ending, EndingKind};
use jackfield_store::contact::{Created, Draft};
use jackfield_tests::desk::{CANARY, Desk};
use jackfield_tests::guest::{self, Guest};
use jackfield_tests::web::Web;
use serde_json::{Value, json};

use super::bench;

#[tokio::test(flavor = "multi_thread")]
async fn javascript_on_a_host() {
    works_on_a_host(guest::LANGUAGE_JAVASCRIPT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn python_on_a_host() {
    works_on_a_host(guest::LANGUAGE_PYTHON).await;
}

async fn works_on_a_host(guest: Guest) {
    // So that the host finds it compiled.
    drop(bench(guest).await);
    let web = Web::start().await;
    let desk = Desk::open(guest, &web, r#"config = { name = "Mo" }"#).await;
    says_and_writes_down(&desk, &web).await;
    shows_no_secret(&desk, &web).await;
    says_to_a_person(&desk, &web).await;
    is_asked_what_its_schema_takes(&desk, &web).await;
    // The next generation of the process counts on, and what failed was not counted.
    let desk = Desk::at(desk.close().await).await;
    says_how_it_ended(&desk).await;
    desk.run("say", &json!({ "text": "still here" })).await.unwrap();
    assert_eq!(posted(&web)["number"], 4);
    drop(web);
    let report = desk.run("say", &json!({ "text": "to nobody" })).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Retry, "nothing had left: {report:?}");
    desk.close().await;
}

/// The body of the newest request.
fn posted(web: &Web) -> Value {
    let asked = web.asked();
    let (_, body) = asked.last().unwrap().whole.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

async fn says_and_writes_down(desk: &Desk, web: &Web) {
    let report = desk.run("say", &json!({ "text": "grüße, 😀" })).await.unwrap();
    let Ending::Done(outcome) = &report.ending else { panic!("{report:?}") };
    assert_eq!(
        serde_json::from_str::<Value>(&outcome.output).unwrap(),
        json!({ "status": 201, "body": r#"{"id":"m-1"}"# })
    );
    let [asked] = web.asked().try_into().unwrap();
    assert_eq!(asked.line, "POST /say");
    assert!(asked.whole.contains(&format!("authorization: Bearer {CANARY}")), "{asked:?}");
    assert_eq!(posted(web), json!({ "text": "grüße, 😀", "from": "Mo", "number": 1 }));
    let row = desk.host.stores().executions.execution(report.id).await.unwrap().unwrap();
    assert_eq!((row.action.as_str(), row.outcome), ("say", Some(EndingKind::Done)));
    assert_eq!(row.provider_ids, ["m-1"]);
    assert_eq!(row.requests[0].target, "https://echo.test/say");
}

/// A placeholder in a text stays one, and what the platform gives back of the secret is masked.
async fn shows_no_secret(desk: &Desk, web: &Web) {
    let args = json!({ "text": "{{secret:canary}}", "url": "https://echo.test/ok" });
    let report = desk.run("say", &args).await.unwrap();
    let Ending::Done(outcome) = &report.ending else { panic!("{report:?}") };
    assert!(outcome.output.contains("Bearer [secret:canary]"), "{outcome:?}");
    assert!(!format!("{report:?}").contains(CANARY));
    assert_eq!(posted(web)["text"], "{{secret:canary}}");
}

async fn says_to_a_person(desk: &Desk, web: &Web) {
    let email = "juno@example.com";
    let args = json!({ "text": "hello", "to": email });
    let report = desk.run("say", &args).await.unwrap();
    assert_eq!(report.ending.kind(), EndingKind::Rejected, "nobody of that name: {report:?}");
    let draft = Draft { email: Some(email.to_owned()), ..Draft::default() };
    let created = desk.host.stores().contacts.create(&"people".parse().unwrap(), draft).await.unwrap();
    let Created::New(juno) = created else { panic!("{created:?}") };
    desk.run("say", &args).await.unwrap();
    assert_eq!(posted(web)["to"], juno.id);
    assert_eq!(posted(web)["number"], 3, "the call that was rejected was not counted");
}

async fn is_asked_what_its_schema_takes(desk: &Desk, web: &Web) {
    let seen = web.asked().len();
    for (args, pointer) in [(json!({}), ""), (json!({ "text": "" }), "/text"), (json!({ "text": 7 }), "/text")] {
        let refused = desk.run("say", &args).await.unwrap_err();
        assert!(matches!(&refused, Refused::Arguments { problems, .. } if problems[0].pointer == pointer), "{refused}");
    }
    assert_eq!(web.asked().len(), seen);
}

async fn says_how_it_ended(desk: &Desk) {
    for (url, kind) in [
        ("https://echo.test/status/401", EndingKind::Unauthorized),
        ("https://echo.test/status/404", EndingKind::Rejected),
        ("https://echo.test/status/503", EndingKind::Unknown),
        ("https://echo.test/limited/0/none", EndingKind::Retry),
        ("https://echo.test/redirect", EndingKind::Rejected),
        ("https://echo.test/cut", EndingKind::Unknown),
        // Granted to the connection, and not asked for by the connector.
        ("https://plain.test/", EndingKind::Rejected),
        ("not a url", EndingKind::Rejected),
    ] {
        let report = desk.run("say", &json!({ "text": "hello", "url": url })).await.unwrap();
        assert_eq!(report.ending.kind(), kind, "{url}: {report:?}");
    }
}
