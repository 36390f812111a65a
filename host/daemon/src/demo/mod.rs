//! The demo: the whole way, on this machine alone. A connector is built, a double of Discord plays thousands of messages
//! and forces a reconnect on the way, a host with the embedded store takes them in and answers some of them, and in the end
//! the double's log is compared with the event log, message by message, and with the answers.
//!
//! Nothing is simplified for it: the connector is the one for the real platform, and the host reads a configuration file
//! like any other, in which `connect` leads Discord's origins to the double.

mod account;
mod answers;
mod connector;
mod folder;

use std::process::ExitCode;
use std::time::Duration;

use jackfield_model::clock;
use jackfield_store::Stores;
use jackfield_store::event::{Filter, Record};
use jackfield_testkit::discord::{Action, Double, Options, Pace, Script, Step, When};

use self::account::Account;
use self::answers::Answers;
use self::folder::Folder;
use crate::cli::{Demo, Failure, Printer, Progress};
use crate::config::{Environment, Problems};
use crate::serve::signal::Ending;
use crate::serve::{GRACE, Running};

/// Messages a second: quick, and slow enough that the reconnect happens while they come.
const PACE: f64 = 800.0;

/// Without a new message or event for so long the demo gives up. Generous: a busy machine compiles the connector meanwhile.
const STALL: Duration = Duration::from_secs(60);

/// Events read at once.
const PAGE: usize = 500;

/// What an event of a new message is called.
const MESSAGE: &str = "message.created";

/// Plays the demo.
pub(crate) async fn run(demo: Demo, printer: &Printer, environment: &Environment) -> Result<ExitCode, Failure> {
    let mut ending = Ending::new().map_err(|error| Failure::failed(format!("listen for signals: {error}")))?;
    let account = tokio::select! {
        account = play(&demo, *printer, environment) => account?,
        name = ending.next() => return Err(Failure::failed(format!("{name}: the demo was ended before its account"))),
    };
    printer.result(&account, || account.to_string())?;
    Ok(if account.is_whole() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn play(demo: &Demo, printer: Printer, environment: &Environment) -> Result<Account, Failure> {
    let component = match &demo.connector {
        Some(component) => std::path::absolute(component)
            .map_err(|error| Failure::failed(format!("{}: {error}", component.display())))?,
        None => connector::build(printer, environment).await?,
    };
    let began = clock::system().monotonic();
    let options = Options { script: script(demo), ..Options::default() };
    let double = Double::start(options).await.map_err(|error| Failure::failed(error.to_string()))?;
    let folder = Folder::new(demo.keep.as_deref())?;
    let path = folder.write(&component, &double)?;
    let progress = Progress::line(printer);
    let complain = |problems: &Problems| printer.complain(problems);
    let running = Running::start(&path, environment, &progress, &complain).await?;
    drop(progress);

    let stores = running.host.stores().clone();
    let mut events = Vec::new();
    let mut answers = Answers::new(running.host.clone());
    let followed = follow(&double, &stores, demo.messages, (&mut events, &mut answers), printer).await;
    let answered = answers.finish().await;
    // In order first: what is under way is settled, so an event too many is seen too.
    running.stop(GRACE).await;
    catch_up(&stores, &mut events).await?;
    let dead_letters = stores.dead_letters.count(None).await.map_err(|error| Failure::failed(error.to_string()))?;
    let seconds = clock::system().monotonic().saturating_duration_since(began).as_secs_f64();
    let log = double.log();
    let said = log.read(|record| record.said().iter().map(|said| said.message).collect());
    let rest = account::Rest { dead_letters, answered, said, seconds };
    let account = Account::new(&log.messages(), &events, log.counts(), &rest);
    double.stop().await;
    if let Some(why) = &rest.answered.failed {
        printer.note(&format!("jackfield: an answer was not sent: {why}"));
    }
    if let Err(stalled) = followed {
        printer.note(&format!("jackfield: {stalled}"));
    }
    if let Some(kept) = folder.kept() {
        printer.note(&format!("kept: {}", kept.display()));
    }
    Ok(account)
}

fn script(demo: &Demo) -> Script {
    let halfway = Step { when: When::AfterMessages(demo.messages / 2), action: Action::Reconnect {} };
    Script {
        channels: demo.channels,
        rate: Pace::PerSecond(PACE),
        messages: Some(demo.messages),
        steps: vec![halfway],
        ..Script::default()
    }
}

/// Reads events until there is one for every message, and the reconnect is over; or until nothing moves any more.
async fn follow(
    double: &Double,
    stores: &Stores,
    messages: u64,
    (events, answers): (&mut Vec<Record>, &mut Answers),
    printer: Printer,
) -> Result<(), String> {
    let bar = Progress::bar(printer, messages);
    let mut head = stores.events.head();
    let log = double.log();
    let mut before = (0, 0);
    loop {
        let known = events.len();
        catch_up(stores, events).await.map_err(|_| "the event log can't be read".to_owned())?;
        answers.hear(events.get(known..).unwrap_or_default());
        let counts = log.counts();
        bar.at(events.len() as u64);
        bar.say(if counts.resumed == 0 { "messages to events" } else { "messages to events, resumed" });
        // The bot's own answers come back as messages too, and are no events.
        let written = counts.messages.saturating_sub(counts.said);
        if written >= messages && events.len() as u64 >= written && counts.resumed > 0 {
            return Ok(());
        }
        let now = (counts.sent, events.len());
        let grown = async {
            tokio::select! {
                _ = head.changed() => {}
                _ = log.wait_for(|record| record.counts().sent > counts.sent, STALL) => {}
            }
        };
        if tokio::time::timeout(STALL, grown).await.is_err() && now == before {
            return Err(format!("nothing moved for {STALL:?}: {} of {messages} messages became events", events.len()));
        }
        before = now;
    }
}

/// Reads the events of messages that are new in the log.
async fn catch_up(stores: &Stores, events: &mut Vec<Record>) -> Result<(), Failure> {
    let filter = Filter { name: Some(MESSAGE.to_owned()), ..Filter::default() };
    loop {
        let after = events.last().map_or(0, |record| record.position);
        let page =
            stores.events.page(&filter, after, PAGE).await.map_err(|error| Failure::failed(error.to_string()))?;
        let last = page.len() < PAGE;
        events.extend(page);
        if last {
            return Ok(());
        }
    }
}
