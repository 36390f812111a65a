//! The kill harness: a real host under load kills itself at a named point, again and again, and is started again; the
//! double beside it keeps its state. In the end every message has to be one event, in order.

use std::process::{Child, Stdio};
use std::time::Instant;

pub use jackfield::failpoint::POINTS;
use jackfield_testkit::discord::Script;
use serde::Serialize;

use crate::account::Account;
use crate::discord::Scene;
use crate::processes::{Home, PATIENCE};

/// Messages of one run, at least: kills at an early point are over before there were many.
pub const LOAD_MIN: u64 = 300;

/// What the harness found. Its JSON form is what `tests/run kill` ends with.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Points tried.
    pub points: u64,
    /// Kills at each.
    pub per_point: u64,
    /// Kills in all. Each was a SIGKILL of the process by itself, at its point.
    pub kills: u64,
    /// What became of the messages.
    #[serde(flatten)]
    pub account: Account,
    /// Resumes that the double accepted.
    pub resumes: u64,
    /// Identifies that it received.
    pub identifies: u64,
    /// Dead letters: none is expected.
    pub dead_letters: u64,
    /// Seconds that it took.
    pub seconds: u64,
}

impl Outcome {
    /// Nothing lost, doubled or reordered, and everything that was planned was done.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.account.is_whole() && self.dead_letters == 0 && self.kills == self.points * self.per_point
    }
}

/// Which program is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The host.
    Host,
    /// The host with a store that breaks its promise in this way: the harness has to notice.
    Sabotaged(&'static str),
}

/// Kills at every point, so often each.
#[must_use]
pub fn everywhere(per_point: u64, mut tell: impl FnMut(&str, &Outcome)) -> Outcome {
    let began = Instant::now();
    let mut all = Outcome { per_point, ..Outcome::default() };
    for point in POINTS {
        let one = at(point, per_point, Program::Host);
        tell(point, &one);
        all.points += 1;
        all.kills += one.kills;
        all.account.add(&one.account);
        all.resumes += one.resumes;
        all.identifies += one.identifies;
        all.dead_letters += one.dead_letters;
    }
    all.seconds = began.elapsed().as_secs();
    all
}

/// Kills at this point, so often, on one data folder; then lets a host settle what is left, and compares.
#[must_use]
pub fn at(point: &str, times: u64, program: Program) -> Outcome {
    let began = Instant::now();
    let scene = Scene::new(Script { channels: 10, ..Script::silent() });
    // What was said before a first session is nobody's: the load begins when there is one.
    let first = scene.home.serve();
    scene.home.wait_state("ready");
    let load = scene.load();
    first.kill();
    let mut kills = 0;
    for kill in 0..times {
        // Early and late, so that kills come at the start, while a replay comes in, and in the steady state.
        let hit = 1 + kill * 11 % 37;
        kills += u64::from(dies(&scene.home, &format!("{point}:{hit}"), program));
    }
    let _host = scene.home.serve();
    scene.wait_counts("some load", |counts| counts.messages >= LOAD_MIN);
    load.stop();
    let account = scene.account();
    if !account.is_whole() && program == Program::Host {
        scene.home.tell_log(&format!("{:#}", scene.home.connection()));
    }
    let counts = scene.counts();
    Outcome {
        points: 1,
        per_point: times,
        kills,
        account,
        resumes: counts.resumed,
        identifies: counts.identifies,
        dead_letters: scene.home.dead_letters().len() as u64,
        seconds: began.elapsed().as_secs(),
    }
}

/// Starts a host that kills itself, and waits until it has. Whether it was a SIGKILL.
fn dies(home: &Home, failpoint: &str, program: Program) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    let log =
        std::fs::File::options().create(true).append(true).open(home.path().join("host.log")).expect("open the log");
    let mut command = match program {
        Program::Host => home.command(&["serve"]),
        Program::Sabotaged(how) => home.sabotaged(how),
    };
    command.env("JACKFIELD_FAILPOINT", failpoint).stdout(Stdio::null()).stderr(log);
    let mut child = Ended(command.spawn().expect("start the host"));
    let began = Instant::now();
    loop {
        if let Some(status) = child.0.try_wait().expect("wait for it") {
            // SIGKILL is 9 on every Linux platform.
            assert_eq!(status.signal(), Some(9), "{failpoint}: {status}\n{}", home.log());
            return true;
        }
        assert!(began.elapsed() < PATIENCE, "{failpoint} is not reached:\n{}", home.log());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// A process that ends with its handle.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
