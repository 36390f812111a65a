//! How many requests the REST API takes: the settings. What is done with them is in `rest/limiter`.

use serde::{Deserialize, Serialize};

use super::pattern::Pattern;

/// How many requests the REST API takes. Empty unless a script says otherwise: nobody is told to slow down.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Over all routes; Discord has 50 a second. Requests that some other limit refuses count too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global: Option<Allowance>,
    /// By route. The first that matches holds, one of scope `user` and one of scope `shared`.
    pub routes: Vec<RouteLimit>,
}

/// So many requests in so long. The time begins with the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// How many.
    pub requests: u32,
    /// In how long, in milliseconds.
    pub per_ms: u64,
}

/// The limit of some routes. Each route has a bucket of its own, and in it each channel or guild is counted for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteLimit {
    /// The method; any unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The path below the version; `*` is one segment, `**` all that follow. Any unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many requests.
    pub requests: u32,
    /// In how long, in milliseconds.
    pub per_ms: u64,
    /// Whose limit it is: `user` unless given, or `shared`.
    #[serde(default)]
    pub scope: LimitScope,
    /// The `code` that a refusal carries: 20028 for the write limit of a channel, 40062 for a resource of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u32>,
}

/// Whose limit it is, as `X-RateLimit-Scope` says.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitScope {
    /// The bot's, for one bucket.
    #[default]
    User,
    /// The bot's, for everything.
    Global,
    /// Everybody's who uses the resource. Being refused here is nobody's fault: it is no invalid request.
    Shared,
}

impl LimitScope {
    /// As the header has it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Global => "global",
            Self::Shared => "shared",
        }
    }

    /// From the header.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::User, Self::Global, Self::Shared].into_iter().find(|scope| scope.name() == name)
    }
}

impl Limits {
    pub(crate) fn problems(&self) -> Vec<String> {
        let global = self.global.and_then(|allowance| nothing("global limit", allowance));
        let routes = self.routes.iter().enumerate().filter_map(|(index, route)| {
            let problem = route.problem()?;
            Some(format!("route {}: {problem}", index + 1))
        });
        global.into_iter().chain(routes).collect()
    }
}

impl RouteLimit {
    pub(crate) fn pattern(&self) -> Pattern<'_> {
        Pattern { method: self.method.as_deref(), path: self.path.as_deref() }
    }

    pub(crate) fn allowance(&self) -> Allowance {
        Allowance { requests: self.requests, per_ms: self.per_ms }
    }

    fn problem(&self) -> Option<String> {
        if self.scope == LimitScope::Global {
            return Some("`scope` is \"global\": write it as `global` beside `routes`".to_owned());
        }
        nothing("limit", self.allowance()).or_else(|| self.pattern().problem())
    }
}

fn nothing(name: &str, allowance: Allowance) -> Option<String> {
    let Allowance { requests, per_ms } = allowance;
    (requests == 0 || per_ms == 0)
        .then(|| format!("the {name} is {requests} requests in {per_ms} ms: use 1 or more of both"))
}
