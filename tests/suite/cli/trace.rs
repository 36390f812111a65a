//! `trace`: "what happened to message X?"

use jackfield_tests::processes::until;
use jackfield_tests::web::Web;
use serde_json::{Value, json};

use super::action::{home, run};
use super::{DONE, INVALID, document, ended};

fn whats(trace: &Value) -> Vec<(&str, &str)> {
    let entries = trace["entries"].as_array().unwrap();
    entries.iter().map(|entry| (entry["what"].as_str().unwrap(), entry["relation"].as_str().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn from_any_of_its_names_to_everything_that_is_known() {
    let web = Web::start().await;
    let home = home(&web, "");
    let _host = home.serve();
    // A message that is made, heard of again as an event, and once more in a form that nobody understands.
    let submit = json!({"submit": ["line", "say room m-1 hello", "room"]});
    let broken = json!({"submit": ["line", "say hall m-9 malformed about m-1", "hall"]});
    let args = json!({"steps": [submit, broken], "ids": ["m-1"]});
    let (stdout, _) = ended(&run(&home, "steps", &args, &["--key", "order-17"]), DONE);
    let id = document(&stdout)["id"].as_str().unwrap().to_owned();
    home.wait_events(1);
    until("the other one is a dead letter", || (home.dead_letters().len() == 1).then_some(()));

    let by_message = home.json(&["trace", "m-1"]);
    let of_message = [("execution", "made"), ("event", "is"), ("dead-letter", "mentions")];
    assert_eq!(whats(&by_message), of_message, "oldest first: {by_message:#}");
    assert_eq!(by_message["entries"][1]["key"], "m-1", "{by_message:#}");
    for name in ["order-17", &id] {
        let trace = home.json(&["trace", name]);
        assert_eq!(whats(&trace), [("execution", "is"), ("event", "is"), ("dead-letter", "mentions")], "{trace:#}");
        assert_eq!(trace["entries"][1]["through"], "m-1", "{trace:#}");
        assert_eq!((&trace["more"], &trace["can_mean"]), (&json!(false), &json!([])), "{trace:#}");
    }
    let (stdout, _) = ended(&home.run(&["trace", "order-17"]), DONE);
    for part in [id.as_str(), "event 1", "x.echo.said", "dead letter 1", "because", "generation 1", "made m-1"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_known_is_said_with_what_it_can_mean() {
    let web = Web::start().await;
    let home = home(&web, "");
    let _host = home.serve();
    let ignored = json!({"steps": [{"submit": ["line", "say room m-1 ignored", "room"]}]});
    ended(&run(&home, "steps", &ignored, &[]), DONE);
    home.wait("the dispatch is ignored", |connection| connection["ignored"]["asked"] == 1);
    let (stdout, _) = ended(&home.run(&["trace", "m-1"]), DONE);
    for part in ["nothing is known of m-1", "7 days", "asked 1", "another id"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    assert_eq!(home.json(&["trace", "m-1"])["entries"], json!([]));
    ended(&home.run(&["trace", ""]), INVALID);
    ended(&home.run(&["trace"]), INVALID);
}
