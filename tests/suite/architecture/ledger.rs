//! The two ledgers name what is covered and what is open, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;

use super::source;

/// Cases of the fault ledger.
const FAULTS: usize = 61;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    title: String,
    #[serde(default)]
    tests: Vec<String>,
    open: Option<String>,
}

fn ledger(name: &str) -> BTreeMap<String, Entry> {
    let text = fs::read_to_string(source::root().join("tests").join(name)).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// `file::function` of every test.
fn tests() -> BTreeSet<String> {
    let of =
        |file: &source::File| source::tests(file).into_iter().map(|name| format!("{}::{name}", file.path)).collect();
    source::files().iter().flat_map(|file| -> Vec<String> { of(file) }).collect()
}

/// What is wrong with the entries of a ledger.
fn wrong(ledger: &BTreeMap<String, Entry>, known: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (key, entry) in ledger {
        if entry.title.len() < 20 {
            wrong.push(format!("{key}: no title"));
        }
        if entry.tests.is_empty() && entry.open.as_deref().is_none_or(str::is_empty) {
            wrong.push(format!("{key}: neither tests nor a word on why it is open"));
        }
        for test in entry.tests.iter().filter(|test| !known.contains(*test)) {
            wrong.push(format!("{key}: there is no test {test}"));
        }
    }
    wrong
}

/// Tests named after an entry, by the entry's key: `case_7_…` for 7, `report_w2_…` for W2.
fn unlisted(
    ledger: &BTreeMap<String, Entry>,
    known: &BTreeSet<String>,
    key_of: impl Fn(&str) -> Vec<String>,
) -> Vec<String> {
    let mut unlisted = Vec::new();
    for test in known {
        let name = test.rsplit("::").next().unwrap();
        for key in key_of(name) {
            if !ledger.get(&key).is_some_and(|entry| entry.tests.contains(test)) {
                unlisted.push(format!("{key} does not list {test}"));
            }
        }
    }
    unlisted
}

/// The words that follow `prefix` in a name whose words are joined by `_`.
fn after<'a>(name: &'a str, prefix: &str) -> Vec<&'a str> {
    let words: Vec<&str> = name.split('_').collect();
    words.windows(2).filter(|pair| pair[0] == prefix).map(|pair| pair[1]).collect()
}

#[test]
fn the_fault_ledger_is_complete_and_true() {
    let (ledger, known) = (ledger("faults.toml"), tests());
    let expected: BTreeSet<String> = (1..=FAULTS).map(|number| number.to_string()).collect();
    assert_eq!(ledger.keys().cloned().collect::<BTreeSet<_>>(), expected);
    let mut wrong = wrong(&ledger, &known);
    let number = |word: &str| word.parse::<u32>().ok().map(|number| number.to_string());
    wrong.extend(unlisted(&ledger, &known, |name| after(name, "case").into_iter().filter_map(number).collect()));
    assert!(wrong.is_empty(), "tests/faults.toml:\n{}", wrong.join("\n"));
}

#[test]
fn the_ledger_of_reports_is_complete_and_true() {
    let (ledger, known) = (ledger("reports.toml"), tests());
    let mut wrong = wrong(&ledger, &known);
    wrong.extend(unlisted(&ledger, &known, |name| after(name, "report").into_iter().map(str::to_uppercase).collect()));
    assert!(wrong.is_empty(), "tests/reports.toml:\n{}", wrong.join("\n"));
}

#[test]
fn names_are_cut_into_keys() {
    assert_eq!(after("case_9_and_case_10_in_a_row", "case"), ["9", "10"]);
    assert_eq!(after("showcase_9", "case"), Vec::<&str>::new());
}

#[test]
fn a_ledger_that_is_wrong_is_noticed() {
    let entry = |tests: &[&str], open: Option<&str>| Entry {
        title: "Something that goes wrong somewhere".to_owned(),
        tests: tests.iter().map(|test| (*test).to_owned()).collect(),
        open: open.map(str::to_owned),
    };
    let known = BTreeSet::from(["a.rs::case_3_there".to_owned()]);
    let ledger = BTreeMap::from([
        ("1".to_owned(), entry(&["a.rs::case_1_gone"], None)),
        ("2".to_owned(), entry(&[], None)),
        ("3".to_owned(), entry(&[], Some("later"))),
    ]);
    assert_eq!(wrong(&ledger, &known).len(), 2);
    assert_eq!(unlisted(&ledger, &known, |name| after(name, "case").into_iter().map(str::to_owned).collect()).len(), 1);
}
