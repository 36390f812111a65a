//! What is refused before anything of it runs, and how it is said; the compiler's ceilings; the cache of what it made.

mod bombs;
mod cache;
mod contract;
mod features;
mod files;

use jackfield_engine::{LoadError, LoadErrorKind, inspect};
use jackfield_tests::sandbox;

/// This is refused as that, both when it is looked at and when it is loaded.
async fn refused(what: &str, bytes: Vec<u8>, kind: LoadErrorKind) -> LoadError {
    let inspected = inspect(&bytes).map(|inspection| inspection.digest);
    let Err(error) = sandbox::engine().load(bytes).await else { panic!("{what}: it was loaded") };
    assert_eq!(error.kind(), kind, "{what}: {error}");
    if matches!(kind, LoadErrorKind::File | LoadErrorKind::Contract) {
        assert_eq!(inspected, Err(error.clone()), "{what}");
    }
    error
}
