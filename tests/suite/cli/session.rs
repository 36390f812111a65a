//! Actions of the real connector on the command line, whatever its session is doing: up, without a gateway, parked.

use std::fs;
use std::process::Output;

use jackfield_testkit::discord::{Action, Moment, Script, Step, Times, When};
use jackfield_tests::discord::Scene;
use jackfield_tests::processes::Home;
use serde_json::{Value, json};

use super::{DONE, INVALID, REFUSED, document, ended};

/// Nobody listens here.
const NOWHERE: &str = "ws://127.0.0.1:1";

fn run(home: &Home, action: &str, args: &Value, more: &[&str]) -> Output {
    let args = args.to_string();
    home.run(&[&["action", "run", "discord", action, "--args", &args, "--output", "json"][..], more].concat())
}

/// Lists, sends, is told what is wrong with arguments, and is asked for approval: all that there is of the platform is REST.
fn acts(scene: &Scene) {
    let Scene { home, double, .. } = scene;
    let channel = double.channels()[0].to_string();
    let listed = home.json(&["action", "list", "--connection", "discord"]);
    let names: Vec<&str> =
        listed["actions"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
    let all = ["broadcast", "edit-message", "mention-members", "mention-role", "send-direct", "send-message"];
    assert_eq!(names, all, "{listed:#}");

    let sent = json!({ "channel_id": channel, "text": "from the command line" });
    let (stdout, _) = ended(&run(home, "send-message", &sent, &[]), DONE);
    let told = document(&stdout);
    let said: Vec<String> =
        double.log().read(|record| record.said().iter().map(|said| said.message.to_string()).collect());
    assert_eq!(told["provider_ids"], json!(said), "{told:#}");

    let misfit = json!({ "channel_id": 7, "txet": "misspelt" });
    let (stdout, stderr) = ended(&run(home, "send-message", &misfit, &[]), INVALID);
    let told = document(&stderr);
    let problems = told["problems"].as_array().unwrap_or_else(|| panic!("{told:#}"));
    let about = |pointer: &str| problems.iter().find(|one| one["pointer"] == pointer).unwrap().to_string();
    assert!(
        stdout.is_empty() && about("/channel_id").contains("string") && about("/txet").contains("text"),
        "{told:#}"
    );
    let (_, stderr) =
        ended(&home.run(&["action", "run", "discord", "send-message", "--args", &misfit.to_string()]), INVALID);
    assert!(stderr.contains("/channel_id") && stderr.contains("string") && stderr.contains("/txet"), "{stderr}");

    let edit = json!({ "channel_id": channel, "message_id": said[0], "text": "another" });
    let (_, stderr) = ended(&run(home, "edit-message", &edit, &[]), REFUSED);
    assert_eq!(document(&stderr)["code"], "needs-approval", "{stderr}");
    ended(&run(home, "edit-message", &edit, &["--approve"]), DONE);
    assert_eq!(double.log().counts().said, 1, "what was refused was not sent");
}

#[test]
fn while_the_session_is_up() {
    let scene = Scene::new(Script::silent());
    let _host = scene.home.serve();
    scene.home.wait_state("ready");
    acts(&scene);
}

#[test]
fn while_nobody_listens_at_the_gateway() {
    let scene = Scene::new(Script::silent());
    let config = fs::read_to_string(scene.home.config()).unwrap();
    scene.home.write_config(&config.replace(&scene.double.origin_ws(), NOWHERE));
    let _host = scene.home.serve();
    scene.home.wait("the gateway was tried in vain", |status| status["last_trouble"].is_object());
    acts(&scene);
    assert_eq!(scene.counts().connections, 0);
}

#[test]
fn while_the_session_is_parked() {
    let when = When::On { moment: Moment::Identify, times: Times::Always };
    let steps = vec![Step { when, action: Action::Close { code: 4014 } }];
    let scene = Scene::new(Script { steps, ..Script::silent() });
    let _host = scene.home.serve();
    scene.home.wait_state("parked");
    acts(&scene);
    assert_eq!(scene.home.connection()["state"], "parked");
}
