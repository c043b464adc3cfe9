//! Power cuts in the middle of commits: the disk fails at any operation, and what was unsynced arrives whole, torn or not at all.
//! What was answered must be there afterwards; what was not answered is there as a whole or not at all; the log continues without a gap.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise, in its helpers too"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::executor::block_on;
use proptest::prelude::*;
use windlass_store::{Database, Op, Options, Store, WriteError};

#[allow(dead_code, reason = "each test uses a part of it")]
mod support;

use support::Disks;

type Objects = BTreeMap<String, Vec<u8>>;

fn options() -> Options {
    // A log that is full after a few transactions.
    Options { max_events: 50, log_bytes: 20_000, ..Options::default() }
}

fn open(disks: &Disks) -> (Database, Arc<dyn Store>) {
    let database = disks.open(options());
    let store = database.keyspace("control").unwrap();
    (database, store)
}

fn objects(store: &dyn Store) -> Objects {
    store.snapshot().range("", None).map(|(key, entry)| (key.to_owned(), entry.bytes().to_vec())).collect()
}

/// The objects that follow from the oldest reachable snapshot and all events since.
fn replayed(store: &dyn Store) -> Objects {
    let oldest = store.snapshot_at(store.compacted()).unwrap();
    let mut objects: Objects =
        oldest.range("", None).map(|(key, entry)| (key.to_owned(), entry.bytes().to_vec())).collect();
    let mut watch = store.watch("", oldest.revision()).unwrap();
    let mut last = oldest.revision();
    while let Some(event) = watch.try_next() {
        assert!(event.revision > last && event.revision <= store.revision());
        last = event.revision;
        let before = objects.get(event.key.as_ref());
        assert_eq!(before, event.previous.as_ref().map(|entry| entry.bytes().to_vec()).as_ref());
        match &event.new {
            Some(entry) => objects.insert(event.key.to_string(), entry.bytes().to_vec()),
            None => objects.remove(event.key.as_ref()),
        };
    }
    objects
}

fn transaction(number: u64) -> Vec<Op> {
    // Sizes vary, so that trees grow and shrink; three keys at once, so that a torn transaction shows.
    let body = vec![b'x'; (number * 37 % 3000) as usize];
    let keys = [number % 7, number * 3 % 11, number * 5 % 13];
    keys.iter()
        .enumerate()
        .map(|(index, key)| {
            let key = format!("/g/r/{index}/{key}");
            if number.is_multiple_of(4) {
                Op::delete(key, windlass_store::Expect::Any)
            } else {
                Op::put(key, body.clone())
            }
        })
        .collect()
}

fn apply(objects: &mut Objects, ops: &[Op]) {
    for op in ops {
        match &op.action {
            windlass_store::Action::Put(bytes) => objects.insert(op.key.clone(), bytes.to_vec()),
            windlass_store::Action::Delete(_) => objects.remove(&op.key),
        };
    }
}

fn run(fuses: Vec<(u32, u64)>) {
    let mut disks = Disks::default();
    let mut expected = Objects::new();
    let mut number = 0;
    let (mut _database, mut store) = open(&disks);
    for (fuse, choice) in fuses {
        disks.fail_after(fuse);
        let answered = store.revision();
        let (unanswered, revision) = loop {
            number += 1;
            let ops = transaction(number);
            let mut after = expected.clone();
            apply(&mut after, &ops);
            match block_on(store.write(ops)) {
                Ok(_) => expected = after,
                Err(WriteError::Journal(_)) => break (after, store.revision()),
                Err(other) => panic!("{other}"),
            }
        };
        assert!(revision >= answered);
        assert_eq!(objects(store.as_ref()), expected, "what failed is not visible");
        disks = disks.unplug(choice);
        (_database, store) = open(&disks);
        let found = objects(store.as_ref());
        assert!(found == expected || found == unanswered, "neither before nor after the last transaction");
        assert!(store.revision() >= revision, "revisions never go back");
        assert_eq!(replayed(store.as_ref()), found, "the log leads to the objects");
        expected = found;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn power_cuts_within_commits(fuses in prop::collection::vec((1..120u32, any::<u64>()), 1..6)) {
        run(fuses);
    }
}
