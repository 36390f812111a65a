//! What may be done in one file only.

use syn::visit::Visit;

use super::source::{self, File, is_test_item};

/// What was found in the code of one file that ships.
#[derive(Default)]
struct Found {
    /// Macros called, by the last word of their path.
    macros: Vec<String>,
    /// Paths used, as `a::b::c`.
    paths: Vec<String>,
    /// `unsafe` blocks, functions, impls.
    unsafes: usize,
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test_item(item) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        if let Some(segment) = invocation.path.segments.last() {
            self.macros.push(segment.ident.to_string());
        }
        syn::visit::visit_macro(self, invocation);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.paths.push(words.join("::"));
        syn::visit::visit_path(self, path);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.unsafes += 1;
        syn::visit::visit_expr_unsafe(self, block);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.unsafes += usize::from(signature.unsafety.is_some());
        syn::visit::visit_signature(self, signature);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.unsafes += usize::from(item.unsafety.is_some());
        syn::visit::visit_item_impl(self, item);
    }
}

fn found(file: &File) -> Found {
    let mut found = Found::default();
    found.visit_file(&file.syntax);
    found
}

/// The shipped files below `top` of which this holds.
fn files(top: &str, holds: impl Fn(&Found) -> bool) -> Vec<String> {
    let below = source::shipped().into_iter().filter(|file| file.path.starts_with(top));
    below.filter(|file| holds(&found(file))).map(|file| file.path).collect()
}

/// Whether a path ends with one of these.
fn uses(found: &Found, ends: &[&str]) -> bool {
    found.paths.iter().any(|path| ends.iter().any(|end| path == end || path.ends_with(&format!("::{end}"))))
}

#[test]
fn bindings_are_made_in_one_file_each() {
    let calls = |name: &'static str| files("", |found| found.macros.iter().any(|called| called == name));
    assert_eq!(calls("bindgen"), ["host/contract/src/bindings.rs"]);
    assert_eq!(calls("generate"), ["plugins/sdk/src/bindings.rs"]);
}

#[test]
fn unsafe_stands_in_one_file_of_the_engine() {
    let with = files("", |found| found.unsafes > 0);
    assert!(with.len() <= 1 && with.iter().all(|file| file.starts_with("host/engine/")), "unsafe in {with:?}");
}

#[test]
fn the_environment_is_read_in_one_file() {
    let reads = ["env::var", "env::var_os", "env::vars", "env::vars_os"];
    let readers = files("host/", |found| uses(found, &reads));
    assert!(
        readers.len() <= 1 && readers.iter().all(|file| file.starts_with("host/daemon/src/config/")),
        "{readers:?}"
    );
    assert_eq!(files("plugins/", |found| uses(found, &reads)), Vec::<String>::new());
}

#[test]
fn time_is_read_in_one_file() {
    let reads = ["Instant::now", "SystemTime::now"];
    assert_eq!(files("host/", |found| uses(found, &reads)), ["host/model/src/clock.rs"]);
}

#[test]
fn stdout_belongs_to_the_command_line() {
    let prints = files("host/", |found| {
        found.macros.iter().any(|called| ["print", "println", "eprint", "eprintln", "dbg"].contains(&called.as_str()))
    });
    assert!(prints.iter().all(|file| file.starts_with("host/daemon/src/cli/")), "{prints:?}");
}
