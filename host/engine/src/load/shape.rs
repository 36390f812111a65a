//! The names that a component imports and exports, compared with those that this host knows.
//!
//! Everything that does not fit is told at once, with the version wanted, the versions at hand and the nearest name.

use jackfield_contract::names::{EXPORTS, IMPORTS, Interface, PACKAGE, VERSION};

use serde::{Deserialize, Serialize};

use super::error::LoadError;
use crate::component::Exports;
use crate::wasi;

/// Exports that toolchains add to every component: QuickJS's and Python's.
const TOOLCHAIN_EXPORTS: &[&str] = &["init", "exports"];

/// A name is near when this share of it is alike.
const NEAR: f64 = 0.7;

/// What a component imports and exports. Facts alone, which don't change with the host: [`Shape::check`] judges them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// In the order of the file.
    pub(super) imports: Vec<Item>,
    /// In the order of the file.
    pub(super) exports: Vec<Item>,
}

/// One import or export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    /// Full name, with version.
    pub(super) name: String,
    /// Its functions; `None` when it is no interface.
    pub(super) functions: Option<Vec<String>>,
}

/// `package/interface` and the version.
pub(super) fn split(name: &str) -> (&str, Option<&str>) {
    name.split_once('@').map_or((name, None), |(name, version)| (name, Some(version)))
}

/// What two versions must share to fit (semantic versioning): `0.1` of `0.1.7`, `2` of `2.3.4`. Pre-releases fit nothing.
fn track(version: &str) -> Option<&str> {
    let mut parts = version.splitn(3, '.');
    let (major, minor, patch) = (parts.next()?, parts.next()?, parts.next()?);
    let numeric = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if ![major, minor, patch].into_iter().all(numeric) {
        return None;
    }
    if major == "0" { version.get(..major.len() + 1 + minor.len()) } else { Some(major) }
}

impl Shape {
    /// Which of the contract's interfaces are exported.
    pub(super) fn exported(&self) -> Exports {
        let has =
            |interface: &str| self.exports.iter().any(|item| split(&item.name).0 == format!("{PACKAGE}/{interface}"));
        Exports { transform: has("transform"), runtime: has("runtime"), webhook: has("webhook"), action: has("action") }
    }

    /// All that does not fit.
    pub(super) fn check(&self) -> Result<(), LoadError> {
        let mut problems = Vec::new();
        for item in &self.imports {
            import(item, &mut problems);
        }
        for item in &self.exports {
            export(item, &mut problems);
        }
        let connector = format!("{PACKAGE}/connector");
        if !self.exports.iter().any(|item| split(&item.name).0 == connector) {
            problems.push(format!("missing export `{connector}@{VERSION}`: every connector has to describe itself"));
        }
        if problems.is_empty() { Ok(()) } else { Err(LoadError::Contract(problems)) }
    }
}

fn import(item: &Item, problems: &mut Vec<String>) {
    let what = format!("import `{}`", item.name);
    let (name, version) = split(&item.name);
    if let Some(interface) = name.strip_prefix(PACKAGE).and_then(|rest| rest.strip_prefix('/')) {
        of_contract(&what, interface, version, item, IMPORTS, problems);
    } else if wasi::INTERFACES.contains(&name) {
        if version.and_then(track) != Some(wasi::TRACK) {
            problems.push(format!("{what}: {}", wrong_version(version, &format!("{}.x", wasi::TRACK))));
        }
    } else {
        let known = IMPORTS.iter().map(|(interface, _)| format!("{PACKAGE}/{interface}"));
        let near = nearest(name, known.chain(wasi::INTERFACES.iter().map(|&name| name.to_owned())));
        problems.push(format!("{what}: this host supplies no such interface{near}"));
    }
}

fn export(item: &Item, problems: &mut Vec<String>) {
    let what = format!("export `{}`", item.name);
    let (name, version) = split(&item.name);
    if let Some(interface) = name.strip_prefix(PACKAGE).and_then(|rest| rest.strip_prefix('/')) {
        of_contract(&what, interface, version, item, EXPORTS, problems);
    } else if !TOOLCHAIN_EXPORTS.contains(&name) {
        let known = EXPORTS.iter().map(|(interface, _)| format!("{PACKAGE}/{interface}"));
        problems.push(format!(
            "{what}: nothing calls it; a connector exports interfaces of `{PACKAGE}` alone{}",
            nearest(name, known)
        ));
    }
}

/// An interface of the contract's package: known, of a version that fits, and with functions that fit.
fn of_contract(
    what: &str,
    interface: &str,
    version: Option<&str>,
    item: &Item,
    known: &[Interface],
    problems: &mut Vec<String>,
) {
    let Some((_, functions)) = known.iter().find(|(name, _)| *name == interface) else {
        let near = nearest(interface, known.iter().map(|(name, _)| (*name).to_owned()));
        problems.push(format!("{what}: the contract has no such interface here{near}"));
        return;
    };
    if version.and_then(track) != track(VERSION) {
        problems.push(format!("{what}: {}", wrong_version(version, VERSION)));
        return;
    }
    let Some(found) = &item.functions else {
        problems.push(format!("{what}: it is no interface"));
        return;
    };
    // A guest may use less of what is supplied; the host calls all of what is exported.
    let is_import = known == IMPORTS;
    if is_import {
        for function in found.iter().filter(|name| !functions.contains(&name.as_str())) {
            let near = nearest(function, functions.iter().map(|&name| name.to_owned()));
            problems.push(format!("{what}: function `{function}` is not supplied by version {VERSION}{near}"));
        }
    } else {
        for function in functions.iter().filter(|&&name| !found.iter().any(|found| found == name)) {
            problems
                .push(format!("{what}: function `{function}` is missing{}", nearest(function, found.iter().cloned())));
        }
    }
}

fn wrong_version(wanted: Option<&str>, here: &str) -> String {
    let wanted = wanted.unwrap_or("none");
    format!("made for version {wanted}, this host has {here}; rebuild it against a version that fits")
}

fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    let near = known.map(|known| (strsim::jaro_winkler(name, &known), known)).filter(|(alike, _)| *alike >= NEAR);
    let nearest = near.max_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.map(|(_, known)| format!("; the nearest is `{known}`")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, functions: &[&str]) -> Item {
        Item { name: name.to_owned(), functions: Some(functions.iter().map(|&f| f.to_owned()).collect()) }
    }

    fn problems(imports: Vec<Item>, mut exports: Vec<Item>) -> Vec<String> {
        exports.push(interface("jackfield:connector/connector@0.1.0", &["describe"]));
        match (Shape { imports, exports }).check() {
            Err(LoadError::Contract(problems)) => problems,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_fits() {
        let imports = vec![
            interface("jackfield:connector/session@0.1.9", &["open", "send"]),
            interface("jackfield:connector/lease@0.1.0", &["[method]guard.fence"]),
            interface("wasi:io/poll@0.2.6", &["poll"]),
            interface("wasi:cli/stderr@0.2.12", &[]),
        ];
        let mut exports = vec![
            interface("jackfield:connector/connector@0.1.0", &["describe"]),
            interface("jackfield:connector/runtime@0.1.0", &["start", "handle", "checkpoint", "later"]),
            Item { name: "init".to_owned(), functions: None },
            interface("exports", &[]),
        ];
        let shape = Shape { imports: imports.clone(), exports: exports.clone() };
        assert_eq!(shape.check(), Ok(()));
        assert_eq!(shape.exported(), Exports { runtime: true, ..Exports::default() });
        exports.remove(0);
        assert!(Shape { imports, exports }.check().unwrap_err().to_string().contains("missing export"));
    }

    #[test]
    fn case_2_and_w1_every_problem_is_named() {
        let told = problems(
            vec![
                interface("acme:connector-host/storage@9.9.0", &["open"]),
                interface("jackfield:connector/sesion@0.1.0", &[]),
                interface("jackfield:connector/session@0.2.0", &[]),
                interface("jackfield:connector/session", &[]),
                interface("jackfield:connector/session@0.1.0-rc.1", &[]),
                interface("jackfield:connector/session@0.1.0", &["opn", "sleep-for-ever"]),
                interface("wasi:io/poll@0.3.0", &[]),
                interface("wasi:sockets/tcp@0.2.0", &[]),
                Item { name: "jackfield:connector/state@0.1.0".to_owned(), functions: None },
                Item { name: "print".to_owned(), functions: None },
            ],
            vec![
                interface("jackfield:connector/runtime@0.1.0", &["start", "handel"]),
                interface("jackfield:connector/transfrom@0.1.0", &["transform"]),
                interface("jackfield:connector/action@1.0.0", &["describe", "run"]),
                interface("wasi:cli/run@0.2.0", &["run"]),
            ],
        );
        let told = told.join("\n");
        insist(&told, "`acme:connector-host/storage@9.9.0`: this host supplies no such interface");
        insist(&told, "no such interface here; the nearest is `session`");
        insist(&told, "`jackfield:connector/session@0.2.0`: made for version 0.2.0, this host has 0.1.0");
        insist(&told, "made for version none");
        insist(&told, "made for version 0.1.0-rc.1");
        insist(&told, "function `opn` is not supplied by version 0.1.0; the nearest is `open`");
        insist(&told, "function `sleep-for-ever` is not supplied");
        insist(&told, "`wasi:io/poll@0.3.0`: made for version 0.3.0, this host has 0.2.x");
        insist(&told, "`wasi:sockets/tcp@0.2.0`: this host supplies no such interface");
        insist(&told, "`jackfield:connector/state@0.1.0`: it is no interface");
        insist(&told, "import `print`");
        insist(&told, "function `handle` is missing; the nearest is `handel`");
        insist(&told, "function `checkpoint` is missing");
        insist(
            &told,
            "export `jackfield:connector/transfrom@0.1.0`: the contract has no such interface here; the nearest is `transform`",
        );
        insist(&told, "made for version 1.0.0");
        insist(&told, "export `wasi:cli/run@0.2.0`: nothing calls it");
    }

    fn insist(told: &str, part: &str) {
        assert!(told.contains(part), "{part}\nis not in\n{told}");
    }
}
