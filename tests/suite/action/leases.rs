//! Locks of a connector: one holder, freed however the call ends, and nothing sent under one that is over.

use std::net::SocketAddr;
use std::time::Duration;

use jackfield_model::action::EndingKind;
use jackfield_store::execution::{Execution, Filter};
use jackfield_tests::desk::{Desk, config, request, said};
use jackfield_tests::guest::ACTION_STEPS;
use jackfield_tests::processes::Home;
use jackfield_tests::web::Web;
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

#[tokio::test(flavor = "multi_thread")]
async fn freed_at_the_end_and_after_a_trap() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "limits = { call = \"500ms\" }").await;
    let acquire = json!({ "acquire": ["cart", 900_000] });
    let mut fences = Vec::new();
    let mut acquired = async |then: serde_json::Value| {
        desk.run("steps", &json!({ "steps": [acquire, then] })).await.unwrap();
        // Whatever the first one did: it is free for the second.
        let report = desk.run("steps", &json!({ "steps": [acquire, acquire] })).await.unwrap();
        let said = said(&report);
        assert_eq!(said[1], "held", "its own holder does not get it twice");
        fences.push(said[0].strip_prefix("fence ").expect("it was free").parse::<u64>().unwrap());
    };
    for then in [json!({ "log": "x" }), json!({ "drop": true }), json!({ "trap": true }), json!({ "spin": true })] {
        acquired(then).await;
    }
    assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
    let odd = json!([{ "acquire": ["k", 999] }, { "acquire": ["k", 900_001] }, { "acquire": ["", 1000] }]);
    let report = desk.run("steps", &json!({ "steps": odd })).await.unwrap();
    for said in said(&report) {
        assert!(said.starts_with("invalid"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn report_l7_who_lost_its_lock_sends_nothing_and_is_no_second_success() {
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    // Blocked for three times what it asked for; then it would send.
    let blocked = json!({ "steps": [
        { "only": ["job", 1000] }, { "set": ["done-by", "blocked"] }, { "sleep": 3000 }, { "send": "https://echo.test/ok" }
    ] });
    let other = json!({ "steps": [
        { "only": ["job", 60_000] }, { "set": ["done-by", "other"] }, { "send": "https://echo.test/ok" }
    ] });
    let probe = json!({ "steps": [{ "only": ["job", 60_000] }] });
    let first = 'held: loop {
        let (host, request) = (desk.host.clone(), request("steps", &blocked));
        let first = tokio::spawn(async move { host.run(request).await.unwrap() });
        // A probe that gets the lock has it for a moment only; when that was the wrong one, once more.
        while !first.is_finished() {
            if desk.run("steps", &probe).await.unwrap().ending.kind() == EndingKind::Rejected {
                break 'held first;
            }
        }
    };
    let second = loop {
        let report = desk.run("steps", &other).await.unwrap();
        // Until it lapses, somebody has it.
        if report.ending.kind() == EndingKind::Done {
            break report;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    let first = first.await.unwrap();
    assert_eq!(first.ending.kind(), EndingKind::Retry, "nothing had left: {first:?}");
    assert!(first.notes.iter().any(|note| note.starts_with("lost lease: `job`")), "{first:?}");
    assert_eq!(web.asked().len(), 1, "one call of the platform");
    assert_eq!(second.ending.kind(), EndingKind::Done);
    let by = desk.run("steps", &json!({ "steps": [{ "get": "done-by" }] })).await.unwrap();
    assert_eq!(said(&by), ["other"], "what the loser asked for was not done");
}

/// Whoever gets a lock next reads what was written under it: it is free only once that is stored.
#[tokio::test(flavor = "multi_thread")]
async fn who_gets_a_lock_next_sees_what_was_written_under_it() {
    const ROUNDS: usize = 20;
    let web = Web::start().await;
    let desk = Desk::open(ACTION_STEPS, &web, "").await;
    let fence = |said: &str| said.strip_prefix("fence ").map(|fence| fence.parse::<u64>().unwrap());
    let mut behind = 0;
    for round in 0..ROUNDS {
        let (lock, key) = (format!("lock {round}"), format!("key {round}"));
        let run = |steps: serde_json::Value| {
            let host = desk.host.clone();
            tokio::spawn(async move { host.run(request("steps", &json!({ "steps": steps }))).await.unwrap() })
        };
        // Three ask for it again and again while the first one has it.
        let asks: Vec<_> =
            (0..60).flat_map(|_| [json!({ "acquire": [lock, 60_000] }), json!({ "get": key })]).collect();
        let writer = run(json!([{ "acquire": [lock, 60_000] }, { "set": [key, "written"] }, { "sleep": 5 }]));
        let readers: Vec<_> = (0..3).map(|_| run(json!(asks))).collect();
        let wrote = said(&writer.await.unwrap()).first().and_then(|said| fence(said));
        for reader in readers {
            let said = said(&reader.await.unwrap());
            let got = said.iter().enumerate().find_map(|(at, said)| fence(said).map(|fence| (at, fence)));
            if let (Some(wrote), Some((at, got))) = (wrote, got)
                && got > wrote
            {
                assert_eq!(said[at + 1], "written", "round {round}");
                behind += 1;
            }
        }
    }
    assert!(behind > 0, "nobody came behind the writer");
}

/// The platform takes no connection for longer than the lock lives. When it does at last, nothing is sent any more; nor where
/// the caller has left meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_the_line_is_given_up_with_its_lock_and_with_its_caller() {
    let web = Web::start().await;
    for leaves in [false, true] {
        let full = Full::start().await;
        let config = config(&ACTION_STEPS.file(&jackfield_tests::scratch()), &web, "");
        let desk = Desk::at(Home::new(&config.replace("127.0.0.1:1\"", &format!("{}\"", full.address())))).await;
        let ttl = if leaves { 600_000 } else { 1_000 };
        let args = json!({ "steps": [{ "acquire": ["k", ttl] }, { "send": "https://plain.test/late" }] });
        let (host, asked) = (desk.host.clone(), request("steps", &args));
        let call = tokio::spawn(async move { host.run(asked).await });
        let id = row(&desk, |row| row.finished_at.is_none()).await.id;
        if leaves {
            call.abort();
        } else {
            // Until somebody else gets it.
            let other = json!({ "steps": [{ "only": ["k", 1_000] }] });
            while desk.run("steps", &other).await.unwrap().ending.kind() != EndingKind::Done {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        let heard = full.heard().await;
        let row = row(&desk, |row| row.id == id && row.finished_at.is_some()).await;
        assert!(row.requests.iter().all(|request| !request.left), "{row:?}");
        assert_eq!(heard, "", "{row:?}");
        assert!(leaves || row.outcome == Some(EndingKind::Retry), "{row:?}");
        desk.close().await;
    }
}

/// The only execution there is, once it is like this.
async fn row(desk: &Desk, like: impl Fn(&Execution) -> bool) -> Execution {
    loop {
        let rows = desk.host.stores().executions.executions(&Filter::default(), None, 1_000).await.unwrap();
        if let Some(row) = rows.into_iter().find(&like) {
            return row;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A port that takes no more connections until it is asked what it heard.
struct Full {
    listener: TcpListener,
    /// They fill its queue.
    ours: Vec<TcpStream>,
}

impl Full {
    async fn start() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let mut ours = Vec::new();
        while let Ok(stream) =
            tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(listener.local_addr().unwrap())).await
        {
            ours.push(stream.unwrap());
        }
        Self { listener, ours }
    }

    fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    /// Takes whoever is there, and all that they say until they close or say nothing for longer than a connection is tried again.
    async fn heard(self) -> String {
        const SILENCE: Duration = Duration::from_secs(3);
        let (mut heard, ours) =
            (String::new(), self.ours.iter().map(|one| one.local_addr().unwrap()).collect::<Vec<_>>());
        while let Ok(Ok((mut stream, peer))) = tokio::time::timeout(SILENCE, self.listener.accept()).await {
            if !ours.contains(&peer) {
                let _ = tokio::time::timeout(SILENCE, stream.read_to_string(&mut heard)).await;
            }
        }
        heard
    }
}
