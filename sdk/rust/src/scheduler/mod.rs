//! Filters and scores of the scheduler.
//!
//! The host keeps an instance's table of clusters current and asks once per binding about many clusters. This module
//! keeps the table, checks generations, and makes bitmaps, score lists and explanations; a plugin says what it reads
//! and decides about one cluster.

mod instance;
mod reason;
mod table;

pub use crate::bindings::scheduler::exports::windlass::scheduler::plugin::{
    ApiEnablement, Binding, BindingFields, Candidates, Cluster, ClusterFields, ClusterId, Description, Error,
    Explanation, ExtensionPoints, Peers, SpreadConstraint, Target,
};
pub use crate::{ClusterAffinity, LabelSelector, Labels, ObjectReference, Requirement, Taint, Toleration};
pub use instance::{Exported, Instance, Slot};
pub use reason::Reason;
pub use table::Table;

use serde_json::Value;

impl From<Cluster> for ClusterId {
    fn from(cluster: Cluster) -> Self {
        cluster.id
    }
}

/// A filter, a score, or both. Implement what [`SchedulerPlugin::describe`] declares; the rest has defaults.
///
/// `passes` and `score` must depend on the binding and on the one cluster alone: the host remembers answers and asks
/// again only about clusters that changed.
pub trait SchedulerPlugin: Sized + 'static {
    /// What is remembered of a cluster; [`Cluster`] itself, a digest that is quicker to ask, or [`ClusterId`] if only that matters.
    type Cluster: From<Cluster> + 'static;
    /// What is worked out once per binding; [`Binding`] itself, or a digest.
    type Prepared;

    /// Name, version, extension points, and what is read. Fields that are not declared arrive empty.
    fn describe() -> Description;

    /// Makes the plugin of its configuration, `{}` if the operator gave none.
    ///
    /// # Errors
    /// When the configuration can't be used; the operator sees the text.
    fn new(config: &Value) -> Result<Self, Error>;

    /// Digests a binding, before clusters are looked at.
    ///
    /// # Errors
    /// When the binding can't be understood; the user sees the text.
    fn prepare(&self, binding: Binding) -> Result<Self::Prepared, Error>;

    /// Whether a cluster may take the binding; the reason is shown to the user.
    ///
    /// # Errors
    /// The reason against the cluster.
    fn passes<'a>(
        &'a self,
        prepared: &'a Self::Prepared,
        cluster: &'a Self::Cluster,
    ) -> Result<(), Reason<'a>> {
        let _ = (prepared, cluster);
        Ok(())
    }

    /// How good a cluster is for the binding, 0 to 100.
    fn score(&self, prepared: &Self::Prepared, cluster: &Self::Cluster) -> i64 {
        let _ = (prepared, cluster);
        0
    }

    /// Rescales the scores of all clusters that passed, if `describe` declares it. Length and order must stay.
    fn normalize(&self, scores: &mut [i64]) {
        let _ = scores;
    }
}

impl Description {
    /// Describes a filter.
    pub fn filter(name: &str, version: &str, clusters: ClusterFields, bindings: BindingFields) -> Self {
        Self::of(name, version, ExtensionPoints::FILTER, clusters, bindings)
    }

    /// Describes a score.
    pub fn score(name: &str, version: &str, clusters: ClusterFields, bindings: BindingFields) -> Self {
        Self::of(name, version, ExtensionPoints::SCORE, clusters, bindings)
    }

    /// Describes any plugin.
    pub fn of(
        name: &str,
        version: &str,
        points: ExtensionPoints,
        reads_clusters: ClusterFields,
        reads_bindings: BindingFields,
    ) -> Self {
        Self { name: name.to_owned(), version: version.to_owned(), points, reads_clusters, reads_bindings }
    }
}

impl From<&str> for Error {
    fn from(text: &str) -> Self {
        Self::Invalid(text.to_owned())
    }
}

impl From<String> for Error {
    fn from(text: String) -> Self {
        Self::Invalid(text)
    }
}

/// An empty binding, to be filled in by tests: `Binding { replicas: 3, ..Default::default() }`.
impl Default for Binding {
    fn default() -> Self {
        let text = String::new;
        Self {
            resource: ObjectReference {
                api_version: text(),
                kind: text(),
                namespace: text(),
                name: text(),
                uid: text(),
            },
            targets: Vec::new(),
            evictions: Vec::new(),
            affinity: Vec::new(),
            tolerations: Vec::new(),
            spread: Vec::new(),
            replicas: 0,
            workload: false,
            peers: Peers { affinity: Vec::new(), anti_affinity: Vec::new() },
        }
    }
}

/// An empty cluster, to be filled in by tests.
impl Default for Cluster {
    fn default() -> Self {
        Self {
            id: 0,
            name: String::new(),
            labels: Vec::new(),
            provider: String::new(),
            region: String::new(),
            zones: Vec::new(),
            taints: Vec::new(),
            apis: Vec::new(),
        }
    }
}

/// Exports a [`SchedulerPlugin`] as the component's `windlass:scheduler/plugin`. Once per crate.
#[macro_export]
macro_rules! export_scheduler {
    ($plugin:ty) => {
        const _: () = {
            ::std::thread_local! {
                static INSTANCE: ::std::cell::RefCell<Option<$crate::scheduler::Instance<$plugin>>> =
                    const { ::std::cell::RefCell::new(None) };
            }
            impl $crate::scheduler::Slot for $plugin {
                fn slot<R>(then: impl FnOnce(&mut Option<$crate::scheduler::Instance<Self>>) -> R) -> R {
                    INSTANCE.with(|slot| then(&mut slot.borrow_mut()))
                }
            }
            #[cfg(target_arch = "wasm32")]
            mod exported {
                use super::*;
                type Component = $crate::scheduler::Exported<$plugin>;
                $crate::bindings::scheduler::__export_scheduler_world!(Component with_types_in $crate::bindings::scheduler);
            }
        };
    };
}
