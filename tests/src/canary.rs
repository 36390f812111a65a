//! Watches over secrets in the whole suite: whatever a host logs, keeps or prints is searched for every secret that it was
//! given, as it is and as it is commonly written.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

/// Shorter values are no secrets: the host refuses them.
const SECRET_BYTES_MIN: usize = 8;

/// What is looked for: one secret in its usual forms.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let escaped = serde_json::Value::from(secret).to_string();
    let forms = [
        secret.to_owned(),
        STANDARD.encode(secret).trim_end_matches('=').to_owned(),
        URL_SAFE_NO_PAD.encode(secret),
        hex.to_uppercase(),
        hex,
        escaped.trim_matches('"').to_owned(),
    ];
    forms.into_iter().map(String::into_bytes).collect()
}

/// Whether one of these secrets stands in these bytes.
#[must_use]
pub fn is_in(bytes: &[u8], secrets: &[String]) -> bool {
    let secrets = secrets.iter().filter(|secret| secret.len() >= SECRET_BYTES_MIN);
    secrets.flat_map(|secret| forms(secret)).any(|form| bytes.windows(form.len()).any(|window| window == form))
}

/// The files below a folder in which one of these secrets stands. Links are not followed.
#[must_use]
pub fn files_with(folder: &Path, secrets: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            found.extend(files_with(&path, secrets));
        } else if kind.is_ok_and(|kind| kind.is_file()) && fs::read(&path).is_ok_and(|bytes| is_in(&bytes, secrets)) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_found_and_nothing_else() {
        let secrets = ["canary \"of\" the suite".to_owned(), "short".to_owned()];
        for form in forms(&secrets[0]) {
            assert!(is_in(&[b"before ".as_slice(), &form, b" behind"].concat(), &secrets));
        }
        assert!(!is_in(b"canary of the suite, short", &secrets));
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        fs::write(folder.path().join("in/it"), &secrets[0]).unwrap();
        assert_eq!(files_with(folder.path(), &secrets).len(), 1);
    }
}
