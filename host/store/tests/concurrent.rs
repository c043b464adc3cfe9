//! Many writers, watchers and readers at once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise, in its helpers too"
)]

use std::collections::HashSet;
use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use futures::executor::block_on;
use futures::future::join_all;
use windlass_store::{Database, Expect, Op, Options, Store, WriteError};

#[allow(dead_code, reason = "each test uses a part of it")]
mod support;

use support::Disks;

fn count(store: &dyn Store, key: &str) -> (u64, u64) {
    let snapshot = store.snapshot();
    let entry = snapshot.get(key).unwrap();
    (entry.revision(), std::str::from_utf8(entry.bytes()).unwrap().parse().unwrap())
}

#[test]
fn no_increment_is_lost() {
    let database = Database::memory(Options::default());
    let store = database.keyspace("control").unwrap();
    block_on(store.write(vec![Op::create("/counter", "0")])).unwrap();
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            thread::spawn(move || {
                let mut done = 0;
                while done < 100 {
                    let (revision, value) = count(store.as_ref(), "/counter");
                    match block_on(store.write(vec![Op::update(
                        "/counter",
                        revision,
                        (value + 1).to_string(),
                    )])) {
                        Ok(_) => done += 1,
                        Err(WriteError::Conflict { .. }) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(count(store.as_ref(), "/counter").1, 800);
}

/// Watchers that start at any moment from a snapshot see exactly what follows it.
#[test]
fn watches_continue_snapshots_under_load() {
    let database = Database::memory(Options::default());
    let store = database.keyspace("control").unwrap();
    let writers: Vec<_> =
        (0..4)
            .map(|writer| {
                let store = store.clone();
                thread::spawn(move || {
                    for number in 0..500 {
                        block_on(store.write(vec![Op::put(
                            format!("/g/r/{writer}/{}", number % 50),
                            number.to_string(),
                        )]))
                        .unwrap();
                    }
                })
            })
            .collect();
    let watchers: Vec<_> = (0..4)
        .map(|watcher| {
            let store = store.clone();
            thread::spawn(move || {
                for round in 0..20 {
                    let prefix = format!("/g/r/{watcher}/");
                    let snapshot = store.snapshot();
                    let mut watch = store.watch(&prefix, snapshot.revision()).unwrap();
                    let mut last = snapshot.revision();
                    for _ in 0..round {
                        let Some(event) = watch.try_next() else { break };
                        let before = store.snapshot_at(event.revision - 1).unwrap();
                        assert_eq!(before.get(&event.key), event.previous.as_ref());
                        let skipped = store.snapshot_at(event.revision - 1).unwrap();
                        let unseen = skipped.range(&prefix, None).find(|(_, entry)| entry.revision() > last);
                        assert!(
                            unseen.is_none(),
                            "an event between {last} and {} is missing",
                            event.revision
                        );
                        last = event.revision;
                    }
                }
            })
        })
        .collect();
    for thread in writers.into_iter().chain(watchers) {
        thread.join().unwrap();
    }
    assert_eq!(store.watchers(), 0);
}

#[test]
fn writers_share_syncs() {
    let disk = Disks::default();
    let database = disk.open(Options::default());
    let stores: Vec<_> =
        (0..4).map(|number| database.keyspace(&format!("member-{number}")).unwrap()).collect();
    let before = disk.syncs();
    let writes =
        (0..400).map(|number| stores[number % 4].write(vec![Op::create(format!("/g/r/n/{number}"), "{}")]));
    let committed = block_on(join_all(writes.collect::<Vec<_>>()));
    let revisions: HashSet<_> = committed
        .iter()
        .enumerate()
        .map(|(number, done)| (number % 4, done.as_ref().unwrap().revision))
        .collect();
    assert_eq!(revisions.len(), 400, "every write has a revision of its own in its keyspace");
    assert!(disk.syncs() - before < 100, "{} syncs for 400 writes", disk.syncs() - before);
}

#[test]
fn a_slow_watcher_ends_and_resumes_where_it_stopped() {
    let database =
        Database::memory(Options { watch_capacity: 8, first_revision: Some(1), ..Options::default() });
    let store = database.keyspace("control").unwrap();
    let start = store.revision();
    let mut watch = store.watch("/", start).unwrap();
    for number in 0..100 {
        block_on(store.write(vec![Op::create(format!("/k/{number}"), "{}")])).unwrap();
    }
    let mut seen = Vec::new();
    while let Some(event) = block_on(watch.next()) {
        seen.push(event.revision);
    }
    assert_eq!(seen.len(), 8);
    assert_eq!(watch.progress(), start + 8, "a stream that lost events does not claim more than it gave");
    let mut watch = store.watch("/", start + 8).unwrap();
    while let Some(event) = watch.try_next() {
        seen.push(event.revision);
    }
    assert_eq!(seen, (start + 1..=start + 100).collect::<Vec<_>>());
    assert_eq!(watch.progress(), start + 100);
}

#[test]
fn transactions_are_all_or_nothing() {
    let database = Database::memory(Options::default());
    let store = database.keyspace("control").unwrap();
    let before = store.revision();
    let refused = block_on(store.write(vec![
        Op::create("/a", "1"),
        Op::create("/b", "1"),
        Op::delete("/a", Expect::Revision(7)),
    ]));
    assert!(matches!(refused, Err(WriteError::Conflict { key, .. }) if key == "/a"));
    assert!(store.snapshot().is_empty());
    assert_eq!(store.revision(), before);
    assert!(matches!(block_on(store.write(vec![Op::create("", "1")])), Err(WriteError::Key { length: 0 })));
    let done = block_on(store.write(vec![
        Op::create("/a", "1"),
        Op::put("/a", "2"),
        Op::delete("/gone", Expect::Any),
    ]))
    .unwrap();
    assert_eq!((done.events.len(), done.revision), (2, before + 2));
    assert_eq!(done.events[1].new.as_ref().unwrap().create_revision(), before + 1);
}

#[test]
fn frames_are_made_once_and_forgotten() {
    let database = Database::memory(Options::default());
    let store = database.keyspace("control").unwrap();
    let mut watches: Vec<_> = (0..3).map(|_| store.watch("/", store.revision()).unwrap()).collect();
    block_on(store.write(vec![Op::create("/a", "1")])).unwrap();
    let mut made = 0;
    let mut events = Vec::new();
    for watch in &mut watches {
        let event = watch.try_next().unwrap();
        for form in [1, 2] {
            let frame = event.frame(form, || {
                made += 1;
                Bytes::from(form.to_string())
            });
            assert_eq!(frame, form.to_string());
        }
        events.push(event);
    }
    assert_eq!(made, 2);
    for number in 0..1100 {
        block_on(store.write(vec![Op::create(format!("/b/{number}"), "1")])).unwrap();
    }
    events[0].frame(1, || {
        made += 1;
        Bytes::new()
    });
    assert_eq!(made, 3, "an old event does not keep its encodings");
    assert!(Arc::ptr_eq(&events[0], &events[2]));
}
