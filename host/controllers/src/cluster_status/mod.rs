//! The cluster status controller: asks each Push member how it is, what it serves and what room it has,
//! and writes that into its Cluster's status. Runs every few seconds, and at once when the member's
//! definitions of custom kinds or nodes change. Owns the status but for the parts that it doesn't name.

mod collect;
mod plan;
mod threshold;

use crate::context::Context;
use crate::kinds::{CLUSTERS, CRDS, NODES};
use collect::Health;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use windlass_api::Cluster;
use windlass_api::labels::FINALIZER_CLUSTER;
use windlass_members::Member;
use windlass_object::meta::Meta;
use windlass_object::time;
use windlass_runtime::{Action, Handle, Queue};

/// Members asked at once.
const WORKERS: usize = 8;

/// How soon after its Cluster's creation a member is asked again, for the cluster controller's finalizer.
const FINALIZER_WAIT: Duration = Duration::from_millis(50);

/// Changes in a member that come together are collected together.
const GATHER: Duration = Duration::from_millis(30);

/// What is remembered of a member between readings.
struct Followed {
    threshold: threshold::Filter,
    /// Informers that a reading needs, kept between readings, and the connection they are of.
    watched: Option<(Arc<Member>, [Handle; 3])>,
}

#[derive(Clone)]
struct Controller {
    context: Context,
    queue: Queue<String>,
    followed: Arc<Mutex<HashMap<String, Followed>>>,
}

/// Starts it.
pub(crate) fn start(context: &Context) {
    let queue: Queue<String> = Queue::new("cluster-status");
    let keys = queue.clone();
    context.kinds.clusters.on_change(move |change| {
        if change.is_of_spec()
            || change.object().is_some_and(|cluster| {
                !cluster.finalizers().is_empty()
                    && change.old.as_ref().is_some_and(|old| old.finalizers().is_empty())
            })
        {
            keys.add(change.key.name.clone());
        }
    });
    let controller = Controller { context: context.clone(), queue: queue.clone(), followed: Arc::default() };
    context.run(queue, WORKERS, move |name| controller.clone().reconcile(name));
}

impl Controller {
    async fn reconcile(self, name: String) -> Result<Action, kube::Error> {
        let object = self.context.kinds.clusters.get("", &name).filter(|cluster| !cluster.is_deleting());
        let Some(object) = object else {
            self.followed().remove(&name);
            return Ok(Action::Done);
        };
        if object.pointer("/spec/syncMode").and_then(Value::as_str) != Some("Push") {
            return Ok(Action::Done);
        }
        if !object.finalizers().contains(&FINALIZER_CLUSTER) {
            return Ok(Action::After(FINALIZER_WAIT, "the cluster controller has not seen it yet"));
        }
        let cluster = match Cluster::from_value(&object) {
            Ok(cluster) => cluster,
            Err(error) => {
                tracing::error!(cluster = name, %error, "the Cluster object can't be read");
                return Ok(Action::Done);
            }
        };
        let (health, member) = match self.context.connector.connect(&cluster).await {
            Ok(member) => (collect::probe(&member).await, Some(member)),
            Err(error) => (Health::Unusable(error.to_string()), None),
        };
        if health == Health::Healthy {
            self.context.unanswered.answered(&name);
        }
        let held = plan::ready(&object);
        let settled = self.settle(&name, &health, held.as_deref());
        let facts = match (&member, settled) {
            (Some(member), true) if health == Health::Healthy => {
                self.follow(&name, member);
                collect::collect(member).await
            }
            _ => None,
        };
        let observed = plan::Observed { health: &health, settled, facts: facts.as_ref(), now: time::now() };
        if let Some(patch) = plan::patch(&object, &observed) {
            self.context.objects(&CLUSTERS).patch_status_json("", &name, &patch).await?;
        }
        let again = if facts.as_ref().is_some_and(|facts| facts.incomplete) {
            Duration::from_secs(1)
        } else {
            self.context.options.status_interval
        };
        Ok(Action::After(again, "status is collected regularly"))
    }

    fn followed(&self) -> std::sync::MutexGuard<'_, HashMap<String, Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what was observed counts already, or the condition stays for a while.
    fn settle(&self, name: &str, health: &Health, held: Option<&str>) -> bool {
        let mut followed = self.followed();
        let entry = followed
            .entry(name.to_owned())
            .or_insert_with(|| Followed { threshold: threshold::Filter::default(), watched: None });
        let limit = self.context.options.status_threshold;
        entry.threshold.settled(health.status(), held, limit, Instant::now())
    }

    /// Watches what in the member calls for a new reading.
    fn follow(&self, name: &str, member: &Arc<Member>) {
        let mut followed = self.followed();
        let Some(entry) = followed.get_mut(name) else { return };
        if entry.watched.as_ref().is_some_and(|(held, _)| Arc::ptr_eq(held, member)) {
            return;
        }
        let definitions = member.informers().watch(&*CRDS);
        let nodes = member.informers().watch(&*NODES);
        for handle in [&definitions, &nodes] {
            let (queue, name) = (self.queue.clone(), name.to_owned());
            handle.on_change(move |change| {
                if change.is_of_spec()
                    || change.initial
                    || plan::matters(change.old.as_deref(), change.new.as_deref())
                {
                    queue.add_after(name.clone(), GATHER);
                }
            });
        }
        // Pods come and go too often to be a cause; a reading finds them here.
        let pods = member.informers().watch(crate::kinds::pods_in_short());
        entry.watched = Some((member.clone(), [definitions, nodes, pods]));
    }
}
