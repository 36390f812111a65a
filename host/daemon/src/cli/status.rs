//! `status`: one screen that is readable at night.

use std::process::ExitCode;
use std::time::Duration;

use jackfield_model::{Clock as _, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::exit::Failure;
use super::printer::Printer;
use super::table::table;
use crate::admin::Client;
use crate::text;

/// Longest cause, notice or remedy on the screen, in characters.
const SENTENCE_CHARS_MAX: usize = 300;

pub(super) async fn run(host: &Client, printer: &Printer) -> Result<ExitCode, Failure> {
    let document: Box<RawValue> = host.get("/v0/status", &()).await?;
    if printer.is_json() {
        printer.text(document.get())?;
    } else {
        let shown: Host = serde_json::from_str(document.get()).map_err(|error| {
            Failure::failed(format!("the host's answer is not understood ({error}): is it of another version?"))
        })?;
        printer.text(&screen(&shown, jackfield_model::clock::SystemClock.now()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is read of a host's status; the rest is for programs.
#[derive(Debug, Deserialize)]
struct Host {
    version: String,
    pid: u32,
    started_at: Timestamp,
    engine_healthy: bool,
    data: String,
    connections: Vec<Connection>,
}

#[derive(Debug, Deserialize)]
struct Connection {
    id: String,
    state: String,
    since: Timestamp,
    cause: String,
    todo: Option<String>,
    connector: Connector,
    epoch: Option<u64>,
    notice: Option<Notice>,
    sockets: std::collections::BTreeMap<String, Socket>,
    last_trouble: Option<Trouble>,
    last_signal: Option<Timestamp>,
    last_commit: Option<Timestamp>,
    last_action: Option<LastAction>,
    next_start: Option<Timestamp>,
    inbox: Inbox,
    unsettled: u64,
    dead_letters: u64,
    starts: Option<Starts>,
    counters: std::collections::BTreeMap<String, u64>,
    drops: std::collections::BTreeMap<String, u64>,
    ignored: std::collections::BTreeMap<String, u64>,
    actions: std::collections::BTreeMap<String, u64>,
    buckets: Vec<Bucket>,
}

#[derive(Debug, Deserialize)]
struct Bucket {
    bucket: String,
    remaining: Option<u32>,
    resets_at: Option<Timestamp>,
    paused_until: Option<Timestamp>,
    waiting: usize,
}

impl Bucket {
    /// Until when nothing is sent into it; a time that is over holds nobody up.
    fn blocked_until(&self, now: Timestamp) -> Option<Timestamp> {
        let used_up = if self.remaining == Some(0) { self.resets_at } else { None };
        self.paused_until.max(used_up).filter(|until| *until > now)
    }
}

#[derive(Debug, Deserialize)]
struct LastAction {
    at: Timestamp,
    id: String,
    action: String,
    outcome: String,
}

#[derive(Debug, Deserialize)]
struct Connector {
    id: String,
    version: String,
    digest: String,
    generation: u64,
}

#[derive(Debug, Deserialize)]
struct Notice {
    code: String,
    message: String,
    todo: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Trouble {
    at: Timestamp,
    what: String,
}

#[derive(Debug, Deserialize)]
struct Socket {
    origin: String,
    open: bool,
    since: Timestamp,
    last_byte: Option<Timestamp>,
    held: bool,
}

#[derive(Debug, Deserialize)]
struct Inbox {
    rows: u64,
    bytes: u64,
    oldest: Option<Timestamp>,
}

#[derive(Debug, Deserialize)]
struct Starts {
    spent: u32,
    platform_remaining: Option<u32>,
    platform_resets_at: Option<Timestamp>,
}

fn screen(host: &Host, now: Timestamp) -> String {
    let engine =
        if host.engine_healthy { "engine well" } else { "ENGINE CLOCK STALLED: no guest is called; restart the host" };
    let head = format!(
        "jackfield {}  pid {}  up {}  data {}  {engine}\n\n",
        host.version,
        host.pid,
        ago(now, host.started_at),
        host.data
    );
    let rows: Vec<Vec<String>> = host.connections.iter().map(|connection| row(connection, now)).collect();
    let overview = match rows.as_slice() {
        [] => "no connections are configured\n".to_owned(),
        rows => table(
            &["CONNECTION", "STATE", "FOR", "SIGNAL", "COMMIT", "ACTION", "EVENTS", "INBOX", "DEAD", "DROPS", "EPOCH"],
            rows,
        ),
    };
    let details: Vec<String> = host.connections.iter().map(|connection| details(connection, now)).collect();
    text::printable(&format!("{head}{overview}\n{}", details.join("\n")))
}

fn row(connection: &Connection, now: Timestamp) -> Vec<String> {
    let since = |at: Option<Timestamp>| at.map_or_else(|| "never".to_owned(), |at| ago(now, at));
    let count = |name: &str| connection.counters.get(name).copied().unwrap_or_default().to_string();
    vec![
        connection.id.clone(),
        connection.state.clone(),
        ago(now, connection.since),
        since(connection.last_signal),
        since(connection.last_commit),
        since(connection.last_action.as_ref().map(|action| action.at)),
        count("events"),
        connection.inbox.rows.to_string(),
        connection.dead_letters.to_string(),
        connection.drops.values().sum::<u64>().to_string(),
        connection.epoch.map_or_else(|| "-".to_owned(), |epoch| epoch.to_string()),
    ]
}

fn details(connection: &Connection, now: Timestamp) -> String {
    let sentence = |text: &str| text::line(text, SENTENCE_CHARS_MAX);
    let mut lines = vec![
        format!("{}: {} since {}", connection.id, connection.state, connection.since),
        format!("  cause      {}", sentence(&connection.cause)),
    ];
    let mut line = |name: &str, text: String| lines.push(format!("  {name:<10} {text}"));
    if let Some(todo) = &connection.todo {
        line("TO DO", sentence(todo));
    }
    if let Some(Notice { code, message, todo }) = &connection.notice {
        let todo = todo.as_ref().map(|todo| format!("; to do: {todo}")).unwrap_or_default();
        line("notice", sentence(&format!("{code}: {message}{todo}")));
    }
    if let Some(Trouble { at, what }) = &connection.last_trouble {
        line("trouble", format!("{} ago: {}", ago(now, *at), sentence(what)));
    }
    if let Some(at) = connection.next_start {
        line("next start", format!("{at} (in {})", span(at.since(now))));
    }
    let Connector { id, version, digest, generation } = &connection.connector;
    line("connector", format!("{id} {version}, generation {generation}, {digest}"));
    for (label, socket) in &connection.sockets {
        let state = if socket.open { "open" } else { "opening" };
        let held = if socket.held { ", HELD: not read, the pipeline is full" } else { "" };
        let last = socket
            .last_byte
            .map_or_else(|| "nothing received".to_owned(), |at| format!("last byte {} ago", ago(now, at)));
        line("socket", format!("{label} {state} for {} to {}, {last}{held}", ago(now, socket.since), socket.origin));
    }
    if connection.inbox.rows > 0 || connection.unsettled > 0 {
        let Inbox { rows, bytes, oldest } = &connection.inbox;
        let oldest = oldest.map(|at| format!(", oldest {} ago", ago(now, at))).unwrap_or_default();
        line("waiting", format!("{rows} in the inbox ({bytes} bytes{oldest}), {} under way", connection.unsettled));
    }
    if let Some(starts) = &connection.starts {
        let left =
            starts.platform_remaining.map(|left| format!(", {left} left by the platform's count")).unwrap_or_default();
        let resets = starts.platform_resets_at.map(|at| format!(" until {at}")).unwrap_or_default();
        line("starts", format!("{} spent{left}{resets}", starts.spent));
    }
    if let Some(LastAction { at, id, action, outcome }) = &connection.last_action {
        line("action", format!("{action} ended {} ago: {outcome} ({id})", ago(now, *at)));
        line("actions", pairs(&connection.actions));
    }
    for bucket in &connection.buckets {
        if let Some(until) = bucket.blocked_until(now) {
            let (name, waiting, left) = (&bucket.bucket, bucket.waiting, span(until.since(now)));
            line("HELD BACK", format!("nothing is sent into bucket {name} until {until} (for {left}), {waiting} wait"));
        }
    }
    line("since start", pairs(&connection.counters));
    for (name, counts) in [("DROPPED", &connection.drops), ("ignored", &connection.ignored)] {
        if !counts.is_empty() {
            line(name, pairs(counts));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn pairs(counts: &std::collections::BTreeMap<String, u64>) -> String {
    let shown = counts.iter().filter(|(_, count)| **count > 0).map(|(name, count)| format!("{name} {count}"));
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() { "nothing yet".to_owned() } else { shown.join(", ") }
}

fn ago(now: Timestamp, then: Timestamp) -> String {
    span(now.since(then))
}

/// A duration in its two largest units.
fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) if seconds < 10 => format!("{}.{}s", seconds, duration.subsec_millis() / 100),
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, minutes) => format!("{minutes}m {}s", seconds % 60),
        (0, hours, minutes) => format!("{hours}h {minutes}m"),
        (days, hours, _) => format!("{days}d {hours}h"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jackfield_model::action::EndingKind;
    use jackfield_model::session::Notice;
    use jackfield_model::{Epoch, Generation, Timestamp};
    use jackfield_store::inbox::Depth;
    use jackfield_store::start::Left;

    use crate::outbound::LastAction;
    use crate::outbound::buckets::Level;
    use crate::status;

    const NOW: Timestamp = Timestamp(1_770_128_116_171);

    fn connection(id: &str, state: status::State) -> status::Connection {
        let socket = status::Socket {
            origin: "wss://gateway.discord.gg".to_owned(),
            open: true,
            since: Timestamp(NOW.0 - 7_200_000),
            last_byte: Some(Timestamp(NOW.0 - 400)),
            held: false,
        };
        status::Connection {
            id: id.parse().unwrap(),
            state,
            since: Timestamp(NOW.0 - 7_200_000),
            cause: "the connector reported its protocol up".to_owned(),
            todo: None,
            connector: status::Connector {
                id: "discord".to_owned(),
                version: "0.1.0".to_owned(),
                digest: "sha256:0000".to_owned(),
                generation: Generation(3),
            },
            epoch: Some(Epoch(4)),
            notice: None,
            sockets: BTreeMap::from([("gateway".to_owned(), socket)]),
            last_trouble: Some(status::Trouble {
                at: Timestamp(NOW.0 - 7_200_500),
                what: "connection reset".to_owned(),
            }),
            last_signal: Some(Timestamp(NOW.0 - 400)),
            last_commit: Some(Timestamp(NOW.0 - 93_000)),
            last_action: None,
            next_start: None,
            inbox: Depth::default(),
            unsettled: 0,
            dead_letters: 0,
            starts: Some(Left { spent: 2, platform_remaining: Some(998), platform_resets_at: None }),
            metadata: serde_json::json!({}),
            counters: status::Counters {
                signals: 900,
                dispatches: 800,
                events: 790,
                ignored: 10,
                ..status::Counters::default()
            },
            drops: BTreeMap::new(),
            ignored: BTreeMap::from([("typing".to_owned(), 10)]),
            actions: BTreeMap::new(),
            buckets: Vec::new(),
        }
    }

    fn bucket(name: &str, remaining: Option<u32>, resets: Option<u64>, paused: Option<u64>) -> Level {
        let at = |ahead: Option<u64>| ahead.map(|ahead| Timestamp(NOW.0 + ahead));
        let (resets_at, paused_until) = (at(resets), at(paused));
        Level { bucket: name.to_owned(), remaining, resets_at, paused_until, outstanding: 0, waiting: 2 }
    }

    #[test]
    fn one_screen() {
        let parked = status::Connection {
            cause: "fatal: \u{1b}[31mthe token is not accepted".to_owned(),
            todo: Some("put a valid bot token in place".to_owned()),
            epoch: None,
            sockets: BTreeMap::new(),
            last_signal: None,
            last_commit: None,
            inbox: Depth { rows: 12, bytes: 34_567, oldest: Some(Timestamp(NOW.0 - 90_000)) },
            dead_letters: 2,
            drops: BTreeMap::from([("frame-too-large".to_owned(), 3)]),
            notice: Some(Notice {
                code: "intent-missing".to_owned(),
                message: "no contents".to_owned(),
                todo: Some("switch it on".to_owned()),
            }),
            ..connection("acme", status::State::Parked)
        };
        let waiting = status::Connection {
            next_start: Some(Timestamp(NOW.0 + 75_000)),
            last_action: Some(LastAction {
                at: Timestamp(NOW.0 - 12_000),
                id: "01890a5d0ac87b1e9f2a3b4c5d6e7f80".parse().unwrap(),
                action: "send-message".to_owned(),
                outcome: EndingKind::Retry,
            }),
            actions: BTreeMap::from([("done", 17), ("retry", 1)]),
            buckets: vec![
                bucket("channels/1", Some(0), Some(3_000), None),
                bucket("channels/2", Some(4), Some(3_000), None),
                bucket("*", None, None, Some(9_000)),
            ],
            ..connection("beta", status::State::Waiting)
        };
        let host = status::Host {
            version: "0.1.0",
            pid: 4_711,
            started_at: Timestamp(NOW.0 - 90_061_000),
            engine_healthy: true,
            data: "/srv/jackfield".to_owned(),
            connections: vec![parked, waiting, connection("gamma", status::State::Ready)],
        };
        // Over the wire, as a command gets it.
        let shown = serde_json::from_str(&serde_json::to_string(&host).unwrap()).unwrap();
        insta::assert_snapshot!(super::screen(&shown, NOW));
    }
}
