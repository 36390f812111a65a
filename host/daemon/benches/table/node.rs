//! P3: the same transform in Node.js, by processor time. Node's helper threads count, and so do the engine's.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use jackfield_model::event::Answer;
use jackfield_model::{Dispatch, Event};
use serde_json::Value;

use crate::component::{BATCH, Bench, batch, pool};
use crate::contest::{self, SHORT};
use crate::message;
use crate::processor::process_time;
use crate::table::{Goal, Row, Section, Unit};

const MEASURE: &str = "P3 transform against Node.js, events a CPU second";
const GOAL: Goal = Goal::AtLeast(10.0);

/// Messages that Node.js turns before anything counts: by then its compiler has done what it does.
const WARM_UP: u64 = 50_000;

/// Measures it.
pub(crate) fn measure(bench: &Bench) -> Result<Section> {
    let dispatches: Vec<Dispatch> = (0..BATCH).map(message::dispatch).collect();
    let Some(mut node) = Node::start(&dispatches)? else {
        let row = Row::missing(MEASURE, GOAL, "node is not installed");
        return Ok(Section { rows: vec![row], notes: Vec::new() });
    };
    let pool = pool(&bench.discord);
    let batch = batch();
    let answers = bench.runtime.block_on(pool.transform(&batch))?;
    ensure_same(&node.events, answers)?;
    node.turn(WARM_UP)?;
    let ours = Box::new(|batches: u32| {
        bench.runtime.block_on(async {
            let begun = process_time();
            for _ in 0..batches {
                pool.transform(&batch).await?;
            }
            Ok(process_time() - begun)
        })
    });
    let other = Box::new(|batches: u32| node.turn(u64::from(batches) * BATCH));
    let outcome = contest::run(SHORT, ours, other)?.per(BATCH);
    let mut section = Section { rows: vec![Row::compared(MEASURE, &outcome, Unit::Rate, GOAL)], notes: Vec::new() };
    section.note_control("P3", &outcome);
    section.notes.push(format!("P3: Node.js {}, both sides answer the same events", node.version));
    Ok(section)
}

struct Node {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    version: String,
    events: Vec<Value>,
}

impl Node {
    /// `None` where there is no Node.js.
    fn start(dispatches: &[Dispatch]) -> Result<Option<Self>> {
        let version = match Command::new("node").arg("--version").output() {
            Ok(version) => String::from_utf8(version.stdout).context("read the version of Node.js")?.trim().to_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context("run node"),
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/table/transform.mjs");
        let mut child = Command::new("node")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("start node")?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { bail!("node has no pipes") };
        let mut node = Self { child, input, output: BufReader::new(output), version, events: Vec::new() };
        let received: Vec<Value> = dispatches
            .iter()
            .map(|dispatch| {
                let (payload, context) = (dispatch.payload.as_str(), &dispatch.context);
                serde_json::json!({ "payload": payload, "context": context, "receivedAt": message::RECEIVED_AT })
            })
            .collect();
        let answer = node.ask(&serde_json::to_string(&received)?)?;
        node.events = serde_json::from_str(&answer).context("read the events of node")?;
        Ok(Some(node))
    }

    fn ask(&mut self, line: &str) -> Result<String> {
        writeln!(self.input, "{line}").context("write to node")?;
        let mut answer = String::new();
        ensure!(self.output.read_line(&mut answer).context("read from node")? > 0, "node ended: see above for why");
        Ok(answer)
    }

    /// Turns so many messages. The processor time that it took.
    fn turn(&mut self, messages: u64) -> Result<Duration> {
        let micros = self.ask(&messages.to_string())?;
        Ok(Duration::from_micros(micros.trim().parse().context("read a time from node")?))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Nothing depends on how it ends.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A comparison with something that does less would be none.
fn ensure_same(theirs: &[Value], ours: Vec<Answer>) -> Result<()> {
    ensure!(theirs.len() == ours.len(), "node answered {} of {} messages", theirs.len(), ours.len());
    for (theirs, ours) in theirs.iter().zip(ours) {
        let Answer::Events(events) = ours else { bail!("the connector made no event of a message: {ours:?}") };
        let [event] = <[Event; 1]>::try_from(events)
            .map_err(|events| anyhow::anyhow!("{} events of one message", events.len()))?;
        let (ours, theirs) = (plain(serde_json::to_value(&event)?)?, plain(theirs.clone())?);
        ensure!(ours == theirs, "the two sides do not say the same:\nours  {ours}\nnode  {theirs}");
    }
    Ok(())
}

/// With JSON inside strings read, so that the order of keys does not count.
fn plain(mut event: Value) -> Result<Value> {
    for at in ["/properties", "/subject/properties"] {
        if let Some(inside) = event.pointer_mut(at)
            && let Some(text) = inside.as_str()
        {
            *inside = serde_json::from_str(text).context("read properties")?;
        }
    }
    Ok(event)
}
