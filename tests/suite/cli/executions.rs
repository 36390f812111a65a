//! `executions`: the ledger as an operator reads it.

use jackfield_tests::desk::CANARY;
use jackfield_tests::web::Web;
use serde_json::{Value, json};

use super::action::{home, run};
use super::{DONE, FAILED, INVALID, document, ended};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_tried_is_found_by_whatever_is_known_of_it() {
    let web = Web::start().await;
    let home = home(&web, "");
    let _host = home.serve();
    let mut ids = Vec::new();
    for (action, end, more) in [
        ("steps", json!("done"), &["--key", "order-1"][..]),
        ("steps", json!({"rejected": "no"}), &[][..]),
        ("look", json!("done"), &[][..]),
    ] {
        let args = json!({"ids": [format!("m-{}", ids.len())], "end": end});
        let told: Value = serde_json::from_slice(&run(&home, action, &args, more).stdout).unwrap();
        ids.push(told["id"].as_str().unwrap().to_owned());
    }
    let found = |filter: &[&str]| -> Vec<usize> {
        let list = home.json(&[&["executions", "list"][..], filter].concat())["executions"].clone();
        let at = |row: &Value| ids.iter().position(|id| row["id"] == id.as_str()).unwrap();
        list.as_array().unwrap().iter().map(at).collect()
    };
    assert_eq!(found(&[]), [2, 1, 0], "newest first");
    assert_eq!(found(&["--connection", "echo", "--limit", "2"]), [2, 1]);
    assert_eq!(found(&["--before", &ids[2], "--limit", "1"]), [1]);
    assert_eq!(found(&["--action", "steps"]), [1, 0]);
    assert_eq!(found(&["--outcome", "rejected"]), [1]);
    assert_eq!(found(&["--key", "order-1"]), [0]);
    assert_eq!(found(&["--provider-id", "m-2"]), [2]);
    assert_eq!(found(&["--connection", "other"]), [0; 0]);
    let (stdout, _) = ended(&home.run(&["executions", "list"]), DONE);
    for part in [ids[0].as_str(), "order-1", "m-2", "rejected", "look"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    ended(&home.run(&["executions", "list", "--outcome", "well"]), INVALID);
    ended(&home.run(&["executions", "show", "4711"]), INVALID);
    let (_, stderr) = ended(&home.run(&["executions", "show", &"0".repeat(32)]), FAILED);
    assert!(stderr.contains("there is no execution"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_them_has_everything_but_credentials() {
    let web = Web::start().await;
    let home = home(&web, "");
    let _host = home.serve();
    let request = json!({"url": "https://echo.test/ok?page=1", "method": "post", "body": "hello", "secret": "header"});
    let closed = json!({"url": "https://plain.test/ok"});
    let args = json!({"steps": [{"send": request}, {"send": closed}], "ids": ["m-1"], "token": "hush"});
    let (stdout, _) = ended(&run(&home, "steps", &args, &["--key", "order-1"]), DONE);
    let id = document(&stdout)["id"].as_str().unwrap().to_owned();

    let row = home.json(&["executions", "show", &id]);
    assert_eq!((&row["action"], &row["outcome"], &row["key"]), (&json!("steps"), &json!("done"), &json!("order-1")));
    assert_eq!((&row["surface"], &row["provider_ids"]), (&json!("admin"), &json!(["m-1"])), "{row:#}");
    let uid = rustix::process::geteuid().as_raw();
    assert!(row["caller"].as_str().unwrap().starts_with(&format!("uid:{uid}")), "the kernel says who asked: {row:#}");
    assert_eq!(row["args"]["token"], "[redacted]", "{row:#}");
    assert_eq!(row["args"]["ids"], json!(["m-1"]), "{row:#}");
    let requests = row["requests"].as_array().unwrap();
    assert_eq!((&requests[0]["status"], &requests[0]["left"]), (&json!(200), &json!(true)), "{row:#}");
    assert_eq!(requests[0]["target"], "https://echo.test/ok", "without its query: {row:#}");
    assert_eq!((&requests[1]["status"], &requests[1]["left"]), (&Value::Null, &json!(false)), "{row:#}");

    let (text, _) = ended(&home.run(&["executions", "show", &id]), DONE);
    for part in ["steps, attempt 1, under key order-1", "m-1", "POST", "https://echo.test/ok", "200", "[redacted]"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for secret in [CANARY, "hush"] {
        assert!(!text.contains(secret) && !row.to_string().contains(secret), "{text}");
    }
}
