//! Rate limits: when a client is told to slow down, how, and what counts against it.

use std::time::Duration;

use jackfield_testkit::discord::{Allowance, Double, LimitScope, Limits, Mishap, RestFault, RouteLimit, Script};
use serde_json::{Value, json};

use super::client::{Exchange, authorised, call, request, silent, start};

/// A window that no test sees the end of.
const LONG_MS: u64 = 600_000;

fn messages(requests: u32, per_ms: u64) -> RouteLimit {
    let (method, path) = (Some("POST".to_owned()), Some("/channels/*/messages".to_owned()));
    RouteLimit { method, path, requests, per_ms, scope: LimitScope::User, code: None }
}

async fn limited(routes: Vec<RouteLimit>) -> Double {
    let double = silent().await;
    double.limit_rest(Limits { global: None, routes });
    double
}

async fn say(double: &Double, channel: usize) -> Exchange {
    let path = format!("/channels/{}/messages", double.channels()[channel]);
    call(double, "POST", &path, &json!({ "content": "hi" })).await
}

#[tokio::test]
async fn without_limits_nothing_is_said_of_them() {
    let double = silent().await;
    for _ in 0..60 {
        let answer = say(&double, 0).await;
        assert_eq!(answer.status, Some(200));
        assert!(!answer.headers.keys().any(|name| name.starts_with("x-ratelimit")), "{:?}", answer.headers);
    }
}

#[tokio::test]
async fn a_bucket_is_counted_down_and_then_refuses() {
    let double = limited(vec![messages(3, LONG_MS)]).await;
    let mut bucket = String::new();
    for remaining in ["2", "1", "0"] {
        let answer = say(&double, 0).await;
        assert_eq!((answer.status, answer.header("x-ratelimit-limit")), (Some(200), "3"));
        assert_eq!(answer.header("x-ratelimit-remaining"), remaining);
        let reset_after: f64 = answer.header("x-ratelimit-reset-after").parse().unwrap();
        let reset: f64 = answer.header("x-ratelimit-reset").parse().unwrap();
        assert!(reset_after > 500.0 && reset_after <= 600.0 && reset > 1.7e9, "{reset_after} {reset}");
        assert!(answer.header("x-ratelimit-reset-after").contains('.'));
        assert_eq!(answer.header("x-ratelimit-scope"), "", "on 429 alone");
        bucket = answer.header("x-ratelimit-bucket").to_owned();
    }
    let refused = say(&double, 0).await;
    assert_eq!((refused.status, refused.header("x-ratelimit-remaining")), (Some(429), "0"));
    assert_eq!(refused.header("x-ratelimit-bucket"), bucket);
    assert_eq!((refused.header("x-ratelimit-scope"), refused.header("x-ratelimit-global")), ("user", ""));
    let body = refused.json();
    assert_eq!((&body["message"], &body["global"]), (&json!("You are being rate limited."), &json!(false)));
    assert_eq!(body.get("code"), None);
    let whole_seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!(body["retry_after"].is_f64());
    assert_eq!(whole_seconds, refused.retry_after().ceil() as u64);
    let other = say(&double, 1).await;
    assert_eq!(
        (other.status, other.header("x-ratelimit-bucket")),
        (Some(200), bucket.as_str()),
        "another channel is free"
    );
    let read = call(&double, "GET", &format!("/channels/{}/messages", double.channels()[0]), &Value::Null).await;
    assert_eq!(read.status, Some(200), "another route as well");
    let counts = double.log().counts();
    assert_eq!((counts.said, counts.rate_limited, counts.invalid_requests), (4, 1, 1));
}

#[tokio::test]
async fn who_waits_as_long_as_told_gets_through() {
    let double = limited(vec![messages(1, 400)]).await;
    let refused = loop {
        // Two that fall into one window; on a busy machine that may take some tries.
        let answer = say(&double, 0).await;
        if answer.status == Some(429) {
            break answer;
        }
    };
    assert!(refused.retry_after() <= 0.4);
    tokio::time::sleep(Duration::from_secs_f64(refused.retry_after())).await;
    assert_eq!(say(&double, 0).await.status, Some(200));
}

#[tokio::test]
async fn the_global_limit_is_over_everything() {
    let double = start(Script::silent()).await;
    double.limit_rest(Limits {
        global: Some(Allowance { requests: 2, per_ms: LONG_MS }),
        routes: vec![messages(5, LONG_MS)],
    });
    assert_eq!(say(&double, 0).await.status, Some(200));
    assert_eq!(call(&double, "GET", "/users/@me", &Value::Null).await.status, Some(200));
    let refused = say(&double, 1).await;
    assert_eq!((refused.status, &refused.json()["global"]), (Some(429), &json!(true)));
    assert_eq!((refused.header("x-ratelimit-global"), refused.header("x-ratelimit-scope")), ("true", "global"));
    for header in ["limit", "remaining", "reset", "reset-after", "bucket"] {
        assert_eq!(refused.header(&format!("x-ratelimit-{header}")), "", "{header}");
    }
    let (status, _) = request(&double, "GET", "/api/v10/users/@me", &[("Authorization", "Bot wrong")], "").await;
    assert_eq!(status, 401, "who is nobody is told so first");
    double.limit_rest(Limits::default());
    assert_eq!(say(&double, 1).await.status, Some(200));
}

#[tokio::test]
async fn a_shared_limit_is_nobodys_fault() {
    let shared = RouteLimit { scope: LimitScope::Shared, code: Some(20_028), ..messages(1, LONG_MS) };
    let double = limited(vec![messages(5, LONG_MS), shared]).await;
    say(&double, 0).await;
    let refused = say(&double, 0).await;
    assert_eq!((refused.status, refused.header("x-ratelimit-scope")), (Some(429), "shared"));
    assert_eq!((refused.header("x-ratelimit-limit"), refused.header("x-ratelimit-remaining")), ("5", "3"));
    assert_eq!(refused.json()["code"], 20_028);
    let counts = double.log().counts();
    assert_eq!((counts.rate_limited, counts.invalid_requests), (1, 0));
}

#[tokio::test]
async fn invalid_requests_are_counted_as_discord_does() {
    let double = limited(vec![messages(1, LONG_MS)]).await;
    request(&double, "GET", "/api/v10/users/@me", &[("Authorization", "Bot wrong")], "").await;
    authorised(&double, "GET", "/api/v10/channels/5", "").await;
    double.deny_send(double.channels()[0]);
    say(&double, 0).await;
    say(&double, 0).await;
    let statuses: Vec<u64> = double.log().snapshot().iter().filter_map(status).collect();
    assert_eq!(statuses, [401, 404, 403, 429]);
    assert_eq!(double.log().counts().invalid_requests, 3);
}

fn status(entry: &jackfield_testkit::discord::Entry) -> Option<u64> {
    serde_json::to_value(entry).unwrap()["status"].as_u64()
}

#[tokio::test]
async fn limits_come_from_the_script() {
    let script = json!({ "messages": 0, "rest": { "limits": {
        "global": { "requests": 50, "per_ms": 1000 },
        "routes": [{ "path": "/channels/*/messages", "method": "POST", "requests": 1, "per_ms": LONG_MS }],
    } } });
    let double = start(Script::from_json(&script.to_string()).unwrap()).await;
    assert_eq!(say(&double, 0).await.status, Some(200));
    assert_eq!(say(&double, 0).await.status, Some(429));
}

/// Refusals as they were seen in the wild, played as they are.
#[tokio::test]
async fn recorded_refusals_can_be_played() {
    let double = silent().await;
    let route = json!({
        "status": 429,
        "headers": {
            "Retry-After": "2", "X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset-After": "1.337", "X-RateLimit-Bucket": "ab12cd34", "X-RateLimit-Scope": "user",
        },
        "body": { "message": "You are being rate limited.", "retry_after": 1.337, "global": false },
    });
    let global = json!({
        "status": 429,
        "headers": { "Retry-After": "65", "X-RateLimit-Global": "true", "X-RateLimit-Scope": "global" },
        "body": { "message": "You are being rate limited.", "retry_after": 64.57, "global": true },
    });
    let shared = json!({ "status": 429, "headers": { "X-RateLimit-Scope": "shared" }, "body": {} });
    for recorded in [&route, &global, &shared] {
        let mut fault = recorded.clone();
        fault["fault"] = json!("answer");
        double.rest_fault(serde_json::from_value::<RestFault>(fault).unwrap());
        let answer = say(&double, 0).await;
        assert_eq!((json!(answer.status), &answer.json()), (recorded["status"].clone(), &recorded["body"]));
        for (name, value) in recorded["headers"].as_object().unwrap() {
            assert_eq!(answer.header(&name.to_ascii_lowercase()), value.as_str().unwrap());
        }
        assert_eq!(answer.header("content-type"), "application/json");
    }
    let counts = double.log().counts();
    assert_eq!((counts.rate_limited, counts.invalid_requests, counts.said), (3, 2, 0));
    double.rest_fault(RestFault::new(Mishap::status(403, false)));
    say(&double, 0).await;
    assert_eq!(double.log().counts().invalid_requests, 3);
}
