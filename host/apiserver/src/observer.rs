//! The server's eye on its own store: every event passes here once, and becomes work
//! for garbage collection, namespace and CRD clean-up and service accounts. Nothing
//! here waits or polls; the work is done by [`crate::worker`].

use crate::accounts;
use crate::crd;
use crate::gc::Graph;
use crate::server::{Profile, Server};
use crate::worker::{self, Task};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use windlass_object::meta::Meta as _;
use windlass_store::{Entry, Watch};

/// How long to wait when a watch brought nothing before it ended: the store is closing.
const PAUSE: Duration = Duration::from_millis(100);

/// What a group of loops shares.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    graph: Arc<Mutex<Graph>>,
}

impl Shared {
    /// The index of owners.
    pub(crate) fn graph(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the loops of a server.
pub(crate) fn start(server: &Server) {
    let shared = Shared::default();
    let tasks = worker::start(server, &shared);
    let mut observer = Observer {
        server: server.clone(),
        shared,
        tasks,
        namespaces: HashSet::new(),
        definitions: HashMap::new(),
    };
    tokio::spawn(async move { observer.run().await });
}

struct Observer {
    server: Server,
    shared: Shared,
    tasks: UnboundedSender<Task>,
    /// Namespaces that are on their way out.
    namespaces: HashSet<String>,
    /// CRDs that are on their way out, by the prefix of their objects.
    definitions: HashMap<String, String>,
}

impl Observer {
    async fn run(&mut self) {
        let stopping = self.server.stopping();
        while !stopping.is_cancelled() {
            let Some(mut watch) = self.begin() else { continue };
            let mut seen = 0u64;
            loop {
                let event = tokio::select! {
                    event = watch.next() => event,
                    () = stopping.cancelled() => return,
                };
                let Some(event) = event else { break };
                seen += 1;
                self.observe(&event.key, event.previous.as_ref(), event.new.as_ref());
            }
            if seen == 0 {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Looks at everything there is, and watches from there.
    fn begin(&mut self) -> Option<Watch> {
        *self.shared.graph() = Graph::default();
        self.namespaces.clear();
        self.definitions.clear();
        let snapshot = self.server.store().snapshot();
        for (key, entry) in snapshot.range("/", None) {
            self.observe(key, None, Some(entry));
        }
        self.server.store().watch("/", snapshot.revision()).ok()
    }

    fn send(&self, task: Task) {
        // The worker ends with the server only.
        let _ = self.tasks.send(task);
    }

    fn observe(&mut self, key: &str, previous: Option<&Entry>, new: Option<&Entry>) {
        let tasks = self.shared.graph().observe(key, previous, new);
        tasks.into_iter().for_each(|task| self.send(task));
        if let Some(name) = key.strip_prefix("/core/namespaces/") {
            self.namespace(name, new);
        } else if let Some(name) = key.strip_prefix(crd::PREFIX) {
            self.definition(name, new);
        } else if new.is_none() {
            self.gone(key);
        }
        if let Some(task) = accounts::concern(&self.server, key, previous, new) {
            self.send(task);
        }
    }

    fn namespace(&mut self, name: &str, new: Option<&Entry>) {
        match new {
            Some(entry) if entry.json().is_deleting() => {
                if self.namespaces.insert(name.to_owned()) || entry.json().finalizers().is_empty() {
                    self.send(Task::Namespace(name.to_owned()));
                }
            }
            Some(entry) => {
                if self.server.profile() == Profile::Member && entry.create_revision() == entry.revision() {
                    self.send(Task::Furnish(name.to_owned()));
                }
            }
            None => {
                self.namespaces.remove(name);
            }
        }
    }

    fn definition(&mut self, name: &str, new: Option<&Entry>) {
        let Some(entry) = new else {
            self.definitions.retain(|_, other| other != name);
            // The writer who removed it may not have come to this yet.
            crd::sync(&self.server, name);
            // Its names are free now: somebody may be waiting for them.
            let snapshot = self.server.store().snapshot();
            for (key, other) in snapshot.range(crd::PREFIX, None) {
                if crd::waits_for_names(other.json()) {
                    self.send(Task::Accept(key.strip_prefix(crd::PREFIX).unwrap_or_default().to_owned()));
                }
            }
            return;
        };
        if entry.json().is_deleting() {
            self.definitions.insert(crd::objects_of(entry.json()), name.to_owned());
            self.send(Task::Definition(name.to_owned()));
        }
    }

    /// Something is gone: whoever waits for that looks again.
    fn gone(&self, key: &str) {
        if self.namespaces.is_empty() && self.definitions.is_empty() {
            return;
        }
        let mut parts = key.splitn(5, '/').skip(1);
        let (Some(group), Some(resource), Some(third)) = (parts.next(), parts.next(), parts.next()) else {
            return;
        };
        if parts.next().is_some() && self.namespaces.contains(third) {
            self.send(Task::Namespace(third.to_owned()));
        }
        if let Some(name) = self.definitions.get(&format!("/{group}/{resource}/")) {
            self.send(Task::Definition(name.clone()));
        }
    }
}
