//! Commands that need a running host, what they say without one, and one host a folder.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use jackfield_tests::guest;
use jackfield_tests::platform::Platform;
use jackfield_tests::processes::{Home, until};
use rustix::process::Signal;

use super::{DONE, FAILED, INVALID, document, ended};

fn home(platform: &Platform) -> Home {
    Home::new(&platform.config(&guest::SESSION_ECHO.file(&jackfield_tests::scratch()), "", ""))
}

#[test]
fn without_a_host_they_say_so() {
    let platform = Platform::start();
    let home = home(&platform);
    for command in [
        &["status"][..],
        &["events"],
        &["dead-letters", "list"],
        &["contacts", "list", "--space", "people"],
        &["action", "list"],
        &["action", "run", "echo", "say"],
        &["executions", "list"],
        &["trace", "m-1"],
    ] {
        let (stdout, stderr) = ended(&home.run(command), FAILED);
        assert!(stdout.is_empty() && stderr.contains("serve"), "{command:?}: {stdout}{stderr}");
    }
    // What needs none works without one.
    for command in [&["validate"][..], &["completion", "bash"], &["--version"], &["help"]] {
        ended(&home.run(command), DONE);
    }
    for command in [&["statsu"][..], &["events", "--limit", "many"], &["dead-letters", "redrive"]] {
        ended(&home.run(command), INVALID);
    }
}

#[test]
fn a_second_host_in_the_same_folder_is_refused_and_the_first_goes_on() {
    let platform = Platform::start();
    let home = home(&platform);
    let host = home.serve();
    let (_, stderr) = ended(&home.run(&["serve"]), FAILED);
    assert!(stderr.contains("data"), "{stderr}");
    assert_eq!(home.status()["pid"], host.id());
    assert!(host.stop().success());
}

#[test]
fn results_are_one_document_and_everything_else_is_on_stderr() {
    let platform = Platform::start();
    let home = home(&platform);
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    peer.say("say lane 1 hello");
    peer.hears("ack 1");
    for command in [&["status"][..], &["events"], &["dead-letters", "list"], &["contacts", "list", "--space", "people"]]
    {
        let (stdout, stderr) = ended(&home.run(&[command, &["--output", "json"]].concat()), DONE);
        document(&stdout);
        assert!(stderr.is_empty(), "{command:?}: {stderr}");
    }
    let (stdout, _) = ended(&home.run(&["status"]), DONE);
    assert!(stdout.contains("echo") && stdout.contains("ready"), "{stdout}");
    let (_, stderr) = ended(&home.run(&["dead-letters", "show", "4711"]), FAILED);
    assert!(stderr.contains("4711"), "{stderr}");
}

/// A named consumer goes on where it left off.
#[test]
fn consumers_keep_their_place() {
    let platform = Platform::start();
    let home = home(&platform);
    let _host = home.serve();
    let peer = platform.peer();
    peer.hears("hello fresh 0");
    let read = || home.json(&["events", "--as", "reader"])["events"].as_array().unwrap().len();
    for (before, count) in [(0, 3), (3, 2)] {
        for id in before + 1..=before + count {
            peer.say(format!("say lane {id} hello"));
            peer.hears(&format!("ack {id}"));
        }
        assert_eq!(read(), count);
    }
    assert_eq!(read(), 0);
}

/// The socket is the owner's, and a folder that was open to others is closed.
#[test]
fn the_admin_socket_is_for_its_owner_alone() {
    let platform = Platform::start();
    let home = home(&platform);
    let _host = home.serve();
    let data = home.path().join("data");
    assert_eq!(std::fs::metadata(&data).unwrap().permissions().mode() & 0o077, 0);
    let sockets: Vec<_> = std::fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| std::os::unix::fs::FileTypeExt::is_socket(&entry.file_type().unwrap()))
        .collect();
    assert_eq!(sockets.len(), 1);
    assert_eq!(sockets[0].metadata().unwrap().mode() & 0o077, 0);
}

/// The second SIGTERM ends at once; a hangup with a broken file changes nothing.
#[test]
fn signals() {
    let platform = Platform::start();
    let home = home(&platform);
    let host = home.serve();
    let text = std::fs::read_to_string(home.config()).unwrap();
    home.write_config("this is no configuration");
    host.signal(Signal::HUP);
    until("the refusal is logged", || home.log().contains("refused").then_some(()));
    assert!(host.is_alive());
    home.write_config(&text);
    home.wait_state("ready");
    assert!(host.stop().success());
}
