//! Files and functions stay as small as they are in code bases that are good to live in.

use syn::spanned::Spanned;
use syn::visit::Visit;

use super::source::{self, is_test_item};

/// Lines of a shipped file at the median. Test modules are not counted.
const FILE_MEDIAN_MAX: usize = 130;
/// At the 95th percentile.
const FILE_P95_MAX: usize = 400;
/// At most.
const FILE_MAX: usize = 450;
/// A long function, in lines.
const FUNCTION_LONG: usize = 70;
/// Long functions among a thousand.
const LONG_PER_MILLE_MAX: usize = 15;
/// No function has more lines.
const FUNCTION_MAX: usize = 120;

#[derive(Default)]
struct Functions(Vec<(String, usize)>);

impl Functions {
    fn add(&mut self, name: &syn::Ident, span: proc_macro2::Span) {
        self.0.push((name.to_string(), span.end().line - span.start().line + 1));
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test_item(item) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig.ident, item.block.span());
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig.ident, item.block.span());
        syn::visit::visit_impl_item_fn(self, item);
    }
}

fn percentile(sorted: &[usize], percent: usize) -> usize {
    sorted[(sorted.len() - 1) * percent / 100]
}

#[test]
fn files_stay_small() {
    let files = source::shipped();
    let mut sizes: Vec<usize> = files.iter().map(source::File::lines).collect();
    sizes.sort_unstable();
    let over: Vec<String> = files
        .iter()
        .filter(|file| file.lines() > FILE_MAX)
        .map(|file| format!("{}: {} lines", file.path, file.lines()))
        .collect();
    assert!(over.is_empty(), "over {FILE_MAX} lines:\n{}", over.join("\n"));
    assert!(percentile(&sizes, 50) <= FILE_MEDIAN_MAX, "median {} lines", percentile(&sizes, 50));
    assert!(percentile(&sizes, 95) <= FILE_P95_MAX, "p95 {} lines", percentile(&sizes, 95));
}

#[test]
fn functions_stay_short() {
    let mut all = Vec::new();
    for file in source::shipped() {
        let mut functions = Functions::default();
        functions.visit_file(&file.syntax);
        all.extend(functions.0.into_iter().map(|(name, lines)| (format!("{}::{name}", file.path), lines)));
    }
    let long: Vec<_> = all.iter().filter(|(_, lines)| *lines > FUNCTION_LONG).collect();
    assert!(long.len() * 1000 <= all.len() * LONG_PER_MILLE_MAX, "{} of {}: {long:#?}", long.len(), all.len());
    let over: Vec<_> = all.iter().filter(|(_, lines)| *lines > FUNCTION_MAX).collect();
    assert!(over.is_empty(), "over {FUNCTION_MAX} lines: {over:#?}");
}

#[test]
fn every_file_says_what_it_is() {
    let silent: Vec<String> =
        source::shipped().into_iter().filter(|file| !file.text.starts_with("//!")).map(|file| file.path).collect();
    assert!(silent.is_empty(), "no `//!` at the top of {silent:#?}");
}
