//! Real processes: `jackfield` with a folder of its own, started, asked and ended as an operator does it.
//!
//! Every wait is for a condition, with a deadline that only a hang reaches. A process ends with its handle, by its id.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::canary;

/// Longest wait for anything. On a machine that is busy with everything else too.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// The program under test: `jackfield`'s own `main` with failpoints, built with the suite.
#[must_use]
pub fn jackfield() -> PathBuf {
    built("jackfield-under-test")
}

/// A binary of this package. It lies beside the test's own, or above it.
fn built(name: &str) -> PathBuf {
    let executable = std::env::current_exe().expect("a process knows its own file");
    let found = executable.ancestors().map(|folder| folder.join(name)).find(|path| path.is_file());
    found.expect("cargo builds the binaries of a package before its tests")
}

/// Lines of a host's log that a failed test shows.
const LOG_LINES: usize = 40;

/// Looks until there is something to see.
///
/// # Panics
/// When there is nothing for a long time: with what was waited for.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(PAUSE);
    }
}

/// A folder with a configuration in it, and what processes get from the environment. Gone with its handle.
pub struct Home {
    folder: TempDir,
    environment: Vec<(String, String)>,
    /// What must stand nowhere: values of the environment, as far as they are secrets.
    secrets: Vec<String>,
}

impl Home {
    /// With this configuration; `data` is `./data` there.
    #[must_use]
    pub fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        fs::write(folder.path().join("jackfield.toml"), config).expect("write the configuration");
        let home = Self { folder, environment: Vec::new(), secrets: Vec::new() };
        home.share_compiled();
        home
    }

    /// Artifacts under one key serve all tests, so that each component is compiled once: the folder is linked in.
    fn share_compiled(&self) {
        use std::os::unix::fs::{DirBuilderExt as _, symlink};
        let shared = crate::scratch().join("compiled");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&shared).expect("make the shared folder");
        let data = self.path().join("data");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&data).expect("make the data folder");
        symlink(shared, data.join("compiled")).expect("link the shared folder");
    }

    /// A variable for every process.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    /// A variable for every process from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
        if ["CANARY", "TOKEN", "SECRET"].iter().any(|word| name.contains(word)) {
            self.guard(value);
        }
    }

    /// What every process gets.
    #[must_use]
    pub fn variables(&self) -> &[(String, String)] {
        &self.environment
    }

    /// This must stand in no log, no store and no output. Looked for when the folder goes, and in what commands print.
    pub fn guard(&mut self, secret: &str) {
        self.secrets.push(secret.to_owned());
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The configuration file.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.path().join("jackfield.toml")
    }

    /// Replaces the configuration.
    pub fn write_config(&self, config: &str) {
        fs::write(self.config(), config).expect("write the configuration");
    }

    /// All that was logged by hosts of this folder.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.path().join("host.log")).unwrap_or_default()
    }

    /// `jackfield ARGUMENTS`, not started yet.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(&jackfield());
        command.args(arguments);
        command
    }

    /// A host on a store that lies in this way, not started yet.
    #[must_use]
    pub fn sabotaged(&self, how: &str) -> Command {
        let mut command = self.program(&built("jackfield-sabotaged"));
        command.env("JACKFIELD_SABOTAGE", how);
        command
    }

    fn program(&self, program: &Path) -> Command {
        const PASSED: [&str; 5] = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "CARGO_TARGET_DIR"];
        let mut command = Command::new(program);
        command.current_dir(self.path()).stdin(Stdio::null());
        // Nothing of the machine or of the test runner gets in.
        command.env_clear().envs(PASSED.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().expect("start jackfield");
        let told = canary::is_in(&output.stdout, &self.secrets) || canary::is_in(&output.stderr, &self.secrets);
        assert!(!told, "{arguments:?} printed a secret");
        output
    }

    /// Runs a command that works, and reads its one document.
    #[must_use]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--output", "json"]].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    /// Starts a host, and waits until it answers.
    #[must_use]
    pub fn serve(&self) -> Serve<'_> {
        let serve = self.start();
        serve.home.ready(&serve);
        serve
    }

    /// Starts a host.
    #[must_use]
    pub fn start(&self) -> Serve<'_> {
        let log =
            fs::File::options().create(true).append(true).open(self.path().join("host.log")).expect("open the log");
        let child = self.command(&["serve"]).stdout(Stdio::null()).stderr(log).spawn().expect("start jackfield");
        Serve { home: self, child: Some(child) }
    }

    fn ready(&self, serve: &Serve<'_>) {
        until("the host answers", || {
            let status = self.run(&["status", "--output", "json"]);
            if !status.status.success() {
                assert!(serve.is_alive(), "the host ended:\n{}", self.log());
            }
            status.status.success().then_some(())
        });
    }

    /// The status document of a running host.
    #[must_use]
    pub fn status(&self) -> Value {
        self.json(&["status"])
    }

    /// The only connection's status.
    #[must_use]
    pub fn connection(&self) -> Value {
        self.status()["connections"][0].clone()
    }

    /// Waits until the only connection's status is like this.
    pub fn wait(&self, what: &str, mut like: impl FnMut(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            last = self.connection();
            if like(&last) {
                return last;
            }
            thread::sleep(PAUSE);
        }
        panic!("waited in vain: {what}; last seen:\n{last:#}\n{}", self.log());
    }

    /// Waits until the only connection is in this state.
    pub fn wait_state(&self, state: &str) -> Value {
        self.wait(state, |connection| connection["state"] == state)
    }

    /// Every event of the log, oldest first.
    #[must_use]
    pub fn events(&self) -> Vec<Value> {
        let document = self.json(&["events", "--after", "0", "--limit", "1000000"]);
        document["events"].as_array().expect("a list").clone()
    }

    /// Waits until there are this many events, and gives them.
    pub fn wait_events(&self, count: usize) -> Vec<Value> {
        let mut seen = 0;
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let events = self.events();
            seen = events.len();
            if seen >= count {
                assert_eq!(seen, count, "more events than expected");
                return events;
            }
            thread::sleep(PAUSE);
        }
        panic!("{seen} events, {count} expected:\n{:#}\n{}", self.connection(), self.log());
    }

    /// Every dead letter.
    #[must_use]
    pub fn dead_letters(&self) -> Vec<Value> {
        self.json(&["dead-letters", "list"])["dead_letters"].as_array().expect("a list").clone()
    }
}

impl Home {
    /// Shows what hosts said last, below this.
    pub fn tell_log(&self, above: &str) {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let newest = &lines[lines.len().saturating_sub(LOG_LINES)..];
        tell(&format!("{above}\nthe end of the log of {}:\n{}", self.path().display(), newest.join("\n")));
    }
}

impl Drop for Home {
    /// A failed test is told together with what its hosts said last; in one that passed no secret may be left behind.
    fn drop(&mut self) {
        if thread::panicking() {
            self.tell_log("");
        } else {
            let found = canary::files_with(self.path(), &self.secrets);
            assert!(found.is_empty(), "a secret stands in {found:?}");
        }
    }
}

#[allow(clippy::disallowed_macros, reason = "the test runner shows it beside the failure")]
fn tell(text: &str) {
    eprintln!("{text}");
}

/// A running host. Killed with its handle.
pub struct Serve<'a> {
    home: &'a Home,
    child: Option<Child>,
}

impl Serve<'_> {
    /// Its process id.
    ///
    /// # Panics
    /// When it was ended already.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.id().try_into().expect("process ids are small")).expect("it is not 0")
    }

    /// Whether it still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        // `waitid` without reaping would need the child mutably; a zombie shows in its state.
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap_or_default();
        !stat.is_empty() && !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it runs");
    }

    /// Kills it, and waits until it is gone.
    pub fn kill(mut self) -> ExitStatus {
        self.signal(Signal::KILL);
        self.child.take().expect("it runs").wait().expect("wait for it")
    }

    /// Ends it in order.
    pub fn stop(self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// Waits until it has ended by itself.
    pub fn ended(mut self) -> ExitStatus {
        let mut child = self.child.take().expect("it runs");
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait().expect("wait for it") {
                return status;
            }
            if began.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("it does not end:\n{}", self.home.log());
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Serve<'_> {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
