//! Every Rust file of the repository, parsed, and what of it is test code.

use std::fs;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::Visit;

/// The top of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// One file.
pub struct File {
    /// Path below the top, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Parsed.
    pub syntax: syn::File,
}

impl File {
    /// Whether nothing of it is in what ships.
    pub fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let folder = |name: &str| self.path.contains(&format!("/{name}/"));
        self.path.starts_with("tests/")
            || ["tests", "benches", "examples", "conformance"].into_iter().any(folder)
            || name == "tests.rs"
            || name.ends_with("_tests.rs")
            || name == "build.rs"
    }

    /// Lines without the test modules at its end.
    pub fn lines(&self) -> usize {
        let inside: usize = self
            .syntax
            .items
            .iter()
            .filter(|item| is_test_item(item))
            .map(|item| {
                let span = item.span();
                span.end().line - span.start().line + 1
            })
            .sum();
        self.text.lines().count() - inside
    }
}

/// Every Rust file, generated ones and build folders left out.
pub fn files() -> Vec<File> {
    let mut paths = Vec::new();
    for top in ["host", "plugins", "tests"] {
        walk(&root().join(top), "rs", &mut paths);
    }
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            File { path, text, syntax }
        })
        .collect()
}

/// Every file below `folder` with this extension; an empty one stands for none.
pub fn walk(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !["target", "node_modules"].contains(&path.file_name().unwrap().to_str().unwrap()) {
                walk(&path, extension, found);
            }
        } else if path.extension().unwrap_or_default() == extension {
            found.push(path);
        }
    }
}

/// Whether it is there for tests only.
pub fn is_test_item(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().starts_with("test"))
    })
}

/// The names of a file's tests, wherever in it they stand.
pub fn tests(file: &File) -> Vec<String> {
    let mut found = Tests { is_suite: file.path.contains("/conformance/"), names: Vec::new() };
    found.visit_file(&file.syntax);
    found.names
}

struct Tests {
    /// Public functions of a conformance suite become tests of every backend.
    is_suite: bool,
    names: Vec<String>,
}

impl<'ast> Visit<'ast> for Tests {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let is_test = |attribute: &syn::Attribute| {
            attribute.path().segments.last().is_some_and(|segment| segment.ident == "test")
        };
        let is_case = self.is_suite && matches!(item.vis, syn::Visibility::Public(_));
        if is_case || item.attrs.iter().any(is_test) {
            self.names.push(item.sig.ident.to_string());
        }
        syn::visit::visit_item_fn(self, item);
    }

    /// `proptest! { fn … }`, and macros like `fixture_tests! { name, … }` that make tests of names.
    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        let text = invocation.tokens.to_string();
        if invocation.path.segments.last().is_some_and(|segment| segment.ident.to_string().ends_with("_tests")) {
            self.names.extend(text.split(',').map(|name| name.trim().to_owned()));
        }
        for (at, _) in text.match_indices("fn ") {
            if !text[..at].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '_') {
                let name: String =
                    text[at + 3..].chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
                self.names.push(name);
            }
        }
    }
}

/// The files of what ships.
pub fn shipped() -> Vec<File> {
    files().into_iter().filter(|file| !file.is_test()).collect()
}
