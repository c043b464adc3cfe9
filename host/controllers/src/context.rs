//! What every controller is handed.

use crate::ahead::Ahead;
use crate::apis::Apis;
use crate::dependencies::Dependents;
use crate::kinds::Kinds;
use crate::unanswered::Unanswered;
use kube::Client;
use serde_json::Value;
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};
use windlass_interpret::Chain;
use windlass_members::Connector;
use windlass_object::gvk::{Gvk, Gvr};
use windlass_policy::Transform;
use windlass_runtime::admin::Readiness;
use windlass_runtime::events::Recorder;
use windlass_runtime::{Action, Handle, Informers, ObjectKey, Objects, Queue, Shutdown};
use windlass_schedule::gates::Gates;

/// After a conflict an object is looked at again: until then the informer most likely shows what it was about.
const CONFLICT: Duration = Duration::from_millis(50);

/// What operators may set.
#[derive(Clone, Debug)]
pub struct Options {
    /// Workers per controller.
    pub workers: usize,
    /// The schedulers that run, beside those that SchedulerProfiles ask for.
    pub scheduler_names: Vec<String>,
    /// Which features are on.
    pub gates: Gates,
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
            scheduler_names: vec![windlass_api::labels::DEFAULT_SCHEDULER.into()],
            gates: Gates::default(),
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
    /// Our own writes that informers don't show yet.
    pub(crate) ahead: Ahead,
    /// Works that wait for their member's answer.
    pub(crate) unanswered: Unanswered,
    /// How many Works wait for their turn at their member.
    pub(crate) backlog: Arc<AtomicUsize>,
    /// Bindings that depend on templates.
    pub(crate) dependents: Dependents,
    /// Informers on what may be a template; the detector keeps them.
    pub(crate) templates: Arc<RwLock<HashMap<Gvr, Handle>>>,
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
        let ahead = Ahead::default();
        for handle in [&kinds.bindings, &kinds.cluster_bindings, &kinds.works] {
            ahead.follow(handle);
        }
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
            ahead,
            unanswered: Unanswered::default(),
            backlog: Arc::default(),
            dependents: Dependents::default(),
            templates: Arc::default(),
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
        E: Error + Send + 'static,
    {
        let name = queue.name();
        let reconcile = move |key: K| {
            let outcome = reconcile(key.clone());
            async move {
                match outcome.await {
                    Err(error) if is_conflict(&error) => {
                        tracing::debug!(queue = name, ?key, %error, "somebody else was faster");
                        Ok(Action::After(CONFLICT, "somebody else was faster"))
                    }
                    other => other,
                }
            }
        };
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

    /// The informer on templates of a kind, if it is watched.
    pub(crate) fn template_informer(&self, gvr: &Gvr) -> Option<Handle> {
        self.templates.read().unwrap_or_else(PoisonError::into_inner).get(gvr).cloned()
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
        if let Some(handle) = self.template_informer(&served.gvr)
            && let Some(found) = self.ahead.get(&handle, &ObjectKey::new(text("namespace"), text("name")))
        {
            return Ok(Some(found));
        }
        let found = self.objects(&served.gvr).get(text("namespace"), text("name")).await;
        Ok(found.map_err(TemplateError::Server)?.map(Arc::new))
    }
}

/// Whether an error comes down to a write over something that has changed meanwhile. That is how writers meet, and no
/// fault.
fn is_conflict(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(kube::Error::Api(status)) = error.downcast_ref::<kube::Error>() {
            return status.code == 409 && status.reason == "Conflict";
        }
        next = error.source();
    }
    false
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
static WARY_UNTIL: Mutex<Option<Instant>> = Mutex::new(None);

/// Runs a call of a plugin, which computes and may take its time. Where calls took long lately, the other tasks are moved
/// to another thread first; a first long one holds up a worker, for the time that the engine allows at most.
pub(crate) fn compute<T>(call: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    let until = || WARY_UNTIL.lock().unwrap_or_else(PoisonError::into_inner);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Wrapped {
        #[error("{0}")]
        Server(#[from] kube::Error),
        #[error("other")]
        Other,
    }

    #[test]
    fn conflicts_are_found_beneath() {
        let status = |code: u16, reason: &str| {
            let status =
                kube::core::Status { code, reason: reason.to_owned(), ..kube::core::Status::default() };
            kube::Error::Api(Box::new(status))
        };
        assert!(is_conflict(&status(409, "Conflict")));
        assert!(is_conflict(&Wrapped::from(status(409, "Conflict"))));
        for other in
            [Wrapped::from(status(409, "AlreadyExists")), status(422, "Invalid").into(), Wrapped::Other]
        {
            assert!(!is_conflict(&other), "{other}");
        }
    }
}
