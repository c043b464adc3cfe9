//! One member's loop: events in, steps of single objects out. Nothing polls; what takes time is a timer.

use crate::access::Access;
use crate::index::Index;
use crate::kinds::{Key, Kind};
use crate::options::Options;
use crate::steps;
use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::time::DelayQueue;
use windlass_object::meta::{self, Meta};
use windlass_store::Event;

/// Objects worked on at once, so that a durable store can commit them together.
const WORKERS: usize = 64;

/// A step that failed is tried again after this.
const RETRY: Duration = Duration::from_millis(100);

/// After a broken watch the loop starts over after this.
const RESTART: Duration = Duration::from_millis(50);

/// What the steps of one member share.
pub(crate) struct World {
    pub(crate) access: Access,
    pub(crate) options: Options,
    index: Mutex<Index>,
    serial: AtomicU32,
    later: mpsc::UnboundedSender<(Key, Duration)>,
}

impl World {
    /// The index, for a moment.
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that no step of this member had before.
    pub(crate) fn serial(&self) -> u32 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    /// Comes back to an object after a while.
    pub(crate) fn later(&self, key: &Key, after: Duration) {
        // The receiver lives as long as the loop, which ends only with the member.
        let _ = self.later.send((key.clone(), after));
    }
}

/// Runs a member's loop until it is stopped.
pub(crate) async fn run(access: Access, options: Options, stop: CancellationToken) {
    let name = access.server.name().to_owned();
    loop {
        let round = round(access.clone(), options.clone());
        tokio::select! {
            () = stop.cancelled() => return,
            () = round => {}
        }
        tracing::debug!(cluster = name, "the member's loop starts over");
        tokio::time::sleep(RESTART).await;
    }
}

/// From a full reading of the store until its watch breaks.
async fn round(access: Access, options: Options) {
    let (later, mut delayed) = mpsc::unbounded_channel();
    let prefixes: Vec<(String, Kind)> = Kind::all().map(|kind| (access.prefix(kind), kind)).collect();
    let snapshot = access.store.snapshot();
    let Ok(mut watch) = access.store.watch("/", snapshot.revision()) else { return };
    let serial = AtomicU32::new(u32::try_from(snapshot.revision() % u64::from(u32::MAX)).unwrap_or(0));
    let world = Arc::new(World { access, options, index: Mutex::default(), serial, later });
    let mut queue = Queue::default();
    for (prefix, kind) in &prefixes {
        for (path, entry) in snapshot.range(prefix, None) {
            if let Some(key) = parse(*kind, prefix, path) {
                notice(&world, &key, Some(&entry.json_uncached()), &mut queue);
            }
        }
    }
    drop(snapshot);
    let mut timers: DelayQueue<Key> = DelayQueue::new();
    let mut steps: JoinSet<(Key, bool)> = JoinSet::new();
    loop {
        while steps.len() < WORKERS {
            let Some(key) = queue.next() else { break };
            let world = world.clone();
            steps.spawn(async move {
                let done = steps::step(&world, &key).await;
                if let Err(error) = &done {
                    tracing::debug!(kind = key.kind.name(), namespace = key.namespace, name = key.name, %error, "step failed");
                }
                (key, done.is_ok())
            });
        }
        tokio::select! {
            biased;
            event = watch.next() => match event {
                Some(event) => on_event(&world, &prefixes, &event, &mut queue),
                None => return,
            },
            Some(done) = steps.join_next(), if !steps.is_empty() => {
                if let Ok((key, fine)) = done {
                    queue.done(&key);
                    if !fine {
                        timers.insert(key, RETRY);
                    }
                }
            }
            Some((key, after)) = delayed.recv() => {
                timers.insert(key, after);
            }
            Some(due) = futures::future::poll_fn(|cx| timers.poll_expired(cx)), if !timers.is_empty() => {
                queue.add(due.into_inner());
            }
        }
    }
}

fn parse(kind: Kind, prefix: &str, path: &str) -> Option<Key> {
    let rest = path.strip_prefix(prefix)?;
    match rest.split_once('/') {
        Some((namespace, name)) => Some(Key::new(kind, namespace, name)),
        None => Some(Key::new(kind, "", rest)),
    }
}

fn on_event(world: &World, prefixes: &[(String, Kind)], event: &Event, queue: &mut Queue) {
    for (prefix, kind) in prefixes {
        let Some(key) = parse(*kind, prefix, &event.key) else { continue };
        match &event.new {
            Some(entry) => notice(world, &key, Some(&entry.json_uncached()), queue),
            None => {
                if *kind != Kind::Pod
                    && let Some(entry) = &event.previous
                {
                    world.index().owner_gone(entry.json_uncached().uid());
                }
                notice(world, &key, None, queue);
            }
        }
        return;
    }
}

/// Takes one object's state into the index, and queues what it concerns.
fn notice(world: &World, key: &Key, object: Option<&Value>, queue: &mut Queue) {
    let mut index = world.index();
    match object {
        None => {
            if let Some(owner) = index.child_gone(key).and_then(|uid| index.find_owner(&uid)) {
                queue.add(owner);
            }
            if key.kind == Kind::Node {
                index.node_gone(&key.name);
            }
            if key.kind == Kind::Pod {
                index.wait_no_more(key);
                if index.free(key) {
                    index.take_waiting().into_iter().for_each(|pod| queue.add(pod));
                }
            }
        }
        Some(object) => {
            if !matches!(key.kind, Kind::Pod | Kind::Node) {
                index.owner(object.uid(), key);
            }
            if let Some(owner) = meta::controller_of(object) {
                index.child(key, owner.get("uid").and_then(Value::as_str).unwrap_or_default());
                if let Some(kind) = Kind::named(owner.kind()) {
                    queue.add(Key::new(kind, &key.namespace, steps::owner_name(owner)));
                }
            }
            if key.kind == Kind::Node {
                let (capacity, pods) = steps::room(object);
                index.node(&key.name, capacity, pods);
                index.take_waiting().into_iter().for_each(|pod| queue.add(pod));
            }
            queue.add(key.clone());
        }
    }
}

/// Keys to work on: each once, and none by two workers at a time.
#[derive(Default)]
struct Queue {
    order: VecDeque<Key>,
    queued: HashSet<Key>,
    running: HashMap<Key, bool>,
}

impl Queue {
    fn add(&mut self, key: Key) {
        if let Some(again) = self.running.get_mut(&key) {
            *again = true;
        } else if self.queued.insert(key.clone()) {
            self.order.push_back(key);
        }
    }

    fn next(&mut self) -> Option<Key> {
        let key = self.order.pop_front()?;
        self.queued.remove(&key);
        self.running.insert(key.clone(), false);
        Some(key)
    }

    fn done(&mut self, key: &Key) {
        if self.running.remove(key) == Some(true) {
            self.add(key.clone());
        }
    }
}
