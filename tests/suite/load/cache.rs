//! Compiled components on disk: whatever is wrong with one, it is compiled anew.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use jackfield_engine::{Compiler, Component, Engine};
use jackfield_tests::guest::{self, Guest};
use jackfield_tests::sandbox;

const ONE: Guest = guest::SANDBOX_RETURNS_A_GIANT_STRING;
const OTHER: Guest = guest::SANDBOX_TRAPS_IN_START_FUNCTION;

fn engine(cache: &Path) -> Engine {
    sandbox::engine_with(Compiler::Inline, Some(cache.to_path_buf()))
}

async fn load(cache: &Path) -> Component {
    engine(cache).load(ONE.bytes()).await.expect("whatever lies in the cache, it is loaded")
}

fn artifacts(cache: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "artifact"));
    found.sort();
    found
}

/// After this was done to the one artifact in the cache, it is compiled again, and kept well the next time.
async fn is_compiled_anew(what: &str, damage: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    assert!(!load(&cache).await.cached());
    assert!(load(&cache).await.cached(), "undamaged it is used");
    let [artifact] = artifacts(&cache).try_into().unwrap();
    damage(&artifact);
    assert!(!load(&cache).await.cached(), "{what}: it must not be used");
    assert!(load(&cache).await.cached(), "{what}: the new one is kept");
}

#[tokio::test]
async fn case_6_a_damaged_artifact_is_compiled_anew() {
    is_compiled_anew("emptied", |path| fs::write(path, b"").unwrap()).await;
    is_compiled_anew("noise", |path| fs::write(path, [0x5a; 100]).unwrap()).await;
    for cut in [1, 31, 32, 33, 4096] {
        is_compiled_anew("cut", |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() - cut.min(bytes.len())]).unwrap();
        })
        .await;
    }
    for (numerator, denominator) in [(0, 1), (1, 100), (1, 2), (99, 100)] {
        is_compiled_anew("one bit", |path| {
            let mut bytes = fs::read(path).unwrap();
            let at = bytes.len() * numerator / denominator;
            bytes[at] ^= 1;
            fs::write(path, bytes).unwrap();
        })
        .await;
    }
    is_compiled_anew("a folder", |path| {
        fs::remove_file(path).unwrap();
        symlink("/etc/hostname", path).unwrap();
    })
    .await;
}

/// Another component's artifact under this one's name, made by the same host with the same key.
#[tokio::test]
async fn case_6_a_foreign_artifact_is_compiled_anew() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let _ = engine(&cache).load(OTHER.bytes()).await;
    let [foreign] = artifacts(&cache).try_into().unwrap();
    assert!(!load(&cache).await.cached());
    let own = artifacts(&cache).into_iter().find(|path| *path != foreign).unwrap();
    fs::copy(&foreign, &own).unwrap();
    assert!(!load(&cache).await.cached());
}

/// Made with another key: by another host, or by somebody who would like to be this one.
#[tokio::test]
async fn case_6_another_hosts_artifact_is_compiled_anew() {
    let (theirs, ours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (theirs, ours) = (theirs.path().join("cache"), ours.path().join("cache"));
    load(&theirs).await;
    load(&ours).await;
    fs::copy(&artifacts(&theirs)[0], &artifacts(&ours)[0]).unwrap();
    assert!(!load(&ours).await.cached());
}

#[tokio::test]
async fn case_6_a_folder_that_others_write_to_is_refused() {
    for mode in [0o777, 0o770, 0o1777] {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        let options = jackfield_engine::Options {
            cache: Some(folder.path().to_path_buf()),
            compiler: Compiler::Inline,
            ceilings: jackfield_engine::Ceilings::default(),
            clock: jackfield_model::clock::system(),
        };
        let Err(error) = Engine::new(options) else { panic!("mode {mode:o} was accepted") };
        assert!(error.to_string().contains("chmod"), "it says what to do: {error}");
    }
}

/// Rubbish that was never an artifact, and files of other versions, lie beside and harm nobody.
#[tokio::test]
async fn report_w13_rubbish_in_the_cache_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    load(&cache).await;
    let [artifact] = artifacts(&cache).try_into().unwrap();
    for (name, bytes) in [("random", vec![0xa5; 100]), ("empty", Vec::new())] {
        fs::write(cache.join(format!("{name}.artifact")), bytes).unwrap();
    }
    fs::write(&artifact, [0xa5; 100]).unwrap();
    assert!(!load(&cache).await.cached());
    assert!(load(&cache).await.cached());
}
