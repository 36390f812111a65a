//! What clients say: frames to commands, with the close code for what can't be understood.

use serde_json::Value;

use super::close::Code;

/// Longest frame that a client may send; Discord closes with 4002 above it.
const COMMAND_BYTES_MAX: usize = 4096;

const HEARTBEAT: u64 = 1;
const IDENTIFY: u64 = 2;
const RESUME: u64 = 6;
/// Presence update, voice state update, request guild members, request soundboard sounds: accepted without an effect.
const ACCEPTED: [u64; 4] = [3, 4, 8, 31];

pub(crate) const ACK: &str = r#"{"t":null,"s":null,"op":11,"d":null}"#;
pub(crate) const REQUEST_HEARTBEAT: &str = r#"{"t":null,"s":null,"op":1,"d":null}"#;
pub(crate) const RECONNECT: &str = r#"{"t":null,"s":null,"op":7,"d":null}"#;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Heartbeat(Option<u64>),
    Identify(Identify),
    Resume(Resume),
    /// Understood, and without an effect here.
    Ignored,
}

#[derive(PartialEq, Eq)]
pub(crate) struct Identify {
    pub(crate) token: String,
    /// None when there was none, or no whole number.
    pub(crate) intents: Option<u64>,
    /// Shard id and number of shards.
    pub(crate) shard: (u64, u64),
}

#[derive(PartialEq, Eq)]
pub(crate) struct Resume {
    pub(crate) token: String,
    pub(crate) session: String,
    pub(crate) seq: u64,
}

impl std::fmt::Debug for Identify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identify").field("intents", &self.intents).field("shard", &self.shard).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Resume {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resume").field("session", &self.session).field("seq", &self.seq).finish_non_exhaustive()
    }
}

pub(crate) fn hello(interval_ms: u64) -> String {
    format!(
        r#"{{"t":null,"s":null,"op":10,"d":{{"heartbeat_interval":{interval_ms},"_trace":["[\"jackfield-testkit\"]"]}}}}"#
    )
}

pub(crate) fn invalid_session(resumable: bool) -> String {
    format!(r#"{{"t":null,"s":null,"op":9,"d":{resumable}}}"#)
}

pub(crate) fn parse(text: &str) -> Result<Command, Code> {
    if text.len() > COMMAND_BYTES_MAX {
        return Err(Code::DECODE_ERROR);
    }
    let frame: Value = serde_json::from_str(text).map_err(|_| Code::DECODE_ERROR)?;
    let op = frame.get("op").and_then(Value::as_u64).ok_or(Code::DECODE_ERROR)?;
    let data = frame.get("d").unwrap_or(&Value::Null);
    let command = match op {
        HEARTBEAT if data.is_null() => Some(Command::Heartbeat(None)),
        HEARTBEAT => data.as_u64().map(|seq| Command::Heartbeat(Some(seq))),
        IDENTIFY => identify(data)?.map(Command::Identify),
        RESUME => resume(data).map(Command::Resume),
        op if ACCEPTED.contains(&op) => Some(Command::Ignored),
        _ => return Err(Code::UNKNOWN_OPCODE),
    };
    command.ok_or(Code::DECODE_ERROR)
}

fn identify(data: &Value) -> Result<Option<Identify>, Code> {
    let token = data.get("token").and_then(Value::as_str);
    let properties = data.get("properties").and_then(Value::as_object);
    let (Some(token), Some(_)) = (token, properties) else { return Ok(None) };
    let shard = match data.get("shard") {
        None | Some(Value::Null) => (0, 1),
        Some(shard) => serde_json::from_value(shard.clone()).map_err(|_| Code::INVALID_SHARD)?,
    };
    let intents = data.get("intents").and_then(Value::as_u64);
    Ok(Some(Identify { token: token.to_owned(), intents, shard }))
}

fn resume(data: &Value) -> Option<Resume> {
    let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Resume { token: text("token")?, session: text("session_id")?, seq: data.get("seq")?.as_u64()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> u16 {
        parse(text).unwrap_err().0
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(parse(r#"{"op":1,"d":null}"#), Ok(Command::Heartbeat(None)));
        assert_eq!(parse(r#"{"op":1,"d":251}"#), Ok(Command::Heartbeat(Some(251))));
        assert_eq!(parse(r#"{"op":3,"d":{}}"#), Ok(Command::Ignored));
        let resume = parse(r#"{"op":6,"d":{"token":"t","session_id":"s","seq":7}}"#);
        assert_eq!(resume, Ok(Command::Resume(Resume { token: "t".into(), session: "s".into(), seq: 7 })));
        let identify = parse(r#"{"op":2,"d":{"token":"t","intents":513,"properties":{},"shard":[1,2]}}"#);
        assert_eq!(identify, Ok(Command::Identify(Identify { token: "t".into(), intents: Some(513), shard: (1, 2) })));
    }

    #[test]
    fn what_cannot_be_understood_has_its_close_code() {
        let long = format!(r#"{{"op":1,"d":null,"x":"{}"}}"#, "x".repeat(COMMAND_BYTES_MAX));
        for text in ["", "[", "{}", "[1]", r#"{"op":"1"}"#, r#"{"op":1,"d":"x"}"#, r#"{"op":6,"d":{}}"#, &long] {
            assert_eq!(refused(text), 4002, "{text}");
        }
        assert_eq!(refused(r#"{"op":2,"d":{"token":"t","intents":1}}"#), 4002, "properties are required");
        assert_eq!(refused(r#"{"op":2,"d":{"token":"t","properties":{},"shard":[0]}}"#), 4010);
        for op in [0, 5, 7, 9, 10, 11, 99] {
            assert_eq!(refused(&format!(r#"{{"op":{op},"d":null}}"#)), 4001, "{op}");
        }
    }

    #[test]
    fn tokens_stay_out_of_debug_output() {
        let command = parse(r#"{"op":2,"d":{"token":"tell-nobody","intents":1,"properties":{}}}"#).unwrap();
        assert!(!format!("{command:?}").contains("tell-nobody"));
    }
}
