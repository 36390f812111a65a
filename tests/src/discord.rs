//! The Discord double beside a home for a host that serves the real connector from it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use jackfield_testkit::discord::{Counts, Double, Id, Options, Record, Script};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::account::{Account, message_id};
use crate::guest;
use crate::processes::{Home, PATIENCE};

/// A double and a home.
pub struct Scene {
    /// The home of hosts.
    pub home: Home,
    /// The double.
    pub double: Arc<Double>,
    runtime: Arc<Runtime>,
}

impl Scene {
    /// A double with this script, and a configuration whose only connection is the real connector.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self::with(script, "config = { intents = 37377 }")
    }

    /// The same, with this added to the connection.
    #[must_use]
    pub fn with(script: Script, more: &str) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let double =
            runtime.block_on(Double::start(Options { script, ..Options::default() })).expect("the script is right");
        let component = guest::DISCORD.file(Path::new("/"));
        let config = config(&double, &component, more);
        let home = Home::new(&config).with("DISCORD_BOT_TOKEN", double.token());
        Self { home, double: Arc::new(double), runtime: Arc::new(runtime) }
    }

    /// The home and the double alone. The double's runtime goes on for as long as the process.
    #[must_use]
    pub fn into_parts(self) -> (Home, Arc<Double>) {
        let Self { home, double, runtime } = self;
        // Dropping a runtime waits, which is forbidden inside another one.
        std::mem::forget(runtime);
        (home, double)
    }

    /// Somebody writes in the channel of this number.
    pub fn post(&self, channel: usize, text: &str) -> Id {
        let (channel, author) = (self.double.channels()[channel], self.double.authors()[0]);
        self.runtime.block_on(self.double.post_message(channel, author, text)).expect("the channel is there")
    }

    /// People write so many messages in all channels.
    pub fn post_many(&self, count: u64) {
        self.runtime.block_on(self.double.post_many(count));
    }

    /// Sends a dispatch as it is.
    pub fn dispatch(&self, kind: &str, payload: &Value) {
        self.runtime.block_on(self.double.dispatch(kind, payload));
    }

    /// Waits until the double's log is like this.
    pub fn wait(&self, what: &str, like: impl FnMut(&Record) -> bool) {
        let waited = self.runtime.block_on(self.double.log().wait_for(like, PATIENCE));
        waited.unwrap_or_else(|late| panic!("waited in vain: {what}: {late}\n{}", self.home.log()));
    }

    /// Waits until the double has counted like this.
    pub fn wait_counts(&self, what: &str, mut like: impl FnMut(Counts) -> bool) {
        self.wait(what, |record| like(record.counts()));
    }

    /// What the double has counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.double.log().counts()
    }

    /// Every message that the double made, by channel.
    #[must_use]
    pub fn made(&self) -> BTreeMap<String, Vec<String>> {
        let text = |ids: &Vec<Id>| ids.iter().map(ToString::to_string).collect();
        self.double.log().messages().iter().map(|(channel, ids)| (channel.to_string(), text(ids))).collect()
    }

    /// Waits until the log has an event of every message, and compares the two.
    #[must_use]
    pub fn account(&self) -> Account {
        let made = self.made();
        let count: usize = made.values().map(Vec::len).sum();
        let began = std::time::Instant::now();
        loop {
            let events = self.home.events();
            let messages: Vec<&Value> = events.iter().filter(|event| event["name"] == "message.created").collect();
            let account = Account::of(&made, messages.iter().map(|event| message_id(event)));
            if messages.len() >= count && account.lost == 0 || began.elapsed() > PATIENCE {
                return account;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Messages are made from now on, some hundreds a second, until the handle is stopped.
    #[must_use]
    pub fn load(&self) -> Load {
        let (double, runtime) = (self.double.clone(), self.runtime.clone());
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        let task = std::thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                runtime.block_on(double.post_many(8));
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        Load { stop, task: Some(task) }
    }
}

/// Load under way.
pub struct Load {
    stop: Arc<AtomicBool>,
    task: Option<JoinHandle<()>>,
}

impl Load {
    /// No more messages from here on.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(task) = self.task.take() {
            let _ = task.join();
        }
    }
}

/// A configuration with one connection, led to this double.
#[must_use]
pub fn config(double: &Double, component: &Path, more: &str) -> String {
    let (http, ws) = (double.origin_http(), double.origin_ws());
    format!(
        r#"
[host]
data = "./data"

[[connection]]
id = "discord"
connector = {component:?}
contacts = "people"
secrets.bot-token = {{ env = "DISCORD_BOT_TOKEN", to = ["https://discord.com", "wss://gateway.discord.gg", "wss://*.discord.gg"] }}
grants = ["https://discord.com", "wss://gateway.discord.gg", "wss://*.discord.gg", "contacts"]
connect = {{ "https://discord.com" = "{http}", "wss://gateway.discord.gg" = "{ws}", "wss://*.discord.gg" = "{ws}" }}
{more}
"#
    )
}
