//! Processes of their own, for what only a process can do: hold a lock, be killed, run out of disk.
//!
//! A child is this very test binary, asked for one test that does nothing unless it was started from here.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use jackfield_store::Stores;
use jackfield_store::sqlite::{Options, Sqlite};

use crate::{crash, disk, submit};

const ROLE: &str = "JACKFIELD_STORE_CHILD_ROLE";
const FOLDER: &str = "JACKFIELD_STORE_CHILD_FOLDER";

/// Marks a child's own lines among those of the test harness.
const MARK: &str = "child: ";

/// A child that runs. Killed when dropped.
pub(crate) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// This binary, to be started in a role, on a folder. `through` goes before it: a shell, or nothing.
pub(crate) fn command(through: &[&str], role: &str, folder: &Path) -> Command {
    let binary = std::env::current_exe().unwrap();
    let mut words: Vec<OsString> = through.iter().map(OsString::from).collect();
    words.push(binary.into());
    words.extend(["--exact", "child::entry", "--nocapture"].map(OsString::from));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(ROLE, role).env(FOLDER, folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Starts it.
pub(crate) fn start(mut command: Command) -> Running {
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    Running { child, lines }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it says next; `None` once it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix(MARK).map(str::to_owned))
    }

    /// SIGKILL, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it ends by itself, which must be well.
    pub(crate) fn join(mut self) {
        while self.hear().is_some() {}
        assert!(self.child.wait().unwrap().success(), "the child failed; see its output");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already where all went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says something to whoever started this child.
pub(crate) fn say(what: impl Display) {
    // Not `println!`, which the harness may keep to itself; the line break ends what it has begun to write.
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{MARK}{what}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Waits until whoever started this child lets go of it.
pub(crate) fn wait_for_end() {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// A store as the daemon opens it.
pub(crate) fn open(folder: &Path) -> Stores {
    Stores::of(Sqlite::open(folder, Options::default()).unwrap())
}

/// What a child does. Started by hand, nothing.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how a child is told what it is")]
async fn entry() {
    let (Ok(role), Ok(folder)) = (std::env::var(ROLE), std::env::var(FOLDER)) else { return };
    let folder = PathBuf::from(folder);
    match role.as_str() {
        "hold" => {
            let store: Arc<Sqlite> = Sqlite::open(&folder, Options::default()).unwrap();
            say("open");
            wait_for_end();
            drop(store);
        }
        "execute" => submit::submit(&folder).await,
        "write" => crash::write(&folder).await,
        "full" => disk::fill(&folder).await,
        "flush" => disk::flush_fails(&folder).await,
        other => panic!("no role {other}"),
    }
}
