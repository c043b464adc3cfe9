//! The cluster controller: gives each member its execution namespace, taints it by its condition, and
//! holds its Cluster object until nothing of it is left. Owns the finalizer and the automatic taints.

mod plan;

use crate::context::Context;
use crate::kinds::{BINDINGS, BY_CLUSTER, CLUSTER_BINDINGS, CLUSTERS, NAMESPACES, WORKS};
use plan::{Observed, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use windlass_api::labels::FINALIZER_EXECUTION;
use windlass_api::{events, names};
use windlass_object::meta::Meta;
use windlass_object::time;
use windlass_runtime::events::Recorder;
use windlass_runtime::objects::{Propagation, code, is_already_exists, words};
use windlass_runtime::{Action, Queue};

/// How soon a Cluster that waits for its remains to go is looked at again, should no event tell.
const REMAINS: Duration = Duration::from_secs(10);

#[derive(Clone)]
struct Controller {
    context: Context,
    recorder: Recorder,
}

/// Starts it.
pub(crate) fn start(context: &Context) {
    let queue: Queue<String> = Queue::new("cluster");
    let keys = queue.clone();
    context.kinds.clusters.on_change(move |change| keys.add(change.key.name.clone()));
    let keys = queue.clone();
    context.kinds.namespaces.on_change(move |change| {
        if let Some(cluster) = names::cluster_of(&change.key.name) {
            keys.add(cluster.to_owned());
        }
    });
    // A leaving member waits for its bindings.
    for handle in [&context.kinds.bindings, &context.kinds.cluster_bindings] {
        let (keys, clusters) = (queue.clone(), context.kinds.clusters.clone());
        handle.on_change(move |_| {
            clusters
                .list()
                .iter()
                .filter(|cluster| cluster.is_deleting())
                .for_each(|c| keys.add(c.name().to_owned()));
        });
    }
    let controller =
        Controller { context: context.clone(), recorder: context.recorder("cluster-controller") };
    context.run(queue, 2, move |name| controller.clone().reconcile(name));
}

impl Controller {
    async fn reconcile(self, name: String) -> Result<Action, kube::Error> {
        let Some(cluster) = self.context.kinds.clusters.get("", &name) else {
            self.context.connector.forget(&name);
            return Ok(Action::Done);
        };
        let namespace = names::execution_namespace(&name);
        let observed = Observed {
            namespace: self.context.kinds.namespaces.get("", &namespace).is_some(),
            targeted: cluster.is_deleting() && self.is_targeted(&name),
            now: time::now(),
        };
        for step in plan::plan(&cluster, &observed) {
            if !self.carry_out(&cluster, &namespace, step).await? {
                return Ok(Action::After(REMAINS, "the member's remains are not gone"));
            }
        }
        Ok(Action::Done)
    }

    fn is_targeted(&self, cluster: &str) -> bool {
        let targets = |binding: &Arc<Value>| {
            let clusters = binding.pointer("/spec/clusters").and_then(Value::as_array);
            clusters
                .into_iter()
                .flatten()
                .any(|target| target.get("name").and_then(Value::as_str) == Some(cluster))
        };
        let kinds = &self.context.kinds;
        kinds.bindings.list().iter().any(targets) || kinds.cluster_bindings.list().iter().any(targets)
    }

    /// Whether the next step may follow.
    async fn carry_out(
        &self,
        cluster: &Arc<Value>,
        namespace: &str,
        step: Step,
    ) -> Result<bool, kube::Error> {
        let clusters = self.context.objects(&CLUSTERS);
        let namespaces = self.context.objects(&NAMESPACES);
        let name = cluster.name();
        match step {
            Step::CreateNamespace(object) => match namespaces.create(&object).await {
                Ok(_) => {
                    let message = format!("Created execution space({namespace}) for cluster({name}).");
                    self.recorder.normal(&**cluster, events::CREATE_EXECUTION_SPACE_SUCCEED, message);
                }
                Err(error) if is_already_exists(&error) => {}
                Err(error) => {
                    self.recorder.warning(&**cluster, events::CREATE_EXECUTION_SPACE_FAILED, words(&error));
                    return Err(error);
                }
            },
            Step::Patch { patch, taints } => match clusters.patch_json("", name, &patch).await {
                Ok(_) => {
                    if let Some(message) = taints {
                        self.recorder.normal(&**cluster, events::TAINT_CLUSTER_SUCCEED, message);
                    }
                }
                // It changed meanwhile: the change brings it back.
                Err(error) if matches!(code(&error), Some(404 | 409 | 422)) => {}
                Err(error) => {
                    if taints.is_some() {
                        self.recorder.warning(&**cluster, events::TAINT_CLUSTER_FAILED, words(&error));
                    }
                    return Err(error);
                }
            },
            Step::ReleaseWorks => {
                let works = self.context.objects(&WORKS);
                for work in self.context.kinds.works.by_index(BY_CLUSTER, name) {
                    let mut freed = (*work).clone();
                    if freed.remove_finalizer(FINALIZER_EXECUTION) {
                        let patch = json!({"metadata": {"finalizers": freed.finalizers()}});
                        works.patch_merge(work.namespace(), work.name(), &patch).await?;
                    }
                }
            }
            Step::DeleteNamespace => {
                let gone = namespaces.delete("", namespace, None, Propagation::Background).await;
                match gone {
                    Ok(_) => {
                        let message = format!("Removed execution space({namespace}) for cluster({name}).");
                        self.recorder.normal(&**cluster, events::REMOVE_EXECUTION_SPACE_SUCCEED, message);
                    }
                    Err(error) => {
                        self.recorder.warning(
                            &**cluster,
                            events::REMOVE_EXECUTION_SPACE_FAILED,
                            words(&error),
                        );
                        return Err(error);
                    }
                }
            }
            Step::Untarget => {
                let kinds = &self.context.kinds;
                for (handle, gvr) in
                    [(&kinds.bindings, &BINDINGS), (&kinds.cluster_bindings, &CLUSTER_BINDINGS)]
                {
                    let bindings = self.context.objects(gvr);
                    for binding in handle.list() {
                        let Some(patch) = plan::untarget(&binding, name) else { continue };
                        let done = bindings.patch_json(binding.namespace(), binding.name(), &patch);
                        match done.await {
                            // It changed meanwhile: the change brings the cluster back.
                            Err(error) if !matches!(code(&error), Some(404 | 409 | 422)) => {
                                return Err(error);
                            }
                            _ => {}
                        }
                    }
                }
            }
            Step::Wait => return Ok(false),
        }
        Ok(true)
    }
}
