//! What every controller is handed.

use crate::apis::Apis;
use crate::kinds::Kinds;
use kube::Client;
use serde_json::Value;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use windlass_interpret::Chain;
use windlass_members::Connector;
use windlass_object::gvk::{Gvk, Gvr};
use windlass_policy::Transform;
use windlass_runtime::admin::Readiness;
use windlass_runtime::events::Recorder;
use windlass_runtime::{Action, Informers, Objects, Queue, Shutdown};

/// What operators may set.
#[derive(Clone, Debug)]
pub struct Options {
    /// Workers per controller.
    pub workers: usize,
    /// Whose bindings the scheduler takes.
    pub scheduler_name: String,
    /// Keeps selected clusters that got no replicas.
    pub empty_workload_propagation: bool,
    /// Namespaces whose objects are never propagated: regular expressions for whole names.
    pub skipped_namespaces: Vec<String>,
    /// How often a member's status is collected when nothing calls for it.
    pub status_interval: Duration,
    /// How long a member must answer well, or not at all, before its condition follows.
    pub status_threshold: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 16,
            scheduler_name: "default-scheduler".into(),
            empty_workload_propagation: false,
            skipped_namespaces: vec!["kube-.*".into()],
            status_interval: Duration::from_secs(10),
            status_threshold: Duration::from_secs(30),
        }
    }
}

/// Clients, informers and plugins. Clones are handles to the same.
#[derive(Clone)]
pub struct Context {
    /// A client of the control plane's API server.
    pub control: Client,
    /// Its informers.
    pub informers: Informers,
    /// Informers on our own kinds.
    pub kinds: Kinds,
    /// What the control plane serves.
    pub apis: Apis,
    /// Connections to members.
    pub connector: Connector,
    /// What objects mean.
    pub interpreters: Chain,
    /// How overrides are carried out.
    pub transform: Arc<dyn Transform>,
    /// Where all tasks are registered, and how they are stopped.
    pub shutdown: Shutdown,
    /// What must be read before the process is ready.
    pub readiness: Readiness,
    /// What operators have set.
    pub options: Options,
}

impl Context {
    /// Starts the shared informers.
    pub fn new(
        control: Client,
        connector: Connector,
        interpreters: Chain,
        transform: Arc<dyn Transform>,
        shutdown: Shutdown,
        readiness: Readiness,
        options: Options,
    ) -> Self {
        let informers = Informers::new(control.clone());
        let kinds = Kinds::new(&informers);
        let apis = Apis::new(control.clone(), &kinds.definitions, &shutdown);
        Self {
            control,
            informers,
            kinds,
            apis,
            connector,
            interpreters,
            transform,
            shutdown,
            readiness,
            options,
        }
    }

    /// Objects of a kind in the control plane.
    pub fn objects(&self, gvr: &Gvr) -> Objects {
        Objects::new(self.control.clone(), gvr)
    }

    /// A recorder of events in the control plane.
    pub fn recorder(&self, component: &str) -> Recorder {
        Recorder::new(self.control.clone(), component, &self.shutdown)
    }

    /// Works on a queue, once our kinds have been read, until shutdown.
    pub(crate) fn run<K, F, Fut, E>(&self, queue: Queue<K>, workers: usize, reconcile: F)
    where
        K: Clone + Eq + Hash + Debug + Send + Sync + 'static,
        F: Fn(K) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Action, E>> + Send + 'static,
        E: Display + Send + 'static,
    {
        let (closing, token) = (queue.clone(), self.shutdown.token());
        self.shutdown.spawn(async move {
            token.cancelled().await;
            closing.shut_down();
        });
        let (kinds, apis, token) = (self.kinds.clone(), self.apis.clone(), self.shutdown.token());
        self.shutdown.spawn(async move {
            let read = async {
                kinds.synced().await;
                apis.ready().await;
            };
            tokio::select! {
                () = token.cancelled() => return,
                () = read => {}
            }
            windlass_runtime::queue::run(queue, workers, reconcile).await;
        });
    }

    /// A template, from its informer if there is one, else from the server.
    ///
    /// # Errors
    /// When the server can't be asked, or doesn't serve the kind.
    pub async fn template(&self, resource: &Value) -> Result<Option<Arc<Value>>, TemplateError> {
        let text = |field: &str| resource.get(field).and_then(Value::as_str).unwrap_or_default();
        let gvk = Gvk::from_api_version(text("apiVersion"), text("kind"));
        let Some(served) = self.apis.table().resolve(&gvk).cloned() else {
            return Err(TemplateError::NotServed(gvk));
        };
        let handle =
            self.informers.running().into_iter().find(|scope| {
                scope.gvr == served.gvr && scope.namespace.is_empty() && scope.labels.is_empty()
            });
        if let Some(scope) = handle {
            let informer = self.informers.watch(scope);
            if let Some(found) = informer.get(text("namespace"), text("name")) {
                return Ok(Some(found));
            }
        }
        let found = self.objects(&served.gvr).get(text("namespace"), text("name")).await;
        Ok(found.map_err(TemplateError::Server)?.map(Arc::new))
    }
}

/// Why a template can't be read.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// Its kind isn't served.
    #[error("the control plane does not serve {0}")]
    NotServed(Gvk),
    /// The server said so.
    #[error("{}", windlass_runtime::objects::words(.0))]
    Server(kube::Error),
}

/// A plugin's call that took longer holds up other tasks. Most take a tenth of a millisecond, less than it costs to move the others.
const LONG: Duration = Duration::from_millis(20);

/// For so long after a long call, calls are expected to be long.
const WARY: Duration = Duration::from_secs(60);

/// Until when calls are expected to be long.
static WARY_UNTIL: std::sync::Mutex<Option<std::time::Instant>> = std::sync::Mutex::new(None);

/// Runs a call of a plugin, which computes and may take its time. Where calls took long lately, the other tasks are moved
/// to another thread first; a first long one holds up a worker, for the time that the engine allows at most.
pub(crate) fn compute<T>(call: impl FnOnce() -> T) -> T {
    use std::time::Instant;
    use tokio::runtime::{Handle, RuntimeFlavor};
    let until = || WARY_UNTIL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let begun = Instant::now();
    let wary = until().is_some_and(|until| begun < until);
    let result = match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) if wary => tokio::task::block_in_place(call),
        _ => call(),
    };
    if begun.elapsed() > LONG {
        *until() = Some(Instant::now() + WARY);
    }
    result
}
