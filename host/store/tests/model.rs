//! Random histories against a model: writes that succeed or conflict, compactions, watches from any revision, old snapshots, restarts and
//! power cuts. Every watch must see the model's events in order, once each, with none left out, also across restarts.

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
use windlass_store::{Change, Database, Event, Expect, Op, Options, Store, Watch, WriteError};

#[allow(dead_code, reason = "each test uses a part of it")]
mod support;

use support::Disks;

const KEYS: [&str; 6] = ["//pods/a/x", "//pods/a/y", "//pods/b/x", "/apps/sets/a/x", "/apps/sets//c", "/z"];
const PREFIXES: [&str; 6] = ["", "/", "//pods/", "//pods/a/", "/apps/sets/a/x", "/ap"];

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<(usize, Want, Do)>),
    /// At this share (of 100) of the way from the compacted to the present revision.
    Compact(u64),
    Tick,
    Watch(usize, u64),
    Drain(usize),
    Leave(usize),
    Snapshot(u64),
    Restart,
    PowerCut(u64),
}

#[derive(Clone, Copy, Debug)]
enum Want {
    Any,
    Absent,
    Current,
    Stale,
}

#[derive(Clone, Copy, Debug)]
enum Do {
    Put(u8),
    Delete,
    DeleteWith(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let want = prop_oneof![
        Just(Want::Any),
        Just(Want::Absent),
        Just(Want::Current),
        Just(Want::Current),
        Just(Want::Stale)
    ];
    let action = prop_oneof![3 => any::<u8>().prop_map(Do::Put), 1 => Just(Do::Delete), 1 => any::<u8>().prop_map(Do::DeleteWith)];
    let op = (0..KEYS.len(), want, action);
    let step = prop_oneof![
        12 => prop::collection::vec(op, 1..4).prop_map(Step::Write),
        1 => (0..=100u64).prop_map(Step::Compact),
        1 => Just(Step::Tick),
        3 => (0..PREFIXES.len(), 0..=110u64).prop_map(|(prefix, at)| Step::Watch(prefix, at)),
        3 => (0..8usize).prop_map(Step::Drain),
        1 => (0..8usize).prop_map(Step::Leave),
        2 => (0..=100u64).prop_map(Step::Snapshot),
        1 => Just(Step::Restart),
        1 => any::<u64>().prop_map(Step::PowerCut),
    ];
    prop::collection::vec(step, 1..60)
}

/// What an event says, without the store's own types.
#[derive(Clone, Debug, PartialEq)]
struct Fact {
    revision: u64,
    key: String,
    previous: Option<(u64, Vec<u8>)>,
    new: Option<Vec<u8>>,
    last: Option<Vec<u8>>,
}

impl From<&Event> for Fact {
    fn from(event: &Event) -> Self {
        assert_eq!(event.object().unwrap().revision(), event.revision);
        assert_eq!(event.change() == Change::Deleted, event.new.is_none());
        Self {
            revision: event.revision,
            key: event.key.to_string(),
            previous: event.previous.as_ref().map(|entry| (entry.revision(), entry.bytes().to_vec())),
            new: event.new.as_ref().map(|entry| entry.bytes().to_vec()),
            last: event.last.as_ref().map(|entry| entry.bytes().to_vec()),
        }
    }
}

type Objects = BTreeMap<String, (u64, u64, Vec<u8>)>;

struct Watcher {
    prefix: &'static str,
    after: u64,
    seen: Vec<Fact>,
    watch: Watch,
}

struct World {
    disk: Option<Disks>,
    database: Database,
    store: Arc<dyn Store>,
    objects: Objects,
    history: Vec<Fact>,
    states: BTreeMap<u64, Objects>,
    watchers: Vec<Watcher>,
    compacted: u64,
}

fn options() -> Options {
    Options {
        max_events: 20,
        watch_capacity: 1000,
        max_age: std::time::Duration::ZERO,
        log_bytes: 2_000,
        first_revision: Some(1),
        ..Options::default()
    }
}

impl World {
    fn new(durable: bool) -> Self {
        let disk = durable.then(Disks::default);
        let database = match &disk {
            Some(disk) => disk.open(options()),
            None => Database::memory(options()),
        };
        let store = database.keyspace("control").unwrap();
        let states = BTreeMap::from([(0, Objects::new())]);
        Self {
            disk,
            database,
            store,
            objects: Objects::new(),
            history: vec![],
            states,
            watchers: vec![],
            compacted: 0,
        }
    }

    fn at(&self, percent: u64) -> u64 {
        let (start, end) = (self.store.compacted(), self.store.revision());
        start + (end - start) * percent / 100
    }

    fn write(&mut self, steps: Vec<(usize, Want, Do)>) {
        let mut objects = self.objects.clone();
        let mut revision = self.store.revision();
        let (mut facts, mut ops, mut states, mut conflict) = (vec![], vec![], vec![], false);
        for (index, want, action) in steps {
            let key = KEYS[index];
            let found = objects.get(key).cloned();
            let expect = match want {
                Want::Any => Expect::Any,
                Want::Absent => Expect::Absent,
                Want::Current => {
                    found.as_ref().map_or(Expect::Absent, |(revision, ..)| Expect::Revision(*revision))
                }
                Want::Stale => Expect::Revision(revision + 7),
            };
            conflict |= match expect {
                Expect::Any => false,
                Expect::Absent => found.is_some(),
                Expect::Revision(wanted) => found.as_ref().map(|(revision, ..)| *revision) != Some(wanted),
            };
            let body = |value: u8| format!("{{\"value\":{value}}}").into_bytes();
            let previous = found.as_ref().map(|(revision, _, bytes)| (*revision, bytes.clone()));
            let (op, new, last) = match action {
                Do::Put(value) => (Op { expect, ..Op::put(key, body(value)) }, Some(body(value)), None),
                Do::Delete => (Op::delete(key, expect), None, previous.clone().map(|(_, bytes)| bytes)),
                Do::DeleteWith(value) => (Op::delete_with(key, expect, body(value)), None, Some(body(value))),
            };
            ops.push(op);
            if new.is_none() && found.is_none() {
                continue;
            }
            revision += 1;
            match &new {
                Some(bytes) => {
                    let created = found.map_or(revision, |(_, created, _)| created);
                    objects.insert(key.into(), (revision, created, bytes.clone()));
                }
                None => {
                    objects.remove(key);
                }
            }
            facts.push(Fact { revision, key: key.into(), previous, new, last });
            states.push((revision, objects.clone()));
        }
        let before = self.store.revision();
        match block_on(self.store.write(ops)) {
            Ok(committed) => {
                assert!(!conflict, "a conflict was overlooked");
                assert_eq!(committed.revision, revision);
                assert_eq!(
                    committed.events.iter().map(|event| Fact::from(event.as_ref())).collect::<Vec<_>>(),
                    facts
                );
                self.objects = objects;
                self.history.extend(facts);
                self.states.extend(states);
            }
            Err(WriteError::Conflict { .. }) => {
                assert!(conflict, "a conflict was imagined");
                assert_eq!(self.store.revision(), before);
            }
            Err(other) => panic!("{other}"),
        }
    }

    fn watch(&mut self, prefix: &'static str, after: u64) {
        let oldest = self.store.compacted();
        if oldest > 0 {
            assert_eq!(self.store.watch(prefix, oldest - 1).unwrap_err().compacted, oldest);
        }
        let watch = self.store.watch(prefix, after).unwrap();
        self.watchers.push(Watcher { prefix, after, seen: vec![], watch });
    }

    fn restart(&mut self, cut: Option<u64>) {
        let Some(disk) = self.disk.clone() else { return };
        let (revision, compacted) = (self.store.revision(), self.store.compacted());
        for watcher in &mut self.watchers {
            watcher.drain(&self.history);
        }
        let disk = match cut {
            Some(choice) => disk.unplug(choice),
            None => {
                self.database.close();
                assert!(matches!(
                    block_on(self.store.write(vec![Op::put("/z", "1")])),
                    Err(WriteError::Closed)
                ));
                for watcher in &mut self.watchers {
                    assert!(block_on(watcher.watch.next()).is_none());
                }
                disk
            }
        };
        self.database = disk.open(options());
        self.store = self.database.keyspace("control").unwrap();
        self.disk = Some(disk);
        assert_eq!((self.store.revision(), self.store.compacted()), (revision, compacted));
        for watcher in &mut self.watchers {
            let reached = watcher.seen.last().map_or(watcher.after, |fact| fact.revision).max(compacted);
            watcher.watch = self.store.watch(watcher.prefix, reached).unwrap();
        }
    }

    fn check(&mut self) {
        let snapshot = self.store.snapshot();
        assert_eq!(snapshot.revision(), self.store.revision());
        assert_eq!(objects_of(&snapshot), self.objects);
        for prefix in PREFIXES {
            let found: Vec<&str> = snapshot.range(prefix, None).map(|(key, _)| key).collect();
            let expected: Vec<&String> = self.objects.keys().filter(|key| key.starts_with(prefix)).collect();
            assert_eq!(found, expected);
            if let [first, rest @ ..] = found.as_slice() {
                assert_eq!(snapshot.range(prefix, Some(first)).map(|(key, _)| key).collect::<Vec<_>>(), rest);
            }
        }
        let compacted = self.store.compacted();
        assert!(
            compacted >= self.compacted && compacted <= self.store.revision(),
            "compaction goes forward, within the past"
        );
        self.compacted = compacted;
        let kept = self.history.iter().filter(|fact| fact.revision > compacted).count();
        assert!(kept <= options().max_events);
    }
}

impl Watcher {
    fn drain(&mut self, history: &[Fact]) {
        while let Some(event) = self.watch.try_next() {
            self.seen.push(Fact::from(event.as_ref()));
        }
        let expected =
            history.iter().filter(|fact| fact.revision > self.after && fact.key.starts_with(self.prefix));
        assert_eq!(
            self.seen,
            expected.cloned().collect::<Vec<_>>(),
            "watch of {:?} after {}",
            self.prefix,
            self.after
        );
    }
}

fn objects_of(snapshot: &windlass_store::Snapshot) -> Objects {
    let facts =
        |entry: &windlass_store::Entry| (entry.revision(), entry.create_revision(), entry.bytes().to_vec());
    snapshot.range("", None).map(|(key, entry)| (key.to_owned(), facts(entry))).collect()
}

fn run(durable: bool, steps: Vec<Step>) {
    let mut world = World::new(durable);
    for step in steps {
        match step {
            Step::Write(ops) => world.write(ops),
            Step::Compact(percent) => {
                let at = world.at(percent);
                block_on(world.store.compact(at)).unwrap();
                assert!(world.store.compacted() >= at);
            }
            Step::Tick => {
                let before = world.store.revision();
                world.database.compact().unwrap();
                // Nothing happened since the last tick: the revision may move, without an event.
                assert!(world.store.revision() - before <= 1);
            }
            Step::Watch(prefix, percent) => {
                let at = world.at(percent);
                world.watch(PREFIXES[prefix], at);
            }
            Step::Drain(index) => {
                if let Some(watcher) = world.watchers.get_mut(index) {
                    watcher.drain(&world.history);
                    assert_eq!(watcher.watch.progress(), world.store.revision().max(watcher.after));
                }
            }
            Step::Leave(index) => {
                if index < world.watchers.len() {
                    let running = world.store.watchers();
                    world.watchers.swap_remove(index);
                    assert_eq!(world.store.watchers(), running - 1);
                }
            }
            Step::Snapshot(percent) => {
                let at = world.at(percent);
                let snapshot = world.store.snapshot_at(at).unwrap();
                assert_eq!(snapshot.revision(), at);
                assert_eq!(objects_of(&snapshot), *world.states.range(..=at).next_back().unwrap().1);
                if let Some(gone) = world.store.compacted().checked_sub(1) {
                    assert!(world.store.snapshot_at(gone).is_err());
                }
            }
            Step::Restart => world.restart(None),
            Step::PowerCut(choice) => world.restart(Some(choice)),
        }
        world.check();
    }
    for watcher in &mut world.watchers {
        watcher.drain(&world.history);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn histories_in_memory(steps in steps()) {
        run(false, steps);
    }

    #[test]
    fn histories_on_disk(steps in steps()) {
        run(true, steps);
    }
}
