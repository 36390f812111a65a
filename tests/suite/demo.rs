//! `jackfield demo`, as anybody starts it: it ends well, and its account adds up.

use jackfield_tests::guest;
use jackfield_tests::processes::Home;

#[test]
fn the_demo_accounts_for_every_message() {
    let home = Home::new("");
    let component = guest::DISCORD.file(home.path());
    let account =
        home.json(&["demo", "--messages", "500", "--channels", "10", "--connector", component.to_str().unwrap()]);
    let number = |key: &str| account[key].as_u64().unwrap_or_else(|| panic!("{key}: {account:#}"));
    assert_eq!((number("dispatches"), number("events")), (500, 500), "{account:#}");
    for nothing in ["lost", "doubled", "reordered", "dead_letters"] {
        assert_eq!(number(nothing), 0, "{nothing}: {account:#}");
    }
    assert_eq!(number("actions_sent"), 500 / 20, "one message in twenty is answered: {account:#}");
    assert!(number("resumes") >= 1, "the reconnect was forced: {account:#}");
}
