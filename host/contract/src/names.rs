//! The names in the contract, for refusals that say what is missing and what comes nearest.

/// The package, without its version.
pub const PACKAGE: &str = "jackfield:connector";

/// The version of the newest track that this host speaks. A component made for another patch of it fits as long as every
/// function that it imports is there.
pub const VERSION: &str = "0.1.0";

/// One interface and its functions, as they are written in a component.
pub type Interface = (&'static str, &'static [&'static str]);

/// What the host supplies.
pub const IMPORTS: &[Interface] = &[
    ("connection", &["id", "config"]),
    ("contacts", &["resolve"]),
    ("http", &["send", "reserve", "left"]),
    ("ingest", &["submit", "submit-signal"]),
    ("lease", &["[method]guard.fence", "[method]guard.renew", "try-acquire"]),
    ("log", &["write"]),
    (
        "session",
        &[
            "open",
            "send",
            "close",
            "set-timer",
            "cancel-timer",
            "fetch",
            "cancel-fetch",
            "report",
            "spend-start",
            "starts-left",
            "metadata",
        ],
    ),
    ("signatures", &["verify", "equals", "sign"]),
    ("state", &["get", "set", "delete"]),
    ("types", &[]),
];

/// What a connector can export.
pub const EXPORTS: &[Interface] = &[
    ("action", &["describe", "run"]),
    ("connector", &["describe"]),
    ("runtime", &["start", "handle", "checkpoint"]),
    ("transform", &["transform"]),
    ("webhook", &["receive"]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    /// Interfaces and functions as the WIT says them: names alone, by line.
    fn written() -> BTreeMap<String, Vec<String>> {
        let mut interfaces = BTreeMap::new();
        for file in fs::read_dir("../../wit/v0").unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            let (mut interface, mut resource) = (None, None);
            for line in text.lines() {
                if let Some(name) = line.strip_prefix("interface ").and_then(|rest| rest.strip_suffix(" {")) {
                    interface = Some(name.to_owned());
                    interfaces.insert(name.to_owned(), Vec::new());
                } else if let Some(name) = line.trim().strip_prefix("resource ") {
                    resource = name.strip_suffix(" {").map(str::to_owned);
                } else if line == "  }" {
                    resource = None;
                } else if let Some((name, _)) = line.trim().split_once(": func(") {
                    let name =
                        resource.as_ref().map_or_else(|| name.to_owned(), |of: &String| format!("[method]{of}.{name}"));
                    interfaces.get_mut(interface.as_ref().unwrap()).unwrap().push(name);
                }
            }
        }
        interfaces
    }

    #[test]
    fn are_those_of_the_contract() {
        let listed = IMPORTS.iter().chain(EXPORTS).map(|(name, functions)| {
            let mut functions: Vec<_> = functions.iter().map(|&f| f.to_owned()).collect();
            functions.sort();
            ((*name).to_owned(), functions)
        });
        let mut written = written();
        written.values_mut().for_each(|functions| functions.sort());
        assert_eq!(listed.collect::<BTreeMap<_, _>>(), written);
    }
}
