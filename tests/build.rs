//! Builds the guests and the real connectors as components, and writes down where they are.
//!
//! Generated, in `guests.rs`: one constant for each guest, and for each group of them (the first word of the file's name) a
//! macro `foreach_<group>!` that calls another macro with every name of the group. The suite uses it to demand a test of
//! that name, so a guest without a test does not compile.
//!
//! The inner cargo has a target folder of its own: it would wait for ever for the lock that the outer one holds. The guests in
//! other languages than Rust are made in that folder too, by `guests/componentize`.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a build script talks to cargo on stdout, reads what cargo tells it from the environment, and may only panic"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const TARGET: &str = "wasm32-wasip2";
/// First words that a guest's name may have; each is a file or a folder of the suite.
const GROUPS: [&str; 4] = ["action", "language", "sandbox", "session"];
/// Guests in other languages than Rust, and where in `guests` they are.
const LANGUAGES: [(&str, &str); 2] = [("language_javascript", "js"), ("language_python", "py")];

fn main() {
    let tests = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = tests.parent().expect("the workspace is above").to_path_buf();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for input in
        ["Cargo.toml", "Cargo.lock", "wit/v0", "plugins/sdk", "plugins/discord", "tests/guests", "tests/build.rs"]
    {
        println!("cargo:rerun-if-changed={}", root.join(input).display());
    }

    let (rust, handmade) = (names(&tests.join("guests/examples"), "rs"), names(&tests.join("guests/wat"), "wat"));
    check_entries(&tests.join("guests/Cargo.toml"), &rust);
    need_target();
    // <target>/<profile>/build/<package>/out
    let target_dir = out.ancestors().nth(4).expect("cargo's layout").join("guests");
    let others = LANGUAGES.map(|(name, folder)| (name, Componentize::start(&tests, folder, &target_dir)));
    build(&root, &target_dir, &["--package", "jackfield-guests", "--examples"]);
    build(&root, &target_dir, &["--package", "jackfield-discord", "--lib"]);

    let built = target_dir.join(TARGET).join("connector");
    let mut guests = BTreeMap::new();
    for (name, other) in others {
        guests.insert(name.to_owned(), format!("Source::Component({:?})", other.end()));
    }
    for name in rust {
        let path = built.join("examples").join(format!("{name}.wasm"));
        assert!(path.is_file(), "cargo built no {}", path.display());
        guests.insert(name, format!("Source::Component({path:?})"));
    }
    for name in handmade {
        let path = tests.join("guests/wat").join(format!("{name}.wat"));
        let doubled = guests.insert(name.clone(), format!("Source::Core({path:?})"));
        assert!(doubled.is_none(), "two guests are called {name}");
    }
    let discord = built.join("jackfield_discord.wasm");
    fs::write(out.join("guests.rs"), generated(&guests, &discord)).expect("write guests.rs");
}

/// File names without their extension.
fn names(folder: &Path, extension: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("read {}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("read the folder").path());
    paths
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().expect("it has a name").to_str().expect("ASCII").to_owned())
        .filter(|name| !name.starts_with('_'))
        .collect()
}

/// A file without an entry would be built as a program, or not at all.
fn check_entries(manifest: &Path, files: &BTreeSet<String>) {
    let text = fs::read_to_string(manifest).expect("read the guests' manifest");
    let entries: BTreeSet<String> = text
        .split("[[example]]")
        .skip(1)
        .filter(|entry| entry.contains("crate-type = [\"cdylib\"]"))
        .filter_map(|entry| Some(entry.split("name = \"").nth(1)?.split('"').next()?.to_owned()))
        .collect();
    let missing: Vec<_> = files.symmetric_difference(&entries).collect();
    assert!(missing.is_empty(), "{}: files and [[example]] entries (cdylib) differ in {missing:?}", manifest.display());
}

/// Installs what the guests are compiled for, where rustup can.
fn need_target() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let libraries = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    if Path::new(libraries.trim()).is_dir() {
        return;
    }
    let added = Command::new("rustup").args(["target", "add", TARGET]).status();
    assert!(
        added.is_ok_and(|status| status.success()),
        "the guests are compiled for {TARGET}, which this toolchain lacks: run `rustup target add {TARGET}`"
    );
}

fn build(root: &Path, target_dir: &Path, what: &[&str]) {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(root)
        .args(["build", "--locked", "--quiet", "--profile", "connector", "--target", TARGET])
        .args(what)
        .arg("--target-dir")
        .arg(target_dir);
    // What the outer cargo, clippy or a coverage tool set is about the host, not about guests.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let ours =
            ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "MAKEFLAGS"];
        let about_this_package = name.starts_with("CARGO_") && !["CARGO_HOME", "CARGO_NET_OFFLINE"].contains(&&*name);
        if ours.contains(&&*name) || about_this_package {
            cargo.env_remove(&*name);
        }
    }
    let status = cargo.status().expect("run cargo");
    assert!(status.success(), "the guests do not compile; try `cargo build --target {TARGET} {}`", what.join(" "));
}

/// A guest in another language, being built beside the rest.
struct Componentize {
    script: Child,
    language: &'static str,
    component: PathBuf,
}

impl Componentize {
    fn start(tests: &Path, language: &'static str, target_dir: &Path) -> Self {
        let folder = target_dir.join(language);
        let mut script = Command::new(tests.join("guests/componentize"));
        // What it prints is for people; what this script prints on stdout is for cargo.
        script.arg(language).arg(&folder).stdin(Stdio::null()).stdout(Stdio::null());
        let script = script.spawn().unwrap_or_else(|error| panic!("start tests/guests/componentize: {error}"));
        Self { script, language, component: folder.join("say.wasm") }
    }

    fn end(mut self) -> PathBuf {
        let status = self.script.wait().expect("it was started");
        let language = self.language;
        assert!(
            status.success(),
            "the guest in tests/guests/{language} was not built; why, tests/guests/componentize has said above"
        );
        self.component
    }
}

fn generated(guests: &BTreeMap<String, String>, discord: &Path) -> String {
    let mut text = String::new();
    let mut groups: BTreeMap<&str, Vec<&str>> = GROUPS.iter().map(|group| (*group, Vec::new())).collect();
    for (name, source) in guests {
        let group = name.split('_').next().unwrap_or_default();
        let Some(group) = groups.get_mut(group) else { panic!("guest {name}: begin its name with one of {GROUPS:?}") };
        group.push(name);
        let constant = name.to_uppercase();
        writeln!(text, "/// `{name}`").unwrap();
        writeln!(text, "pub const {constant}: Guest = Guest {{ name: {name:?}, source: {source} }};").unwrap();
    }
    writeln!(text, "/// The Discord connector, as it ships.").unwrap();
    writeln!(text, "pub const DISCORD: Guest = Guest {{ name: \"discord\", source: Source::Component({discord:?}) }};")
        .unwrap();
    for (group, names) in groups {
        writeln!(text, "/// Calls `$call!` with the name of every guest of this group.").unwrap();
        writeln!(text, "#[macro_export] macro_rules! foreach_{group} {{ ($call:ident) => {{").unwrap();
        for name in names {
            writeln!(text, "    $call!({name});").unwrap();
        }
        writeln!(text, "}} }}").unwrap();
    }
    text
}
