//! Events about objects, as `kubectl describe` shows them. Fire and forget: a queue and one task take them away from
//! the reconciler. A repeated event is counted on the one that is there, and rarely; only what is new is written.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kube::Client;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_object::time;

use crate::objects::{Objects, is_not_found};
use crate::shutdown::Shutdown;

/// Events that wait to be written. More are dropped: they are a courtesy, memory is not.
const QUEUE: usize = 4096;
/// Remembered events, to recognise repeated ones; the whole memory goes when it is full.
const REMEMBERED: usize = 4096;
/// How often a repeated event is counted on the server.
const COUNT_EVERY: Duration = Duration::from_secs(300);
/// Events about one object in `WINDOW`, so that no object's fight fills the store.
const PER_OBJECT: u32 = 25;
/// Over what time events about one object are counted.
const WINDOW: Duration = Duration::from_secs(300);
/// Longest message that the API takes.
const MAX_MESSAGE: usize = 1024;

/// The object that an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// UID; `kubectl describe` finds events by it.
    pub uid: String,
}

impl From<&Value> for Reference {
    fn from(object: &Value) -> Self {
        Self {
            api_version: object.api_version().to_owned(),
            kind: object.kind().to_owned(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
        }
    }
}

/// Writes events of one component. Cheap to clone.
#[derive(Clone)]
pub struct Recorder {
    sender: mpsc::Sender<Entry>,
}

struct Entry {
    about: Reference,
    type_: &'static str,
    reason: String,
    message: String,
}

impl Recorder {
    /// A recorder; `component` is the source that events name.
    pub fn new(client: Client, component: &str, shutdown: &Shutdown) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let writer = Writer {
            events: Objects::new(client, &Gvr::new("", "v1", "events")),
            component: component.to_owned(),
            known: HashMap::new(),
            budgets: HashMap::new(),
            counter: 0,
        };
        let token = shutdown.token();
        shutdown.spawn(async move {
            tokio::select! {
                () = token.cancelled() => {}
                () = writer.run(receiver) => {}
            }
        });
        Self { sender }
    }

    /// A recorder that writes nothing, for tests.
    pub fn discard() -> Self {
        let (sender, _) = mpsc::channel(1);
        Self { sender }
    }

    /// Something went as it should.
    pub fn normal(&self, about: impl Into<Reference>, reason: &str, message: impl Into<String>) {
        self.record(about.into(), "Normal", reason, message.into());
    }

    /// Something needs attention.
    pub fn warning(&self, about: impl Into<Reference>, reason: &str, message: impl Into<String>) {
        self.record(about.into(), "Warning", reason, message.into());
    }

    fn record(&self, about: Reference, type_: &'static str, reason: &str, message: String) {
        if about.name.is_empty() || about.kind.is_empty() {
            return;
        }
        let entry = Entry { about, type_, reason: reason.to_owned(), message: shorten(message) };
        if self.sender.try_send(entry).is_err() {
            tracing::debug!(reason, "event dropped: too many wait");
        }
    }
}

struct Writer {
    events: Objects,
    component: String,
    known: HashMap<(Reference, &'static str, String), Known>,
    budgets: HashMap<Reference, Budget>,
    counter: u64,
}

/// The last event with some reason about some object.
struct Known {
    name: String,
    message: String,
    count: i64,
    written: Instant,
}

struct Budget {
    since: Instant,
    spent: u32,
}

impl Writer {
    async fn run(mut self, mut receiver: mpsc::Receiver<Entry>) {
        while let Some(entry) = receiver.recv().await {
            self.write(entry).await;
        }
    }

    async fn write(&mut self, entry: Entry) {
        if self.known.len() > REMEMBERED || self.budgets.len() > REMEMBERED {
            self.known.clear();
            self.budgets.clear();
        }
        let key = (entry.about.clone(), entry.type_, entry.reason.clone());
        let namespace = namespace_of(&entry.about).to_owned();
        if let Some(known) = self.known.get_mut(&key)
            && known.message == entry.message
        {
            known.count += 1;
            if known.written.elapsed() < COUNT_EVERY {
                return;
            }
            let patch = json!({ "count": known.count, "lastTimestamp": time::now() });
            match self.events.patch_merge(&namespace, &known.name, &patch).await {
                Ok(_) => {
                    known.written = Instant::now();
                    return;
                }
                // It was cleaned up meanwhile: write it anew.
                Err(error) if is_not_found(&error) => {}
                Err(error) => return tracing::debug!(%error, "event not counted"),
            }
        }
        if !self.afford(&entry.about) {
            return;
        }
        let name = self.name(&entry.about);
        let event = self.render(&entry, &name, &namespace);
        match self.events.create(&event).await {
            Ok(_) => {
                self.known
                    .insert(key, Known { name, message: entry.message, count: 1, written: Instant::now() });
            }
            Err(error) => tracing::debug!(%error, reason = entry.reason, "event not written"),
        }
    }

    fn afford(&mut self, about: &Reference) -> bool {
        let now = Instant::now();
        let budget = self.budgets.entry(about.clone()).or_insert(Budget { since: now, spent: 0 });
        if now.duration_since(budget.since) > WINDOW {
            *budget = Budget { since: now, spent: 0 };
        }
        budget.spent += 1;
        budget.spent <= PER_OBJECT
    }

    fn name(&mut self, about: &Reference) -> String {
        self.counter += 1;
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        // The counter tells apart what happens within the clock's grain.
        format!("{}.{nanos:x}{:x}", about.name, self.counter % 256)
    }

    fn render(&self, entry: &Entry, name: &str, namespace: &str) -> Value {
        let now = time::now();
        let about = &entry.about;
        let mut involved = json!({ "apiVersion": about.api_version, "kind": about.kind, "name": about.name });
        if let Some(map) = involved.as_object_mut() {
            for (field, value) in [("namespace", &about.namespace), ("uid", &about.uid)] {
                if !value.is_empty() {
                    map.insert(field.into(), value.as_str().into());
                }
            }
        }
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": { "name": name, "namespace": namespace },
            "involvedObject": involved,
            "type": entry.type_,
            "reason": entry.reason,
            "message": entry.message,
            "source": { "component": self.component },
            "reportingComponent": self.component,
            "reportingInstance": "",
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        })
    }
}

/// Events live beside their object; those of cluster-scoped ones in `default`.
fn namespace_of(about: &Reference) -> &str {
    match about.namespace.as_str() {
        "" => "default",
        namespace => namespace,
    }
}

fn shorten(mut message: String) -> String {
    if message.len() > MAX_MESSAGE {
        let end = (0..=MAX_MESSAGE - 3).rev().find(|i| message.is_char_boundary(*i)).unwrap_or(0);
        message.truncate(end);
        message.push('…');
    }
    message
}
