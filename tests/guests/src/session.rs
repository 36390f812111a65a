//! The session of the helpful guests: obeys lines, acknowledges what is settled, and counts in its checkpoint.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use jackfield_sdk::runtime::{
    Condition, Fetched, Notice, SessionFault, Signal, SocketRequest, StartContext, StartFault, StartReason,
};
use jackfield_sdk::{Blob, Dispatch, Fault, HttpRequest, Place, connection, ingest, log, session, state};
use serde_json::Value;

use crate::line::{cut, parse};
use crate::meaning::{KIND, compute};

/// Label of the socket that lines come from.
pub const MAIN: &str = "main";

/// What the configuration says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Where the main socket leads.
    pub url: String,
    /// What `start` does: `open`, `wait` (no socket), or ends with the fault of that name.
    pub start: String,
    /// What a closed main socket does: `reopen`, `transient` or `stay`.
    pub closed: String,
}

thread_local! {
    static LINES: Cell<u64> = const { Cell::new(0) };
    static RECOVERED: Cell<bool> = const { Cell::new(false) };
    static REASON: RefCell<&'static str> = const { RefCell::new("") };
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Reads the configuration that the host has checked.
#[must_use]
pub fn config() -> Config {
    let json: Value = serde_json::from_str(&connection::config()).unwrap_or_default();
    let word = |key: &str, default: &str| json.get(key).and_then(Value::as_str).unwrap_or(default).to_owned();
    Config { url: word("url", "wss://echo.test/"), start: word("start", "open"), closed: word("closed", "transient") }
}

/// Starts: from a checkpoint where there is one, and opens the main socket when that is not there.
///
/// # Errors
/// The fault that the configuration asks for.
pub fn start(context: &StartContext) -> Result<(), StartFault> {
    let config = config();
    let counted = context.checkpoint.as_ref().and_then(|bytes| bytes.as_text()?.parse().ok());
    LINES.set(counted.unwrap_or_default());
    RECOVERED.set(matches!(context.reason, StartReason::Recover));
    REASON.set(match context.reason {
        StartReason::Fresh => "fresh",
        StartReason::Restart => "restart",
        StartReason::Takeover => "takeover",
        StartReason::Swap => "swap",
        StartReason::Wake => "wake",
        StartReason::Recover => "recover",
    });
    match config.start.as_str() {
        "fatal" => return Err(StartFault::Fatal("the configuration says so".to_owned())),
        "transient" => return Err(StartFault::Transient("the configuration says so".to_owned())),
        "not-configured" => return Err(StartFault::NotConfigured("the configuration says so".to_owned())),
        _ => {}
    }
    if config.start == "open" && context.sockets.is_empty() {
        open_main(&config);
    }
    Ok(())
}

/// Obeys signals in their order.
///
/// # Errors
/// What a line asked for.
pub fn handle(signals: &[Signal]) -> Result<(), SessionFault> {
    for (index, signal) in (0..).zip(signals) {
        match signal {
            Signal::Opened(label) if label == MAIN => {
                session::report(&Condition::Ready);
                say(&format!("hello {} {}", REASON.take(), LINES.get()));
                REASON.set("reopened");
            }
            Signal::Opened(label) => say(&format!("opened {label}")),
            Signal::Message(incoming) => {
                LINES.set(LINES.get() + 1);
                obey(index, incoming.message.as_text().unwrap_or_default())?;
            }
            Signal::Closed(closure) if closure.label == MAIN => match config().closed.as_str() {
                "reopen" => open_main(&config()),
                "transient" => return Err(SessionFault::Transient("the main socket is closed".to_owned())),
                _ => {}
            },
            Signal::Closed(closure) => say(&format!("closed {} {:?}", closure.label, closure.cause)),
            Signal::Elapsed(label) => elapsed(label),
            Signal::Fetched(fetched) => say(&outcome(fetched)),
            Signal::Committed(marks) => marks.iter().for_each(|mark| say(&format!("ack {mark}"))),
            Signal::Held(_) => say("held"),
            Signal::Flowing(_) => say("flowing"),
            Signal::Stopping(_) => {
                say("bye");
                let last = LAST.take();
                if !last.is_empty() {
                    obey(index, &last)?;
                }
            }
        }
    }
    Ok(())
}

/// Lines handled so far.
#[must_use]
pub fn checkpoint() -> Blob {
    Blob::Text(LINES.get().to_string())
}

fn obey(index: u32, line: &str) -> Result<(), SessionFault> {
    let line = parse(line);
    let (first, rest) = cut(line.rest);
    match line.verb {
        "say" => submit(index, first, cut(rest).0),
        "reply" => say(line.rest),
        "tell" => send(rest, &[first.to_owned()]),
        "twice-then-trap" => {
            say(&format!("once {rest}"));
            submit(index, first, rest);
            let _ = state::set("twice", &Blob::Text(rest.to_owned()));
            if !RECOVERED.get() {
                std::process::abort();
            }
        }
        "trap" => std::process::abort(),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "busy" => {
            log::info("busy", &[]);
            busy(Duration::from_millis(first.parse().unwrap_or_default()));
            obey(index, rest)?;
        }
        "timer" => session::set_timer(first, rest.parse().unwrap_or_default()),
        "untimer" => session::cancel_timer(first),
        "beat" => session::set_timer(&format!("beat {first}"), first.parse().unwrap_or_default()),
        "chant" => session::set_timer(&format!("chant {first}"), 0),
        "pour" => session::set_timer(&format!("pour {first} {rest}"), 0),
        "fetch" => fetch(first, rest),
        "post" => refused(first, session::fetch(first, &HttpRequest::post_json("https://echo.test/post", rest))),
        "cancel" => session::cancel_fetch(first),
        "last" => LAST.set(line.rest.to_owned()),
        "open" => refused(first, session::open(first, &SocketRequest::new(rest))),
        "close" => session::close(MAIN, first.parse().ok(), "asked"),
        "set" => refused(first, state::set(first, &Blob::Text(rest.to_owned()))),
        "get" => say(&format!("value {}", stored(first))),
        "log" => log::info(line.rest, &[("asked", "yes")]),
        "report" if first == "ready" => session::report(&Condition::Ready),
        "report" => session::report(&Condition::Degraded(Notice::new("asked", line.rest).todo("nothing"))),
        "meta" => session::metadata(line.rest),
        "fatal" => return Err(SessionFault::Fatal(line.rest.to_owned())),
        "transient" => return Err(SessionFault::Transient(line.rest.to_owned())),
        "count" => say(&format!("count {}", LINES.get())),
        _ => say("what"),
    }
    Ok(())
}

/// Computes for so long. Looks at the clock seldom: each look is a call of the host, and a call may make only so many.
#[expect(clippy::disallowed_methods, reason = "the clock that the host gives it is the only one there is")]
fn busy(long: Duration) {
    let began = Instant::now();
    while began.elapsed() < long {
        let _ = compute(1);
    }
}

/// Some labels say what is to be done, so that an instance that was recovered knows it too.
fn elapsed(label: &str) {
    match cut(label) {
        ("pour", rest) => pour(rest),
        ("beat", millis) => {
            say(&format!("elapsed {label}"));
            session::set_timer(label, millis.parse().unwrap_or_default());
        }
        ("chant", left) => {
            say(label);
            if let Some(left) = left.parse::<u64>().ok().and_then(|left| left.checked_sub(1)) {
                session::set_timer(&format!("chant {left}"), 0);
            }
        }
        _ => say(&format!("elapsed {label}")),
    }
}

/// One dispatch, and a timer for the rest.
fn pour(rest: &str) {
    let (count, bytes) = cut(rest);
    let count = count.parse::<u64>().unwrap_or_default();
    if count == 0 {
        return;
    }
    let ballast = "x".repeat(bytes.parse().unwrap_or_default());
    let dispatch = Dispatch {
        kind: KIND.to_owned(),
        payload: Blob::Text(format!("say pour {count} {ballast}")),
        lane: "pour".to_owned(),
        context: "{}".to_owned(),
    };
    if let Err(fault) = ingest::submit(&dispatch, None) {
        say(&format!("failed {count} {}", fault.text()));
    }
    session::set_timer(&format!("pour {} {bytes}", count - 1), 0);
}

fn submit(index: u32, lane: &str, mark: &str) {
    let context = serde_json::json!({ "lines": LINES.get() }).to_string();
    if let Err(fault) = ingest::submit_signal(index, KIND, lane, &context, Some(mark)) {
        say(&format!("failed {mark} {}", fault.text()));
    }
}

fn fetch(label: &str, rest: &str) {
    let request = match cut(rest) {
        (url, "") => HttpRequest::get(url),
        (secret, url) => {
            HttpRequest::get(url).header("x-key", jackfield_sdk::secret(secret)).with_secret(secret, Place::Header)
        }
    };
    refused(label, session::fetch(label, &request));
}

fn refused(label: &str, asked: Result<(), Fault>) {
    if let Err(fault) = asked {
        say(&format!("failed {label} {}", fault.text()));
    }
}

fn outcome(fetched: &Fetched) -> String {
    match &fetched.outcome {
        Ok(response) => format!("fetched {} {} {}", fetched.label, response.status, response.body.to_text_lossy()),
        Err(fault) => format!("failed {} {}", fetched.label, fault.text()),
    }
}

fn stored(key: &str) -> String {
    match state::get(key) {
        Ok(Some(value)) => value.to_text_lossy().into_owned(),
        Ok(None) => "-".to_owned(),
        Err(fault) => fault.text().to_string(),
    }
}

fn say(text: &str) {
    send(text, &[]);
}

/// Where the socket is closed by now, nobody is there to hear.
fn send(text: &str, secrets: &[String]) {
    if let Err(fault) = session::send(MAIN, &Blob::Text(text.to_owned()), secrets) {
        log::warn("send failed", &[("fault", &fault.text().to_string())]);
    }
}

fn open_main(config: &Config) {
    let asked = session::open(MAIN, &SocketRequest::new(&config.url));
    if let Err(fault) = asked {
        log::error("open failed", &[("fault", &fault.text().to_string())]);
    }
}
