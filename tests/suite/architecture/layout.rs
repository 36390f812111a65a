//! Where things are, and who may depend on whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::source;

/// All that may lie at the top besides dot files.
const TOP: [&str; 9] =
    ["Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "host", "plugins", "rust-toolchain.toml", "tests", "wit"];

/// Which of our own crates each crate may depend on; `dev` in tests only.
const MAY: [(&str, &[&str], &[&str]); 9] = [
    ("host/model", &[], &[]),
    ("host/contract", &["jackfield-model"], &[]),
    ("host/store", &["jackfield-model"], &[]),
    ("host/engine", &["jackfield-contract", "jackfield-model", "jackfield-store"], &[]),
    (
        "host/daemon",
        &["jackfield-engine", "jackfield-model", "jackfield-store", "jackfield-testkit"],
        &["jackfield-discord", "jackfield-sdk"],
    ),
    ("plugins/sdk", &[], &[]),
    ("plugins/testkit", &[], &[]),
    (
        "plugins/discord",
        &["jackfield-sdk"],
        &["jackfield-testkit", "jackfield-model", "jackfield-contract", "jackfield-engine"],
    ),
    ("tests/guests", &["jackfield-sdk"], &[]),
];

/// Crates that only these may name.
const KEPT: [(&str, &[&str]); 4] = [
    ("wasmtime", &["host/contract", "host/engine"]),
    ("wasmtime-wasi", &["host/engine"]),
    ("rusqlite", &["host/store"]),
    ("redis", &["host/store"]),
];

/// The one dev-dependency that is let off: the benchmark compares the host with bare wasmtime.
const COMPARED: (&str, &str) = ("host/daemon", "wasmtime");

/// Tables of a manifest that name dependencies.
const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

fn manifest(folder: &str) -> toml::Table {
    let text = fs::read_to_string(source::root().join(folder).join("Cargo.toml")).unwrap();
    text.parse().unwrap_or_else(|error| panic!("{folder}: {error}"))
}

fn members() -> Vec<String> {
    let manifest = manifest(".");
    let members = manifest["workspace"]["members"].as_array().unwrap();
    members.iter().map(|member| member.as_str().unwrap().to_owned()).collect()
}

fn dependencies(manifest: &toml::Table, table: &str) -> BTreeSet<String> {
    let names = manifest.get(table).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
    names.cloned().collect()
}

#[test]
fn the_top_level_is_fixed() {
    let entries = fs::read_dir(source::root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<String> = entries.filter(|name| !name.starts_with('.') && name != "target").collect();
    assert_eq!(found, TOP.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn dependencies_point_one_way() {
    let may: BTreeMap<&str, (&[&str], &[&str])> =
        MAY.iter().map(|(crate_, may, dev)| (*crate_, (*may, *dev))).collect();
    let mut wrong = Vec::new();
    for member in members() {
        // The suite may use everything.
        if member == "tests" {
            continue;
        }
        let Some((always, dev)) = may.get(member.as_str()) else {
            wrong.push(format!("{member}: say in this test what it may depend on"));
            continue;
        };
        let manifest = manifest(&member);
        for table in TABLES {
            let ours = dependencies(&manifest, table).into_iter().filter(|name| name.starts_with("jackfield"));
            for name in ours {
                // With other features, for its own tests.
                let itself = table == "dev-dependencies" && manifest["package"]["name"].as_str() == Some(&name);
                let allowed = itself
                    || always.contains(&name.as_str())
                    || table == "dev-dependencies" && dev.contains(&name.as_str());
                if !allowed {
                    wrong.push(format!("{member}: {table} must not name {name}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn engines_and_databases_stay_where_they_are() {
    let mut wrong = Vec::new();
    for member in members() {
        let manifest = manifest(&member);
        for (name, keepers) in KEPT {
            let compared = (member.as_str(), name) == COMPARED;
            let counts = |table: &&str| !(compared && *table == "dev-dependencies");
            let named = TABLES.into_iter().filter(counts).any(|table| dependencies(&manifest, table).contains(name));
            if named && !keepers.contains(&member.as_str()) {
                wrong.push(format!("{member} must not depend on {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_import_has_its_folder() {
    let world = fs::read_to_string(source::root().join("wit/v0/world.wit")).unwrap();
    let supplied = world.split("world supplied {").nth(1).unwrap().split('}').next().unwrap();
    let imports = supplied.lines().filter_map(|line| line.trim().strip_prefix("import ")?.strip_suffix(';'));
    let missing: Vec<&str> =
        imports.filter(|import| !source::root().join("host/engine/src/capability").join(import).is_dir()).collect();
    assert!(missing.is_empty(), "host/engine/src/capability lacks {missing:?}");
}

#[test]
fn every_interface_has_its_file() {
    let mut files = Vec::new();
    source::walk(&source::root().join("wit/v0"), "wit", &mut files);
    let stems: BTreeSet<String> =
        files.iter().map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        for interface in text.lines().filter_map(|line| line.strip_prefix("interface ")?.strip_suffix(" {")) {
            assert!(stems.contains(interface), "{}: interface {interface} belongs in {interface}.wit", file.display());
        }
    }
}
