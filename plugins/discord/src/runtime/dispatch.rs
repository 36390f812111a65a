//! Dispatches: each is submitted once, as it came, into its lane, with what its meaning depends on.

use std::fmt::Write;

use jackfield_sdk::log::Level;
use jackfield_sdk::runtime::{Condition, SessionFault};
use jackfield_sdk::{Blob, Fault};

use super::backfill::{Held, fits};
use super::content::{self, Change};
use super::host::Host;
use super::lane::Lane;
use super::machine::{Machine, Step};
use crate::transform::{Message, UNREADABLE};
use crate::wire::{Frame, Id, Peek};

impl Machine {
    pub(super) fn dispatch(
        &mut self,
        index: u32,
        kind: &str,
        frame: &Frame<'_>,
        message: &Blob,
        host: &mut dyn Host,
    ) -> Step {
        let payload = frame.d.map_or("null", serde_json::value::RawValue::get);
        let mut posted = None;
        let peek = match kind {
            "MESSAGE_CREATE" => match serde_json::from_str::<Message<'_>>(payload) {
                Ok(new) => {
                    self.watch_content(&new, host);
                    let peek = new.peek();
                    posted = peek.id.map(|id| id.number());
                    peek
                }
                Err(_) => Peek::of(payload),
            },
            _ => Peek::of(payload),
        };
        let startup = self.guild_changed(kind, &peek, host);
        let lane = Lane::of(kind, &peek);
        let context = self.context(frame.s, startup);
        let mark = frame.s.map(|seq| self.state.mark(seq));
        if let Some(seq) = frame.s {
            self.state.settled.submitted(seq);
        }
        let guild = peek.guild_id.map_or(0, Id::number);
        if let Lane::Channel(channel) = lane
            && self.state.backfill.holds(channel)
            && let Some(text) = message.as_text()
        {
            let held = Held { channel, guild, kind: kind.to_owned(), text: text.to_owned(), context, mark, posted };
            return self.hold(held, host);
        }
        let taken = host.submit_signal(index, kind, &lane.name(), &context, mark.as_deref());
        self.taken(taken, kind, mark.as_deref(), host)?;
        if let (Lane::Channel(channel), Some(id)) = (lane, posted) {
            self.state.watermarks.see(channel, guild, id);
        }
        match lane {
            Lane::Guild(guild) if startup => self.look_for_gaps(guild, payload, host),
            _ => Ok(()),
        }
    }

    /// A frame that nobody can read is submitted all the same: it ends in the dead letters, where somebody sees it.
    pub(super) fn unreadable(&mut self, index: u32, host: &mut dyn Host) -> Step {
        let context = self.context(None, false);
        let taken = host.submit_signal(index, UNREADABLE, &Lane::Session.name(), &context, None);
        self.taken(taken, UNREADABLE, None, host)
    }

    /// What the host said to a submit. One that is too large can never be taken, and is counted as gone; anything else
    /// ends the session before its checkpoint moves on, so that Discord sends it again.
    pub(super) fn taken(
        &mut self,
        outcome: Result<(), Fault>,
        kind: &str,
        mark: Option<&str>,
        host: &mut dyn Host,
    ) -> Step {
        match outcome {
            Ok(()) => Ok(()),
            Err(Fault::Invalid(why)) => {
                mark.into_iter().for_each(|mark| self.settled(mark));
                let fields = [("kind", kind), ("why", why.as_str())];
                host.log(Level::Error, "dispatch dropped: the host can't take it", &fields);
                Ok(())
            }
            Err(fault) => Err(SessionFault::Transient(format!("submit of {kind} failed: {}", fault.text()))),
        }
    }

    /// Everything in it is checked: ids are digits, and a session id is letters and digits.
    fn context(&self, seq: Option<u64>, startup: bool) -> String {
        let mut context = self.who_we_are();
        if let (Some(session), Some(seq)) = (&self.state.session, seq) {
            // Writing to a string can't fail.
            let _ = write!(context, r#","session":"{}","seq":{seq}"#, session.id);
        }
        if startup {
            context.push_str(r#","startup":true"#);
        }
        context.push('}');
        context
    }

    /// The beginning of a context: an object that is still open.
    pub(super) fn who_we_are(&self) -> String {
        let mut context = String::with_capacity(192);
        let Some(me) = &self.state.me else {
            context.push_str(r#"{"self":null"#);
            return context;
        };
        let _ = write!(context, r#"{{"self":"{}""#, me.user);
        if let Some(application) = &me.application {
            let _ = write!(context, r#","app":"{application}""#);
        }
        context
    }

    fn watch_content(&mut self, message: &Message<'_>, host: &mut dyn Host) {
        let me = self.state.me.as_ref().and_then(|me| Id::parse(&me.user));
        match self.state.content.see(message, me) {
            Some(Change::Withheld) => {
                host.report(Condition::Degraded(content::notice(self.config.intents)));
            }
            Some(Change::Readable) => host.report(Condition::Ready),
            None => {}
        }
    }

    /// Keeps count of guilds. Says whether this is a guild that was expected.
    fn guild_changed(&mut self, kind: &str, peek: &Peek<'_>, host: &mut dyn Host) -> bool {
        let Some(guild) = peek.id.map(|id| id.number()) else {
            return false;
        };
        match kind {
            "GUILD_CREATE" if self.state.expected.remove(&guild) => return true,
            "GUILD_CREATE" => self.state.guilds = self.state.guilds.saturating_add(1),
            "GUILD_DELETE" if peek.unavailable == Some(true) => {
                if fits(self.state.expected.len()) {
                    self.state.expected.insert(guild);
                }
                return false;
            }
            "GUILD_DELETE" => self.state.guilds = self.state.guilds.saturating_sub(1),
            _ => return false,
        }
        host.metadata(&format!(r#"{{"guilds":{}}}"#, self.state.guilds));
        false
    }
}
