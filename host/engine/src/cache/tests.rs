//! Whatever is wrong in the cache: one warning, and the component works.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Mutex;

use tracing_subscriber::fmt::MakeWriter;

use super::*;
use crate::compile::Compiler;
use crate::engine::{Engine, EngineError};
use crate::testing::{component, engine_with};

fn engine(folder: &std::path::Path) -> Engine {
    engine_with(Some(folder.to_owned()), Compiler::Inline)
}

fn artifacts(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "artifact"));
    paths.sort();
    paths
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Log {
    fn warnings(&self) -> usize {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap().matches("WARN").count()
    }
}

#[tokio::test]
async fn w13_the_second_load_is_cached_also_by_another_engine() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = component("");
    let first = engine(folder.path()).load(bytes.clone()).await.unwrap();
    let second = engine(folder.path()).load(bytes).await.unwrap();
    assert_eq!((first.cached(), second.cached()), (false, true));
    assert_eq!(first.artifact_size(), second.artifact_size());
    // Of the cached one nothing was parsed again.
    assert_eq!((first.imports(), first.exports()), (second.imports(), second.exports()));
    assert_eq!(artifacts(folder.path()).len(), 1);
    assert_eq!(fs::metadata(folder.path().join("key")).unwrap().permissions().mode() & 0o777, 0o600);
}

/// Caches of one process are made in one folder at once: they agree on the key, and what each writes is whole.
#[test]
fn caches_of_one_process_stay_out_of_each_others_way() {
    const CACHES: u8 = 4;
    for round in 0..50 {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("cache");
        let start = std::sync::Barrier::new(usize::from(CACHES));
        let cache = |number: u8| {
            start.wait();
            let folder = Folder::open(path.clone()).unwrap();
            let key = Key::open(folder.path()).unwrap();
            folder.write("one.artifact", &[number; 100_000]).unwrap();
            key.mac(&[b"the same"])
        };
        let keys: Vec<_> = std::thread::scope(|scope| {
            let caches: Vec<_> = (0..CACHES)
                .map(|number| {
                    scope.spawn({
                        let cache = &cache;
                        move || cache(number)
                    })
                })
                .collect();
            caches.into_iter().map(|cache| cache.join().unwrap()).collect()
        });
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "round {round}: one key");
        let written = fs::read(artifacts(&path)[0].clone()).unwrap();
        assert!(written.len() == 100_000 && written.iter().all(|byte| *byte == written[0]), "round {round}: whole");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 2, "round {round}: nothing else is left");
    }
}

type Damage = dyn Fn(&std::path::Path);

/// Loads once, damages the artifact, loads again.
async fn damaged(damage: impl Fn(&std::path::Path)) -> (Log, bool) {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let bytes = component("");
    engine.load(bytes.clone()).await.unwrap();
    damage(&artifacts(folder.path())[0]);
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let again = engine.load(bytes.clone()).await.unwrap();
    drop(guard);
    // And it is whole again.
    assert!(engine.load(bytes).await.unwrap().cached());
    (log, again.cached())
}

#[tokio::test]
async fn case_6_and_w13_anything_odd_is_compiled_again() {
    let rewrite = |change: fn(Vec<u8>) -> Vec<u8>| {
        move |path: &std::path::Path| fs::write(path, change(fs::read(path).unwrap())).unwrap()
    };
    let flip = |at: fn(usize) -> usize| {
        move |path: &std::path::Path| {
            let mut bytes = fs::read(path).unwrap();
            let at = at(bytes.len());
            bytes[at] ^= 1;
            fs::write(path, bytes).unwrap();
        }
    };
    let cases: Vec<(&str, Box<Damage>)> = vec![
        ("empty", Box::new(rewrite(|_| Vec::new()))),
        ("100 bytes of something", Box::new(rewrite(|_| vec![0x5a; 100]))),
        ("cut in the header", Box::new(rewrite(|bytes| bytes[..40].to_vec()))),
        ("cut in the artifact", Box::new(rewrite(|bytes| bytes[..bytes.len() - 1].to_vec()))),
        (
            "longer",
            Box::new(rewrite(|mut bytes| {
                bytes.push(0);
                bytes
            })),
        ),
        ("flipped form", Box::new(flip(|_| 0))),
        ("flipped digest", Box::new(flip(|_| 8))),
        ("flipped engine", Box::new(flip(|_| 40))),
        ("flipped length", Box::new(flip(|_| 72))),
        ("flipped length of the shape", Box::new(flip(|_| 80))),
        ("length of the shape beyond the end", Box::new(flip(|_| 87))),
        ("flipped MAC", Box::new(flip(|_| 88))),
        ("flipped shape", Box::new(flip(|_| 121))),
        ("flipped artifact", Box::new(flip(|len| len / 2))),
        ("flipped end", Box::new(flip(|len| len - 1))),
        (
            "a link",
            Box::new(|path: &std::path::Path| {
                let aside = path.with_extension("aside");
                fs::rename(path, &aside).unwrap();
                symlink(aside, path).unwrap();
            }),
        ),
        (
            "a folder",
            Box::new(|path: &std::path::Path| {
                fs::remove_file(path).unwrap();
                symlink("/", path).unwrap();
            }),
        ),
    ];
    for (what, damage) in cases {
        let (log, cached) = damaged(damage).await;
        assert!(!cached, "{what} was taken");
        assert_eq!(log.warnings(), 1, "{what}");
    }
}

#[tokio::test]
async fn case_6_swapped_for_another_component() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let (one, other) = (component(""), component("(memory 1)"));
    engine.load(one.clone()).await.unwrap();
    let first = artifacts(folder.path()).remove(0);
    engine.load(other.clone()).await.unwrap();
    let second = artifacts(folder.path()).into_iter().find(|path| *path != first).unwrap();
    fs::copy(&first, &second).unwrap();
    assert!(!engine.load(other).await.unwrap().cached());
    assert!(engine.load(one).await.unwrap().cached());
}

#[tokio::test]
async fn case_6_made_by_another_version_of_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let bytes = component("");
    engine.load(bytes.clone()).await.unwrap();
    let path = artifacts(folder.path()).remove(0);
    // Whole, and sealed with the right key, for an engine that is not this one.
    let cache = engine.cache().unwrap();
    let sealed = fs::read(&path).unwrap();
    let contents = cache.0.expected(Digest::of(&bytes)).open(&cache.0.key, &sealed).unwrap();
    let elsewhere = Sealed { digest: Digest::of(&bytes).0, compatibility: [7; 32] }.seal(&cache.0.key, contents);
    fs::write(&path, elsewhere).unwrap();
    assert!(!engine.load(bytes).await.unwrap().cached());
}

/// Seals another shape over the artifact that is there, as a host with this key could have.
fn reshape(engine: &Engine, path: &std::path::Path, bytes: &[u8], change: impl FnOnce(&str) -> String) {
    let cache = engine.cache().unwrap();
    let sealed = fs::read(path).unwrap();
    let Contents { shape, artifact } = cache.0.expected(Digest::of(bytes)).open(&cache.0.key, &sealed).unwrap();
    let shape = change(std::str::from_utf8(shape).unwrap());
    fs::write(path, cache.0.seal(Digest::of(bytes), shape.as_bytes(), artifact)).unwrap();
}

#[tokio::test]
async fn names_that_this_host_does_not_know_are_refused_of_a_cached_component_too() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let bytes = component("");
    engine.load(bytes.clone()).await.unwrap();
    let path = artifacts(folder.path()).remove(0);
    reshape(&engine, &path, &bytes, |shape| {
        shape.replace("jackfield:connector/connector@", "jackfield:connector/newer@")
    });
    let error = engine.load(bytes.clone()).await.unwrap_err();
    assert_eq!(error.kind(), crate::LoadErrorKind::Contract);
    assert!(error.to_string().contains("missing export `jackfield:connector/connector@"), "{error}");
    // What another version wrote down in another form is as if it were not there.
    reshape(&engine, &path, &bytes, |_| "{}".to_owned());
    assert!(!engine.load(bytes.clone()).await.unwrap().cached());
    assert!(engine.load(bytes).await.unwrap().cached());
}

fn refused(folder: &std::path::Path) -> String {
    let ceilings = crate::Ceilings { instances: 4, memory: 1 << 20 };
    let cache = Some(folder.to_owned());
    let clock = jackfield_model::clock::system();
    match Engine::new(crate::Options { cache, compiler: Compiler::Inline, ceilings, clock }) {
        Err(EngineError::Cache(error)) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{} was taken", folder.display()),
    }
}

#[test]
fn case_6_a_folder_that_others_may_write_to_refuses_the_start() {
    for mode in [0o777, 0o770, 0o720] {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        let error = refused(folder.path());
        assert!(error.contains("others could put code there") && error.contains("chmod 700"), "{error}");
    }
}

#[tokio::test]
async fn case_6_a_key_that_others_may_read_refuses_the_start() {
    let folder = tempfile::tempdir().unwrap();
    drop(engine(folder.path()));
    let key = folder.path().join("key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(refused(folder.path()).contains("others may read or write it"));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, [0; 31]).unwrap();
    assert!(refused(folder.path()).contains("31 bytes"));
    fs::remove_file(&key).unwrap();
    symlink("/etc/hostname", &key).unwrap();
    refused(folder.path());
}

#[test]
fn the_oldest_artifacts_go() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Folder::open(folder.path().to_owned()).unwrap();
    for index in 0..100 {
        cache.write(&format!("{index:03}.artifact"), b"x").unwrap();
    }
    assert_eq!(artifacts(folder.path()).len(), 64);
    assert!(artifacts(folder.path()).iter().all(|path| path.extension().is_some()));
}
