//! The embedded backend as the suites want it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use jackfield_store::Stores;
use jackfield_store::conformance::{Backend, End, Setup};
use jackfield_store::sqlite::{Options, Sqlite};
use tempfile::TempDir;

/// A store in a folder of its own.
pub(crate) struct Embedded {
    store: Arc<Sqlite>,
    folder: TempDir,
    setup: Setup,
}

impl Embedded {
    fn open(folder: TempDir, setup: Setup) -> Self {
        let store = Sqlite::open(folder.path(), options(&setup)).unwrap();
        Self { store, folder, setup }
    }
}

impl Backend for Embedded {
    async fn fresh(setup: Setup) -> Self {
        Self::open(tempfile::tempdir().unwrap(), setup)
    }

    fn stores(&self) -> Stores {
        Stores::of(Arc::clone(&self.store))
    }

    async fn reopen(self, end: End) -> Self {
        let Self { store, folder, setup } = self;
        let folder = match end {
            End::Clean => folder,
            End::Killed => as_killed(folder.path()),
        };
        assert_eq!(Arc::strong_count(&store), 1, "somebody still has the store");
        drop(store);
        Self::open(folder, setup)
    }
}

fn options(setup: &Setup) -> Options {
    let clock: Arc<dyn jackfield_model::Clock> = setup.clock.clone();
    Options { clock, dedupe_entries: setup.dedupe_entries, ..Options::default() }
}

/// The files as they are while the store is open: what a process leaves that is killed now, with nothing under way. The log
/// comes second, so that a page which is moved meanwhile is in one of the two.
pub(crate) fn as_killed(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in ["jackfield.db", "jackfield.db-wal"] {
        fs::copy(folder.join(file), copy.path().join(file)).unwrap();
    }
    copy
}
