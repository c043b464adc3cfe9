//! A real file: closing, reopening, dropping without closing; and revisions that never go back, with or without a file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise, in its helpers too"
)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::executor::block_on;
use windlass_store::{Database, Expect, Op, Options};

fn fresh(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("windlass-store-{}-{name}.redb", std::process::id()));
    remove(&path);
    path
}

/// Removes a database, if it is there.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_file(log_of(path));
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-log");
    name.into()
}

#[test]
fn a_log_of_another_database_says_nothing() {
    let path = fresh("stranger");
    let write = || {
        let database = Database::open(&path, Options::default()).unwrap();
        let store = database.keyspace("control").unwrap();
        let found = store.snapshot().len();
        block_on(store.write(vec![Op::create("/a", "1"), Op::create("/b", "2")])).unwrap();
        // Neither closed nor dropped, as after a crash; what lies there is copied.
        let held = std::fs::read(log_of(&path)).unwrap();
        drop((store, database));
        (found, held)
    };
    let (_, log) = write();
    remove(&path);
    std::fs::write(log_of(&path), log).unwrap();
    assert_eq!(write().0, 0, "the log belongs to a file that is gone");
    remove(&path);
}

#[test]
fn a_watch_resumes_over_a_restart() {
    let path = fresh("resume");
    let database = Database::open(&path, Options::default()).unwrap();
    let store = database.keyspace("control").unwrap();
    let other = database.keyspace("member").unwrap();
    let start = store.revision();
    for number in 0..10 {
        block_on(store.write(vec![Op::create(format!("//pods/a/{number}"), format!("{{\"n\":{number}}}"))]))
            .unwrap();
    }
    block_on(other.write(vec![Op::create("//nodes//n", "{}")])).unwrap();
    block_on(store.write(vec![Op::delete_with("//pods/a/3", Expect::Any, "{\"n\":\"last\"}")])).unwrap();
    let (revision, mut watch) = (store.revision(), store.watch("//pods/", start).unwrap());
    let first: Vec<u64> = (0..4).map(|_| watch.try_next().unwrap().revision).collect();
    // Dropped, not closed: opening waits until the writer has let go.
    drop((watch, store, other, database));

    let database = Database::open(&path, Options::default()).unwrap();
    let store = database.keyspace("control").unwrap();
    assert_eq!(store.revision(), revision);
    assert_eq!(store.snapshot().len(), 9);
    let mut watch = store.watch("//pods/", first[3]).unwrap();
    let rest: Vec<_> = std::iter::from_fn(|| watch.try_next()).collect();
    assert_eq!(
        rest.iter().map(|event| event.revision).collect::<Vec<_>>(),
        (first[3] + 1..=revision).collect::<Vec<_>>()
    );
    let last = rest.last().unwrap();
    assert_eq!(last.last.as_ref().unwrap().json()["n"], "last");
    assert_eq!(last.previous.as_ref().unwrap().json()["n"], 3);
    // Versions in the log and in the tree are the same in memory.
    assert!(rest[0].new.as_ref().unwrap().same(store.snapshot().get(&rest[0].key).unwrap()));
    let member = database.keyspace("member").unwrap();
    assert_eq!(
        member.snapshot().range("", None).map(|(key, _)| key.to_owned()).collect::<Vec<_>>(),
        ["//nodes//n"]
    );
    database.close();
    remove(&path);
}

#[test]
fn revisions_survive_deletion_and_compaction() {
    let path = fresh("counter");
    let mut revision = 0;
    for _ in 0..3 {
        let database = Database::open(&path, Options::default()).unwrap();
        let store = database.keyspace("control").unwrap();
        assert!(store.revision() >= revision);
        block_on(store.write(vec![Op::create("/a", "1"), Op::delete("/a", Expect::Any)])).unwrap();
        revision = store.revision();
        block_on(store.compact(revision)).unwrap();
        assert_eq!((store.compacted(), store.snapshot().len()), (revision, 0));
        database.close();
    }
    remove(&path);
}

#[test]
fn memory_follows_the_clock() {
    let first = Database::memory(Options::default()).keyspace("control").unwrap();
    let revision = first.revision();
    for number in 0..1000 {
        drop(first.write(vec![Op::create(format!("/{number}"), "1")]));
    }
    std::thread::park_timeout(Duration::from_millis(1100));
    let second = Database::memory(Options::default()).keyspace("control").unwrap();
    assert!(
        revision > 1_000_000 && second.revision() > first.revision() && first.revision() == revision + 1000
    );
    assert!(second.watch("/", revision).is_err(), "what another process handed out is gone");
    assert!(second.revision() < 1 << 53, "clients may read revisions as floating-point numbers");
}

#[test]
fn revisions_of_an_idle_keyspace_expire() {
    let options = Options {
        max_age: Duration::from_millis(50),
        tick: Duration::from_millis(10),
        first_revision: Some(1),
        ..Options::default()
    };
    let database = Database::memory(options);
    let store = database.keyspace("control").unwrap();
    block_on(store.write(vec![Op::create("/a", "1")])).unwrap();
    let token = store.revision();
    let mut waited = 0;
    while store.snapshot_at(token).is_ok() {
        assert!(waited < 500, "the token never expired");
        waited += 1;
        std::thread::park_timeout(Duration::from_millis(10));
    }
    assert!(waited > 2, "the token expired too early");
    assert_eq!(store.snapshot().len(), 1);
}
