//! Code in other languages than Rust: small files too, each of which says what it is.

use std::fs;

use super::source;

/// Lines of a file at most. A connector that fits in one is about as long as it may be.
const FILE_MAX: usize = 250;

/// How a file begins that says what it is, by its extension. Scripts of the shell have none.
const BEGINS: [(&str, &str); 4] = [("", "#!/usr/bin/env bash\n# "), ("js", "// "), ("mjs", "// "), ("py", "\"\"\"")];

/// Where code is.
const TOPS: [&str; 4] = [".ci", "host", "plugins", "tests"];

/// What is wrong with a file.
fn problem(text: &str, begins: &str) -> Option<String> {
    let lines = text.lines().count();
    if lines > FILE_MAX {
        return Some(format!("{lines} lines, at most {FILE_MAX}"));
    }
    (!text.starts_with(begins)).then(|| format!("it does not begin with {begins:?} and what it is"))
}

#[test]
fn files_in_other_languages_are_small_and_say_what_they_are() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (extension, begins) in BEGINS {
        let mut files = Vec::new();
        for top in TOPS {
            source::walk(&source::root().join(top), extension, &mut files);
        }
        seen += files.len();
        for file in files {
            let found = problem(&fs::read_to_string(&file).unwrap(), begins);
            wrong.extend(found.map(|problem| format!("{}: {problem}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen >= 6, "scripts, the benchmark's other side and two guests: {seen} files were found");
}

#[test]
fn a_file_that_is_wrong_is_noticed() {
    assert_eq!(problem("// What this is.\n", "// "), None);
    assert!(problem("export const action = {};\n", "// ").is_some());
    assert!(problem(&"// On and on.\n".repeat(FILE_MAX + 1), "// ").is_some());
}
