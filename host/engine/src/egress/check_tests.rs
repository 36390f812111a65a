use super::*;
use crate::egress::Origin;
use crate::secret::SecretEntry;
use jackfield_model::wire::SecretUse;
use std::time::Duration;

const CANARY: &str = "123456:canary-canary";

fn secrets() -> Secrets {
    let entry = |name: &str, to: &[&str]| SecretEntry {
        name: name.to_owned(),
        value: CANARY.as_bytes().to_vec(),
        to: to.iter().map(|&to| to.to_owned()).collect(),
    };
    let here = ["https://api.example", "wss://api.example"];
    Secrets::new(vec![entry("token", &here), entry("other", &here), entry("elsewhere", &["https://else.example"])])
        .unwrap()
}

fn with_rights<T>(check: impl FnOnce(&Rights<'_>) -> T) -> T {
    let grants: Vec<Origin> =
        ["https://api.example", "wss://api.example", "https://open.example"].map(|text| text.parse().unwrap()).to_vec();
    let policy = Policy::new(&grants, &grants, Vec::new()).unwrap();
    check(&Rights { policy: &policy, secrets: &secrets(), ceilings: &Ceilings::default() })
}

fn request(url: &str) -> HttpRequest {
    HttpRequest {
        method: wire::Method::Post,
        url: url.to_owned(),
        headers: Vec::new(),
        body: Blob::from(""),
        secrets: Vec::new(),
        timeout: Duration::from_secs(1),
    }
}

fn uses(listed: &[(&str, Place)]) -> Vec<SecretUse> {
    listed.iter().map(|&(secret, place)| SecretUse { secret: secret.to_owned(), place }).collect()
}

fn header(name: &str, value: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), value.to_owned())]
}

fn path_of(url: &str, listed: &[(&str, Place)]) -> Result<String, Fault> {
    let request = HttpRequest { secrets: uses(listed), ..request(url) };
    let plan = with_rights(|rights| rights.http(&request))?;
    Ok(String::from_utf8(plan.path.fill(&secrets()).unwrap().to_vec()).unwrap())
}

fn is_invalid<T: std::fmt::Debug>(result: &Result<T, Fault>) -> bool {
    matches!(result, Err(Fault::Invalid(_)))
}

fn is_denied<T: std::fmt::Debug>(result: &Result<T, Fault>) -> bool {
    matches!(result, Err(Fault::Denied(_)))
}

#[test]
fn case_25_only_granted_origins_pass() {
    for url in ["https://api.example/x", "https://API.EXAMPLE./x", "https://api.example:443/x"] {
        assert_eq!(path_of(url, &[]), Ok("/x".to_owned()), "{url}");
    }
    for url in ["https://api.example:444/", "https://sub.api.example/", "https://127.0.0.1/", "https://0x7f.1/"] {
        assert!(is_denied(&path_of(url, &[])), "{url}");
    }
    for url in [
        "http://api.example/",
        "wss://api.example/",
        "https://me@api.example/",
        "https://[api.example]/",
        "https://",
        "/relative",
        "file:///etc/passwd",
        "data:,x",
        "https://api.example/ x",
        "https:\\\\api.example\\x",
        "https://api.exam\tple/",
    ] {
        assert!(is_invalid(&path_of(url, &[])), "{url}");
    }
}

#[test]
fn case_29_a_path_is_always_a_path() {
    for (url, path) in [
        ("https://api.example", "/"),
        ("https://api.example//evil.example/x", "//evil.example/x"),
        ("https://api.example/https://evil.example/", "/https://evil.example/"),
        ("https://api.example/a/../../b", "/b"),
        ("https://api.example/*", "/*"),
        ("https://api.example/é?ü#fragment", "/%C3%A9?%C3%BC"),
    ] {
        assert_eq!(path_of(url, &[]).as_deref(), Ok(path), "{url}");
    }
    for url in ["https://api.example/a\r\nHost: evil", "https://api.example/a b", "https://api.example/\0"] {
        assert!(is_invalid(&path_of(url, &[])), "{url:?}");
    }
    assert!(is_invalid(&path_of(&format!("https://api.example/{}", "x".repeat(URL_BYTES_MAX)), &[])));
}

#[test]
fn case_29_headers_are_limited_and_owned() {
    let check = |headers| with_rights(|rights| rights.http(&HttpRequest { headers, ..request("https://api.example") }));
    assert!(is_denied(&check(header("Host", "evil.example"))));
    assert!(is_denied(&check(header("Content-Length", "5"))));
    assert!(is_denied(&check(header("Transfer-Encoding", "chunked"))));
    assert!(is_invalid(&check(header(":authority", "evil.example"))));
    assert!(is_invalid(&check(header("X-Plain", "a\r\nHost: evil.example"))));
    assert!(is_invalid(&check([header("Content-Type", "a/b"), header("content-type", "c/d")].concat())));
    assert!(is_invalid(&check(vec![("X-Plain".to_owned(), "x".to_owned()); 101])));
    assert!(is_invalid(&check(header("X-Plain", &"x".repeat(64 * 1024)))));
    assert!(check(vec![("X-Plain".to_owned(), "x".to_owned()); 100]).is_ok());
}

#[test]
fn case_36_a_secret_is_granted_for_an_origin() {
    let url = "https://api.example/bot{{secret:token}}/x";
    assert_eq!(path_of(url, &[("token", Place::Url)]), Ok(format!("/bot{CANARY}/x")));
    let elsewhere = "https://api.example/{{secret:elsewhere}}";
    assert!(is_denied(&path_of(elsewhere, &[("elsewhere", Place::Url)])));
    let unknown = "https://api.example/{{secret:unknown}}";
    assert!(is_denied(&path_of(unknown, &[("unknown", Place::Url)])));
    // Granted, but not for this secret.
    let open = "https://open.example/{{secret:token}}";
    assert!(is_denied(&path_of(open, &[("token", Place::Url)])));
}

#[test]
fn case_36_authorization_is_a_listed_secret() {
    let check = |value: &str, listed: &[(&str, Place)]| {
        let secrets = uses(listed);
        let headers = header("authorization", value);
        with_rights(|rights| rights.http(&HttpRequest { headers, secrets, ..request("https://api.example") }))
    };
    assert!(check("Bot {{secret:token}}", &[("token", Place::Header)]).is_ok());
    assert!(is_denied(&check("Bot stolen", &[])));
    assert!(is_denied(&check("Bot {{secret:token}}", &[])));
    // Listed for another place.
    assert!(
        is_denied(&check("Bot {{secret:token}}", &[("token", Place::Body)])) || {
            is_invalid(&check("Bot {{secret:token}}", &[("token", Place::Body)]))
        }
    );
    assert!(is_denied(&check("Bot x{{secret:token}}", &[("token", Place::Header)])));
}

#[test]
fn case_36_a_listed_secret_stands_exactly_once_in_its_place() {
    for (url, listed) in [
        ("https://api.example/", &[("token", Place::Url)][..]),
        ("https://api.example/{{secret:token}}/{{secret:token}}", &[("token", Place::Url)]),
        ("https://api.example/{{secret:token}}", &[("token", Place::Url), ("token", Place::Url)]),
        ("https://api.example/{{secret:token}}", &[("token", Place::Body)]),
        ("https://api.example/{{secret:token}}", &[("token", Place::Header)]),
        // Not in what names the host, and not where it would be dropped.
        ("https://{{secret:token}}.api.example/", &[("token", Place::Url)]),
        ("https://api.example:{{secret:token}}/", &[("token", Place::Url)]),
        ("{{secret:token}}://api.example/", &[("token", Place::Url)]),
        ("https://api.example/#{{secret:token}}", &[("token", Place::Url)]),
        ("https://api.example/{{secret:token}}/../x", &[("token", Place::Url)]),
    ] {
        assert!(is_invalid(&path_of(url, listed)), "{url}");
    }
}

#[test]
fn case_61_unlisted_placeholders_are_text() {
    let url = "https://api.example/{{secret:token}}?q={{secret:token}}";
    let path = path_of(url, &[]).unwrap();
    assert!(path.contains("secret:token") && !path.contains(CANARY), "{path}");
    // A stranger's text that looks like an encoded placeholder is not one, whatever else is listed.
    let mixed = "https://api.example/%7B%7Bsecret:token%7D%7D/{{secret:token}}/gap0of0.?q={{secret:other}}";
    let encoded = CANARY.replace(':', "%3A");
    assert_eq!(
        path_of(mixed, &[("token", Place::Url), ("other", Place::Url)]),
        Ok(format!("/%7B%7Bsecret:token%7D%7D/{CANARY}/gap0of0.?q={encoded}"))
    );

    let request = HttpRequest {
        headers: header("authorization", "Bot {{secret:token}}"),
        body: Blob::from(r#"{"content":"{{secret:token}}"}"#),
        secrets: uses(&[("token", Place::Header)]),
        ..request("https://api.example/")
    };
    let plan = with_rights(|rights| rights.http(&request)).unwrap();
    assert_eq!(plan.body.fill(&secrets()).unwrap(), *request.body.bytes());
}

#[test]
fn case_61_a_message_of_a_socket_fills_what_it_lists() {
    let destination = Destination::of(&Url::parse("wss://api.example").unwrap()).unwrap();
    let check = |text: &str, listed: &[&str]| {
        let listed: Vec<_> = listed.iter().map(|&name| name.to_owned()).collect();
        let template = with_rights(|rights| rights.message(&destination, &Blob::from(text), &listed))?;
        template.fill(&secrets())
    };
    let text = r#"{"token":"{{secret:token}}","said":"{{secret:other}}"}"#;
    assert_eq!(check(text, &["token"]).unwrap(), text.replace("{{secret:token}}", CANARY));
    assert_eq!(check(text, &[]).unwrap(), text);
    assert!(is_denied(&check("{{secret:elsewhere}}", &["elsewhere"])));
    assert!(is_invalid(&check("{{secret:token}}{{secret:token}}", &["token"])));
    assert!(is_invalid(&check("nothing", &["token"])));
    assert!(is_invalid(&check(&"x".repeat(4 * 1024 * 1024 + 1), &[])));
}

#[test]
fn a_socket_lists_its_secrets_without_saying_where() {
    let socket = |url: &str, headers, listed: &[&str], subprotocols: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let request = SocketRequest {
            url: url.to_owned(),
            headers,
            secrets: owned(listed),
            subprotocols: owned(subprotocols),
            silence: Duration::from_secs(60),
            annotations: "{}".to_owned(),
        };
        with_rights(|rights| rights.socket(&request))
    };
    let authorization = || header("Authorization", "Bearer {{secret:token}}");
    assert!(socket("wss://api.example/?v=10", authorization(), &["token"], &["v1", "v2"]).is_ok());
    assert!(socket("wss://api.example/?t={{secret:token}}", Vec::new(), &["token"], &[]).is_ok());
    let both = socket("wss://api.example/?t={{secret:token}}", authorization(), &["token"], &[]);
    assert!(is_invalid(&both), "{both:?}");
    assert!(is_invalid(&socket("wss://api.example/", Vec::new(), &["token"], &[])));
    assert!(is_invalid(&socket("https://api.example/", Vec::new(), &[], &[])));
    assert!(is_denied(&socket("wss://evil.example/", Vec::new(), &[], &[])));
    assert!(is_denied(&socket("wss://api.example/", header("Sec-WebSocket-Protocol", "x"), &[], &[])));
    assert!(is_invalid(&socket("wss://api.example/", Vec::new(), &[], &["a b"])));
    assert!(is_invalid(&socket("wss://api.example/", Vec::new(), &[], &["a", "a"])));
}
