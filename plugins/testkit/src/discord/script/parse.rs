//! From JSON to a script: shape first, then sense. All problems are reported at once, each with what to change.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Action, Moment, Pace, Rest, Script, SessionStarts, Start, Step, Times, When};
use crate::discord::close::Code;
use crate::discord::intents;
use crate::discord::snowflake::Id;
use crate::discord::world::World;

const TRIGGERS: [&str; 4] = ["after_messages", "every_messages", "after_ms", "on"];

/// Larger frames than this no client accepts by default.
const OVERSIZED_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bounds on the size of the world: READY and the GUILD_CREATEs have to stay frames of ordinary size.
const GUILDS_MAX: u64 = 200;
const CHANNELS_MAX: u64 = 500;
const AUTHORS_MAX: u64 = 10_000;

/// Why a script can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Not JSON, or not the shape of a script.
    #[error("the script can't be read: {0}")]
    Shape(#[from] serde_json::Error),
    /// It makes no sense.
    #[error("the script can't be used:\n  {}", .problems.join("\n  "))]
    Sense {
        /// One line each: where, what, and what to change.
        problems: Vec<String>,
    },
}

/// The file as it is written. A script is this, checked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    seed: u64,
    guilds: u64,
    channels: u64,
    authors: u64,
    rate: Pace,
    messages: Option<u64>,
    start: Start,
    heartbeat_interval_ms: u64,
    resume_window_ms: u64,
    replay_max: usize,
    unsent_max: usize,
    history_max: usize,
    session_starts: SessionStarts,
    disallowed_intents: u64,
    rest: Rest,
    steps: Vec<Map<String, Value>>,
}

impl Default for File {
    fn default() -> Self {
        let script = Script::default();
        Self {
            seed: script.seed,
            guilds: script.guilds,
            channels: script.channels,
            authors: script.authors,
            rate: script.rate,
            messages: script.messages,
            start: script.start,
            heartbeat_interval_ms: script.heartbeat_interval_ms,
            resume_window_ms: script.resume_window_ms,
            replay_max: script.replay_max,
            unsent_max: script.unsent_max,
            history_max: script.history_max,
            session_starts: script.session_starts,
            disallowed_intents: script.disallowed_intents,
            rest: script.rest,
            steps: Vec::new(),
        }
    }
}

pub(super) fn script(text: &str) -> Result<Script, ScriptError> {
    let file: File = serde_json::from_str(text)?;
    Script::try_from(file)
}

impl TryFrom<File> for Script {
    type Error = ScriptError;

    fn try_from(file: File) -> Result<Self, ScriptError> {
        let mut problems = Vec::new();
        let mut steps = Vec::new();
        for (index, fields) in file.steps.into_iter().enumerate() {
            let name = fields.get("do").and_then(Value::as_str).unwrap_or("?").to_owned();
            match step(fields) {
                Ok(step) => steps.push(step),
                Err(problem) => problems.push(format!("step {} (`{name}`): {problem}", index + 1)),
            }
        }
        let script = Self {
            seed: file.seed,
            guilds: file.guilds,
            channels: file.channels,
            authors: file.authors,
            rate: file.rate,
            messages: file.messages,
            start: file.start,
            heartbeat_interval_ms: file.heartbeat_interval_ms,
            resume_window_ms: file.resume_window_ms,
            replay_max: file.replay_max,
            unsent_max: file.unsent_max,
            history_max: file.history_max,
            session_starts: file.session_starts,
            disallowed_intents: file.disallowed_intents,
            rest: file.rest,
            steps,
        };
        problems.extend(script.settings_problems());
        if problems.is_empty() { Ok(script) } else { Err(ScriptError::Sense { problems }) }
    }
}

impl Script {
    /// Checks what a script made in code could get wrong as well.
    pub(crate) fn check(&self) -> Result<(), ScriptError> {
        let numbered = self.steps.iter().enumerate();
        let steps = numbered.filter_map(|(index, step)| Some(format!("step {}: {}", index + 1, step_problem(step)?)));
        let problems: Vec<String> = steps.chain(self.settings_problems()).collect();
        if problems.is_empty() { Ok(()) } else { Err(ScriptError::Sense { problems }) }
    }

    fn settings_problems(&self) -> Vec<String> {
        let within = |name: &str, value: u64, least: u64, most: u64| {
            (!(least..=most).contains(&value)).then(|| format!("`{name}` is {value}: use {least} to {most}"))
        };
        let rate = match self.rate {
            Pace::PerSecond(rate) if !rate.is_finite() || rate <= 0.0 => {
                Some(format!("`rate` is {rate}: use a number above 0, or \"burst\"; for silence set `messages` to 0"))
            }
            Pace::PerSecond(_) | Pace::Burst => None,
        };
        let unprivileged = self.disallowed_intents & !intents::PRIVILEGED;
        let disallowed = (unprivileged != 0).then(|| {
            let allowed = intents::PRIVILEGED;
            format!("`disallowed_intents` has the bits {unprivileged}: only privileged ones can be disallowed, a subset of {allowed}")
        });
        let starts = self.session_starts;
        let overdrawn = (starts.remaining > starts.total).then(|| {
            format!("`session_starts.remaining` is {}: use at most `total`, {}", starts.remaining, starts.total)
        });
        let checks = [
            within("guilds", self.guilds, 1, GUILDS_MAX),
            within("channels", self.channels, 1, CHANNELS_MAX),
            within("authors", self.authors, 1, AUTHORS_MAX),
            within("heartbeat_interval_ms", self.heartbeat_interval_ms, 1, u64::from(u32::MAX)),
            within("replay_max", self.replay_max as u64, 1, u64::from(u32::MAX)),
            within("unsent_max", self.unsent_max as u64, 1, self.replay_max as u64),
            within("session_starts.max_concurrency", u64::from(starts.max_concurrency), 1, 64),
            rate,
            disallowed,
            overdrawn,
        ];
        let mut problems: Vec<String> = checks.into_iter().flatten().chain(self.rest.problems()).collect();
        if problems.is_empty() {
            problems.extend(self.strangers());
        }
        problems
    }

    /// What names somebody or a channel that is not there. Only for a world whose size makes sense.
    fn strangers(&self) -> Vec<String> {
        let named: Vec<(usize, Named)> =
            self.steps.iter().enumerate().filter_map(|(index, step)| Some((index, Named::of(&step.action)?))).collect();
        if named.is_empty() && !self.rest.names_anybody() {
            return Vec::new();
        }
        let world = World::new(self.guilds, self.channels, self.authors, self.history_max);
        let steps = named.into_iter().filter_map(|(index, named)| {
            let problem = named.problem(&world)?;
            Some(format!("step {}: {problem}", index + 1))
        });
        self.rest.strangers(&world).into_iter().chain(steps).collect()
    }
}

/// Whom or what an action names.
enum Named {
    Somebody(Id),
    Channel(Id),
}

impl Named {
    fn of(action: &Action) -> Option<Self> {
        match action {
            Action::CloseDms { user } | Action::OpenDms { user } => Some(Self::Somebody(*user)),
            Action::DenyAccess { channel } | Action::DenySend { channel } | Action::Allow { channel } => {
                Some(Self::Channel(*channel))
            }
            _ => None,
        }
    }

    fn problem(&self, world: &World) -> Option<String> {
        match self {
            Self::Somebody(user) => world.author(*user).is_none().then(|| format!("nobody here has the id {user}")),
            Self::Channel(channel) => {
                world.channel(*channel).is_none().then(|| format!("there is no channel {channel}"))
            }
        }
    }
}

fn step(mut fields: Map<String, Value>) -> Result<Step, String> {
    let when = when(&mut fields)?;
    let action: Action = serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())?;
    let step = Step { when, action };
    step_problem(&step).map_or(Ok(step), Err)
}

fn when(fields: &mut Map<String, Value>) -> Result<When, String> {
    let given: Vec<(&str, Value)> = TRIGGERS.iter().filter_map(|name| Some((*name, fields.remove(*name)?))).collect();
    let times = fields.remove("times");
    let [(name, value)] = given.as_slice() else {
        let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        return Err(format!("give exactly one of {}; it has [{}]", TRIGGERS.join(", "), names.join(", ")));
    };
    if *name == "on" {
        let moment: Moment = serde_json::from_value(value.clone()).map_err(|error| format!("`on`: {error}"))?;
        let times = times.map_or(Ok(Times::Count(1)), |times| Times::read("times", &times))?;
        return Ok(When::On { moment, times });
    }
    if times.is_some() {
        return Err("`times` goes with `on` only: use `every_messages` to repeat by count".to_owned());
    }
    let number = value.as_u64().ok_or_else(|| format!("`{name}` is {value}: use a whole number"))?;
    Ok(match *name {
        "after_messages" => When::AfterMessages(number),
        "every_messages" => When::EveryMessages(number),
        _ => When::AfterMs(number),
    })
}

fn step_problem(step: &Step) -> Option<String> {
    let due = match step.when {
        When::AfterMessages(0) | When::EveryMessages(0) => {
            Some("its message count is 0: use 1 or more, or `on` \"ready\" for the beginning".to_owned())
        }
        When::On { moment: Moment::Identify, .. } => {
            let answers = matches!(
                step.action,
                Action::Close { .. } | Action::InvalidSession { .. } | Action::Drop {} | Action::SlowClose { .. }
            );
            (!answers).then(|| {
                "`on` \"identify\" replaces the answer: use close, invalid-session, drop or slow-close, or `on` \"ready\""
                    .to_owned()
            })
        }
        _ => None,
    };
    due.or_else(|| action_problem(&step.action))
}

fn action_problem(action: &Action) -> Option<String> {
    match action {
        Action::Close { code } | Action::SlowClose { code, .. } if !Code(*code).sendable() => Some(format!(
            "`code` {code} can't stand in a close frame: use 1000-1003, 1007-1014 or 3000-4999, or `drop` for none"
        )),
        Action::RefuseUpgrades { status, .. } if !(400..600).contains(status) => {
            Some(format!("`status` {status} is no refusal: use 400 to 599"))
        }
        Action::OversizedFrame { bytes } if *bytes > OVERSIZED_BYTES_MAX => {
            Some(format!("`bytes` is {bytes}: use at most {OVERSIZED_BYTES_MAX}"))
        }
        Action::WithholdAcks { count: 0 }
        | Action::RefuseUpgrades { count: 0, .. }
        | Action::HelloDelay { count: 0, .. } => Some("`count` is 0: use 1 or more".to_owned()),
        Action::DuplicateReplay { dispatches: 0 } => Some("`dispatches` is 0: use 1 or more".to_owned()),
        Action::Flood { messages: 0, .. } => Some("`messages` is 0: use 1 or more".to_owned()),
        Action::Flood { per_second: Some(0), .. } => {
            Some("`per_second` is 0: use 1 or more, or leave it out for as fast as possible".to_owned())
        }
        Action::RestFault(fault) => fault.problem(),
        Action::RestLimits(limits) => limits.problems().into_iter().next(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> String {
        script(text).unwrap_err().to_string()
    }

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(script("{}").unwrap(), Script::default());
    }

    #[test]
    fn every_action_survives_the_way_out_and_back() {
        let text = r#"{ "rate": "burst", "messages": 10, "session_starts": { "every_ms": 5000 }, "steps": [
            { "after_messages": 1, "do": "reconnect" },
            { "every_messages": 5, "do": "invalid-session", "resumable": true },
            { "after_ms": 5, "do": "drop" },
            { "on": "identify", "times": 2, "do": "close", "code": 4014 },
            { "on": "ready", "times": "always", "do": "slow-close", "ms": 10 },
            { "on": "resumed", "do": "withhold-acks", "count": 1 },
            { "after_messages": 2, "do": "duplicate-replay", "dispatches": 3 },
            { "after_messages": 2, "do": "reorder-replay" },
            { "after_messages": 2, "do": "flood", "messages": 10, "per_second": 100 },
            { "after_messages": 2, "do": "forget-session" },
            { "after_messages": 2, "do": "oversized-frame", "bytes": 100 },
            { "after_messages": 2, "do": "refuse-upgrades", "status": 503, "count": 2 },
            { "after_messages": 2, "do": "hello-delay", "ms": 10, "count": 1 },
            { "after_messages": 2, "do": "pause", "ms": 10 },
            { "after_messages": 2, "do": "request-heartbeat" },
            { "after_messages": 2, "do": "reset-token" },
            { "after_messages": 2, "do": "rest-fault", "fault": "drip", "every_ms": 5, "count": "always", "method": "GET" },
            { "after_messages": 2, "do": "rest-recover" },
            { "after_messages": 2, "do": "rest-limits", "global": { "requests": 50, "per_ms": 1000 } },
            { "after_messages": 2, "do": "close-dms", "user": "USER" },
            { "after_messages": 2, "do": "open-dms", "user": "USER" },
            { "after_messages": 2, "do": "deny-access", "channel": "CHANNEL" },
            { "after_messages": 2, "do": "deny-send", "channel": "CHANNEL" },
            { "after_messages": 2, "do": "allow", "channel": "CHANNEL" }
        ] }"#;
        let world = World::new(1, 1, 1, 1);
        let (user, channel) = (world.authors[0].id, world.guilds[0].channels[0]);
        let text = text.replace("USER", &user.to_string()).replace("CHANNEL", &channel.to_string());
        let parsed = script(&text).unwrap();
        assert_eq!(parsed.steps.len(), 24);
        assert_eq!(script(&serde_json::to_string(&parsed).unwrap()).unwrap(), parsed);
    }

    #[test]
    fn problems_name_the_step_and_what_to_change() {
        let cases = [
            (r#"{ "after_messages": 1, "do": "recconect" }"#, "step 1 (`recconect`): unknown variant"),
            (r#"{ "after_messages": 1, "do": "close" }"#, "step 1 (`close`): missing field `code`"),
            (r#"{ "after_messages": 1, "do": "drop", "code": 1 }"#, "unknown field `code`"),
            (r#"{ "after_messages": 1, "do": "close", "code": 1006 }"#, "can't stand in a close frame: use 1000-1003"),
            (r#"{ "after_messages": 1, "after_ms": 1, "do": "drop" }"#, "exactly one of"),
            (r#"{ "do": "drop" }"#, "exactly one of"),
            (r#"{ "after_ms": "soon", "do": "drop" }"#, "use a whole number"),
            (r#"{ "on": "identify", "do": "flood", "messages": 1 }"#, "replaces the answer"),
            (r#"{ "on": "ready", "times": 0, "do": "drop" }"#, "from 1, or \"always\""),
            (r#"{ "after_ms": 1, "times": 2, "do": "drop" }"#, "goes with `on` only"),
            (r#"{ "every_messages": 0, "do": "drop" }"#, "message count is 0"),
            (r#"{ "after_ms": 1, "do": "refuse-upgrades", "status": 200, "count": 1 }"#, "use 400 to 599"),
            (
                r#"{ "after_ms": 1, "do": "rest-fault", "fault": "cut", "count": 0 }"#,
                "`count` is 0: use a number from 1",
            ),
            (r#"{ "after_ms": 1, "do": "rest-fault", "fault": "cut", "method": "get" }"#, "use one of GET"),
            (r#"{ "after_ms": 1, "do": "rest-fault", "fault": "cut", "bytes": 5 }"#, "unknown field `bytes`"),
            (
                r#"{ "after_ms": 1, "do": "rest-limits", "routes": [{ "requests": 0, "per_ms": 1 }] }"#,
                "route 1: the limit",
            ),
            (r#"{ "after_ms": 1, "do": "rest-limits", "route": [] }"#, "unknown field `route`"),
            (r#"{ "after_ms": 1, "do": "close-dms", "user": "5" }"#, "step 1: nobody here has the id 5"),
            (r#"{ "after_ms": 1, "do": "deny-send", "channel": "5" }"#, "step 1: there is no channel 5"),
        ];
        for (step, expected) in cases {
            let found = problems(&format!(r#"{{ "steps": [{step}] }}"#));
            assert!(found.contains(expected), "{step}: {found}");
        }
    }

    #[test]
    fn all_problems_come_at_once() {
        let found =
            problems(r#"{ "rate": 0, "guilds": 0, "steps": [{ "do": "drop" }, { "after_ms": 1, "do": "x" }] }"#);
        for expected in ["step 1", "step 2", "`rate`", "`guilds`"] {
            assert!(found.contains(expected), "{expected}: {found}");
        }
    }

    #[test]
    fn the_rest_api_is_checked_as_well() {
        let found = problems(
            r#"{ "rest": { "limits": { "global": { "requests": 0, "per_ms": 1 }, "routes": [
            { "requests": 5, "per_ms": 1000, "scope": "global" }] }, "faults": [{ "fault": "cut", "path": "x" }] } }"#,
        );
        for expected in
            ["`rest.limits`: the global limit is 0", "route 1: `scope` is \"global\"", "`rest.faults` 1 (`cut`)"]
        {
            assert!(found.contains(expected), "{expected}: {found}");
        }
        let found = problems(r#"{ "rest": { "closed_dms": ["5"], "no_access": ["6"], "no_send": ["7"] } }"#);
        for expected in ["`rest.closed_dms` has 5", "`rest.no_access` has 6", "`rest.no_send` has 7"] {
            assert!(found.contains(expected), "{expected}: {found}");
        }
        assert!(problems(r#"{ "rest": { "limit": 1 } }"#).contains("unknown field `limit`"));
    }

    #[test]
    fn unknown_keys_are_errors() {
        assert!(problems(r#"{ "ratte": 1 }"#).contains("unknown field `ratte`"));
        assert!(problems(r#"{ "session_starts": { "x": 1 } }"#).contains("unknown field `x`"));
    }

    #[test]
    fn scripts_made_in_code_are_checked_too() {
        let step = Step { when: When::AfterMs(1), action: Action::Close { code: 1005 } };
        let script = Script { steps: vec![step], ..Script::default() };
        assert!(script.check().unwrap_err().to_string().contains("step 1"));
    }
}
