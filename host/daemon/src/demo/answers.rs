//! Answers to messages, each by an action, as a bot gives them: through the host's library, while messages go on coming in.

use std::collections::VecDeque;

use jackfield_model::action::EndingKind;
use jackfield_store::event::Record;
use jackfield_store::execution::Surface;
use serde_json::json;
use tokio::task::JoinSet;

use crate::host::Host;
use crate::outbound::Request;

/// One message in so many is answered.
const EVERY: u64 = 20;

/// Answers that are under way at once. What a person could read is far below.
const AT_ONCE: usize = 4;

/// The answers of one demo.
pub(super) struct Answers {
    host: Host,
    heard: u64,
    waiting: VecDeque<Request>,
    running: JoinSet<Result<(), String>>,
    asked: u64,
    sent: u64,
    /// Why the first one that failed did.
    failed: Option<String>,
}

/// What became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answered {
    /// Actions that were asked for.
    pub(super) asked: u64,
    /// Of these, those that were done.
    pub(super) sent: u64,
    /// Why the first one that failed did.
    pub(super) failed: Option<String>,
}

impl Answers {
    pub(super) fn new(host: Host) -> Self {
        let (waiting, running) = (VecDeque::new(), JoinSet::new());
        Self { host, heard: 0, waiting, running, asked: 0, sent: 0, failed: None }
    }

    /// Takes messages up, and starts what may be started.
    pub(super) fn hear(&mut self, events: &[Record]) {
        for event in events {
            self.heard += 1;
            if self.heard.is_multiple_of(EVERY) {
                self.waiting.extend(answer(event, self.heard));
            }
        }
        while let Some(ended) = self.running.try_join_next() {
            self.ended(ended);
        }
        self.fill();
    }

    /// Waits for the rest.
    pub(super) async fn finish(mut self) -> Answered {
        self.fill();
        while let Some(ended) = self.running.join_next().await {
            self.ended(ended);
            self.fill();
        }
        Answered { asked: self.asked, sent: self.sent, failed: self.failed }
    }

    fn fill(&mut self) {
        while self.running.len() < AT_ONCE
            && let Some(request) = self.waiting.pop_front()
        {
            self.asked += 1;
            let host = self.host.clone();
            self.running.spawn(async move {
                let report = host.run(request).await.map_err(|refused| refused.to_string())?;
                match report.ending.kind() {
                    EndingKind::Done => Ok(()),
                    kind => Err(format!("{}: {}", kind.as_str(), report.ending.reason().unwrap_or_default())),
                }
            });
        }
    }

    fn ended(&mut self, ended: Result<Result<(), String>, tokio::task::JoinError>) {
        match ended.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(()) => self.sent += 1,
            Err(why) => self.failed = self.failed.take().or(Some(why)),
        }
    }
}

/// The answer to a message, under the message's own key: however often it is asked for, it is said once.
fn answer(event: &Record, number: u64) -> Option<Request> {
    let channel = event.event.location.as_ref()?.room.as_ref()?;
    let message = event.event.key.rsplit(':').next()?;
    let args = json!({ "channel_id": channel, "text": format!("That was message {number}."), "reply_to": message });
    Some(Request {
        connection: event.connection.clone(),
        action: "send-message".to_owned(),
        args: args.to_string(),
        key: Some(event.event.key.clone()),
        attempt: 1,
        approve: false,
        timeout: None,
        surface: Surface::Library,
        caller: "the demo".to_owned(),
    })
}
