//! How they are built: once, then without any network; and what is said where a registry can't be reached.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::BOTH;

/// A port at which nobody listens.
const NOWHERE: &str = "http://127.0.0.1:1/";

/// `tests/guests/componentize`, with registries that can't be reached and nothing kept of what they gave before.
fn componentize(language: &str, folder: &Path, kept: &Path) -> Output {
    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/guests/componentize"))
        .arg(language)
        .arg(folder)
        .env("npm_config_registry", NOWHERE)
        .env("npm_config_cache", kept)
        .env("npm_config_fetch_retries", "0")
        .env("PIP_INDEX_URL", NOWHERE)
        .env("PIP_RETRIES", "0")
        .env("PIP_NO_CACHE_DIR", "1")
        .env_remove("PIP_EXTRA_INDEX_URL")
        .env_remove("PIP_FIND_LINKS")
        .output()
        .unwrap()
}

/// `js` and `py`, with the component of each.
fn languages() -> Vec<(String, PathBuf)> {
    let component = |guest: jackfield_tests::guest::Guest| guest.file(Path::new("it is a component"));
    let named = |component: PathBuf| {
        let folder = component.parent().unwrap().file_name().unwrap();
        (folder.to_str().unwrap().to_owned(), component)
    };
    BOTH.into_iter().map(|(guest, _, _)| named(component(guest))).collect()
}

#[test]
fn what_is_built_stays_and_needs_no_network() {
    let kept = tempfile::tempdir().unwrap();
    for (language, component) in languages() {
        let built = fs::metadata(&component).unwrap().modified().unwrap();
        let output = componentize(&language, component.parent().unwrap(), kept.path());
        assert!(output.status.success(), "{language}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::metadata(&component).unwrap().modified().unwrap(), built, "{language}: it was built again");
    }
}

#[test]
fn without_its_registry_the_error_says_what_to_do() {
    for (language, setting) in [("js", "npm config set registry"), ("py", "PIP_INDEX_URL")] {
        let folder = tempfile::tempdir().unwrap();
        let output = componentize(language, &folder.path().join("built"), &folder.path().join("kept"));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains(setting), "{language}: {told}");
        assert!(!folder.path().join("built/say.wasm").exists(), "{language}");
    }
}
