//! The guests: where they are, and their bytes.

use std::fs;
use std::path::{Path, PathBuf};

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, UnresolvedPackageGroup};

include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// A component that the suite runs.
#[derive(Clone, Copy, Debug)]
pub struct Guest {
    /// Its file's name.
    pub name: &'static str,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// Built by the build script.
    Component(&'static str),
    /// Fields of a core module, for what no language expresses.
    Core(&'static str),
}

/// What the hand-made guests begin with.
const PRELUDE: &str = include_str!("../guests/wat/_prelude.wat");

impl Guest {
    /// The component.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self.source {
            Source::Component(path) => fs::read(path).expect("the build script has built it"),
            Source::Core(path) => handmade(&fs::read_to_string(path).expect("it is in the repository"), "0.1.0"),
        }
    }

    /// A file with the component, in `folder` where it has to be made.
    #[must_use]
    pub fn file(&self, folder: &Path) -> PathBuf {
        match self.source {
            Source::Component(path) => path.into(),
            Source::Core(_) => {
                let path = folder.join(self.name).with_extension("wasm");
                fs::write(&path, self.bytes()).expect("write the component");
                path
            }
        }
    }
}

/// Makes a component of the world `connector` + `transform` from fields of a core module, exporting the contract as `version`.
#[must_use]
pub fn handmade(fields: &str, version: &str) -> Vec<u8> {
    let text = format!("(module\n{PRELUDE}\n{fields}\n)").replace("@0.1.0#", &format!("@{version}#"));
    let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}"));
    let mut resolve = Resolve::default();
    let contract = contract(version);
    let package = resolve.push_group(contract).expect("the contract holds together");
    let world = resolve.select_world(&[package], Some("transform-only")).expect("the contract has it");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("the module takes a section");
    // What is wrong with it is for the host to find.
    ComponentEncoder::default()
        .validate(false)
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .unwrap_or_else(|error| panic!("{error:?}"))
}

/// The contract, saying that it is of this version.
fn contract(version: &str) -> UnresolvedPackageGroup {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit/v0");
    let mut sources = wit_parser::SourceMap::default();
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the contract is there")
        .map(|entry| entry.expect("read the folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "wit"))
        .collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).expect("read the contract");
        let text = text.replace("jackfield:connector@0.1.0", &format!("jackfield:connector@{version}"));
        sources.push(&file, text);
    }
    sources.parse().unwrap_or_else(|(_, error)| panic!("{error:?}"))
}
