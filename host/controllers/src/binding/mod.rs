//! The binding controllers: make a Work of a binding's template for each of its clusters, with that cluster's
//! replicas and overrides, and take away the Works of clusters that it has left. Own Works of bindings and the
//! bindings' finalizers.

mod apply;

use crate::context::{Context, TemplateError, compute};
use crate::kinds::{BINDINGS, BY_ID, CLUSTER_BINDINGS};
use apply::Writer;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windlass_api::{events, names};
use windlass_object::meta::Meta;
use windlass_object::path::{get, i64_at, str_at};
use windlass_policy::{overrides, work};
use windlass_runtime::events::Recorder;
use windlass_runtime::objects::words;
use windlass_runtime::{Action, Change, ObjectKey, Queue};

/// A binding that the scheduler hasn't looked at since it changed waits so long for that: else members would get the new
/// template with the old replicas first.
const UNDECIDED: Duration = Duration::from_millis(100);

/// How soon a binding whose old copy is being purged is looked at again, should no event tell.
const PURGE: Duration = Duration::from_secs(5);

/// A binding that somebody deletes while its template lives is made again; it stays so long first. `kubectl delete` looks
/// for its UID once, and then waits for an object of its name to go: it would wait for the new one.
const LINGER: Duration = Duration::from_millis(200);

#[derive(Clone)]
struct Controller {
    context: Context,
    recorder: Recorder,
    /// Since when bindings, by UID, are known to be deleted.
    leaving: Arc<Mutex<HashMap<String, Instant>>>,
}

/// Why a binding's Works are not as they should be.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// Some clusters' Works could not be made.
    #[error("{0}")]
    Works(String),
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("{}", windlass_runtime::objects::words(.0))]
    Server(#[from] kube::Error),
}

/// Starts it.
pub(crate) fn start(context: &Context) {
    let queue: Queue<ObjectKey> = Queue::new("binding");
    for handle in [&context.kinds.bindings, &context.kinds.cluster_bindings] {
        let keys = queue.clone();
        handle.on_change(move |change| match look(change) {
            Look::No => {}
            Look::Now => keys.add(change.key.clone()),
            Look::Later => keys.add_after(change.key.clone(), UNDECIDED),
        });
    }
    // A Work that somebody else deletes or edits is put right; a first sight of it is our own doing.
    let keys = queue.clone();
    context.kinds.works.on_change(move |change| {
        if change.old.is_some()
            && change.is_of_spec()
            && let Some(binding) = change.object().and_then(|work| crate::binding_status::binding_of(work))
        {
            keys.add(binding);
        }
    });
    let (keys, bindings) = (queue.clone(), context.kinds.bindings.clone());
    context.kinds.overrides.on_change(move |change| {
        if change.is_of_spec() && !change.initial {
            bindings
                .list_in(&change.key.namespace)
                .iter()
                .for_each(|binding| keys.add(ObjectKey::of(binding)));
        }
    });
    let (keys, kinds) = (queue.clone(), context.kinds.clone());
    context.kinds.cluster_overrides.on_change(move |change| {
        if change.is_of_spec() && !change.initial {
            let all = kinds.bindings.list().into_iter().chain(kinds.cluster_bindings.list());
            all.for_each(|binding| keys.add(ObjectKey::of(&binding)));
        }
    });
    // Rules may name clusters by their labels and places.
    let (keys, kinds) = (queue.clone(), context.kinds.clone());
    context.kinds.clusters.on_change(move |change| {
        let place = |cluster: &Option<Arc<Value>>| {
            cluster.as_ref().map(|c| (c.pointer("/metadata/labels").cloned(), c.get("spec").cloned()))
        };
        if !change.initial && change.old.is_some() && place(&change.old) != place(&change.new) {
            let all = kinds.bindings.list().into_iter().chain(kinds.cluster_bindings.list());
            all.filter(|binding| work::expected_clusters(binding).contains(&change.key.name))
                .for_each(|binding| keys.add(ObjectKey::of(&binding)));
        }
    });
    let controller = Controller {
        context: context.clone(),
        recorder: context.recorder("binding-controller"),
        leaving: Arc::default(),
    };
    context.run(queue, context.options.workers, move |key| controller.clone().reconcile(key));
}

/// Whether a change of a binding concerns its Works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    No,
    Now,
    Later,
}

fn look(change: &Change) -> Look {
    let (Some(old), Some(new)) = (&change.old, &change.new) else { return Look::Now };
    let seen = |binding: &Value| i64_at(binding, &["status", "schedulerObservedGeneration"]);
    let is_decided = seen(new) == Some(new.generation());
    if !change.is_of_spec() {
        return if is_decided && seen(old) != seen(new) { Look::Now } else { Look::No };
    }
    let is_scheduled = |binding: &Value| get(binding, &["status", "lastScheduledTime"]).is_some();
    let clusters = |binding: &Value| get(binding, &["spec", "clusters"]).cloned();
    if is_decided || new.is_deleting() || !is_scheduled(new) || clusters(old) != clusters(new) {
        return Look::Now;
    }
    Look::Later
}

impl Controller {
    fn leaving(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How much longer a deleted binding is to stay; see [`LINGER`].
    async fn lingers(&self, binding: &Value) -> Option<Duration> {
        let since = self.leaving().get(binding.uid()).copied()?;
        let rest = LINGER.checked_sub(since.elapsed()).filter(|rest| !rest.is_zero())?;
        let resource = binding.pointer("/spec/resource")?;
        let template = self.context.template(resource).await.ok().flatten()?;
        let lives = !template.is_deleting() && template.uid() == str_at(resource, &["uid"]);
        lives.then_some(rest)
    }

    async fn reconcile(self, key: ObjectKey) -> Result<Action, Error> {
        let (handle, gvr) = match key.namespace.as_str() {
            "" => (&self.context.kinds.cluster_bindings, &*CLUSTER_BINDINGS),
            _ => (&self.context.kinds.bindings, &*BINDINGS),
        };
        let Some(binding) = self.context.ahead.get(handle, &key) else { return Ok(Action::Done) };
        let writer = Writer { context: &self.context };
        let id = binding.label(work::binding_label(&binding)).unwrap_or_default();
        let works = self.context.kinds.works.by_index(BY_ID, id);
        if binding.is_deleting() {
            self.leaving().entry(binding.uid().to_owned()).or_insert_with(Instant::now);
            if !writer.delete_all(&works).await? {
                // Each Work's end brings it back; a template made anew must not meet the old Works.
                return Ok(Action::After(PURGE, "its works are being deleted"));
            }
            if let Some(rest) = self.lingers(&binding).await {
                return Ok(Action::After(rest, "whoever deleted it is to see it go"));
            }
            writer.release(gvr, &binding).await?;
            self.leaving().remove(binding.uid());
            return Ok(Action::Done);
        }
        let borrowed: Vec<&Value> = works.iter().map(AsRef::as_ref).collect();
        let orphans = work::orphans(&binding, &borrowed);
        if let Err(error) = writer.delete(&orphans).await {
            self.recorder.warning(&*binding, events::CLEANUP_WORK_FAILED, words(&error));
            return Err(error.into());
        }
        let ready = |cluster: &String| self.context.kinds.is_ready(cluster);
        // An unreachable cluster can't confirm that its copy is gone: it isn't waited for.
        if work::direct_purges_pending(&binding, &borrowed).iter().any(ready) {
            return Ok(Action::After(PURGE, "the copy that is being replaced is not gone"));
        }
        let resource = get(&binding, &["spec", "resource"]).cloned().unwrap_or_default();
        let template = match self.context.template(&resource).await {
            Ok(Some(template)) if !template.is_deleting() => template,
            Ok(_) => return Ok(Action::Done),
            Err(error) => {
                self.recorder.warning(&*binding, events::SYNC_WORK_FAILED, error.to_string());
                return Err(error.into());
            }
        };
        if template.uid() != resource.get("uid").and_then(Value::as_str).unwrap_or_default() {
            // A successor of the same name: the detector will say so.
            return Ok(Action::Done);
        }
        self.ensure(&binding, &template, &writer).await?;
        Ok(Action::Done)
    }

    /// Makes the Works of all clusters; one that fails doesn't hold up the others.
    async fn ensure(&self, binding: &Value, template: &Value, writer: &Writer<'_>) -> Result<(), Error> {
        let targets = work::targets(binding);
        let completions = work::completions(binding, template, &targets);
        let kinds = &self.context.kinds;
        let cluster_policies = kinds.cluster_overrides.list();
        let policies = match template.namespace() {
            "" => Vec::new(),
            namespace => kinds.overrides.list_in(namespace),
        };
        let rules = Rules {
            cluster: cluster_policies.iter().map(AsRef::as_ref).collect(),
            namespaced: policies.iter().map(AsRef::as_ref).collect(),
        };
        let mut desired = Vec::new();
        let mut errors = Vec::new();
        let mut revised = Revised::new();
        for target in &targets {
            let share = completions.as_ref().and_then(|shares| shares.get(&target.cluster).copied());
            if completions.is_some() && share.is_none() {
                errors.push(format!("cluster {}: no share of the job's completions", target.cluster));
                continue;
            }
            match compute(|| self.copy(binding, template, target, share, &rules, &mut revised)) {
                Ok(work) => desired.push(work),
                Err(error) => errors.push(error),
            }
        }
        errors.extend(writer.ensure(desired).await);
        if errors.is_empty() {
            return Ok(());
        }
        let message = errors.join("; ");
        self.recorder.warning(binding, events::SYNC_WORK_FAILED, message.clone());
        self.recorder.warning(template, events::SYNC_WORK_FAILED, message.clone());
        Err(Error::Works(message))
    }

    /// The template with this number of replicas; nothing if no interpreter changes it. Each number is asked for once.
    fn revise(
        &self,
        template: &Value,
        replicas: i64,
        revised: &mut Revised,
    ) -> Result<Option<Value>, windlass_interpret::Error> {
        let chain = &self.context.interpreters;
        if !chain.enabled(&template.gvk(), windlass_interpret::Operation::ReviseReplica) {
            return Ok(None);
        }
        if let Some(known) = revised.get(&replicas) {
            return Ok(known.clone());
        }
        let fresh = chain.revise_replica(template, replicas)?;
        revised.insert(replicas, fresh.clone());
        Ok(fresh)
    }

    /// The Work that holds one cluster's copy.
    fn copy(
        &self,
        binding: &Value,
        template: &Value,
        target: &work::Target,
        completions: Option<i64>,
        rules: &Rules<'_>,
        revised: &mut Revised,
    ) -> Result<Value, String> {
        let cluster = self.context.kinds.clusters.get("", &target.cluster);
        let Some(cluster) = cluster else {
            return Err(format!("cluster {} does not exist", target.cluster));
        };
        let revision = if work::is_workload(binding) {
            self.revise(template, target.replicas, revised)
                .map_err(|error| format!("cluster {}: {error}", target.cluster))?
        } else {
            None
        };
        let mut copy = revision.unwrap_or_else(|| template.clone());
        if let Some(share) = completions {
            work::set_completions(&mut copy, share);
        }
        let facts = windlass_policy::ClusterFacts::from_value(&cluster);
        let transform = self.context.transform.as_ref();
        let overridden = overrides::apply(copy, &rules.cluster, &rules.namespaced, &facts, transform)
            .map_err(|error| {
                let message = format!("Apply override policies failed: {error}");
                self.recorder.warning(template, events::APPLY_OVERRIDE_POLICY_FAILED, message);
                error.to_string()
            })?;
        let name = names::work(template.kind(), template.name(), template.namespace());
        let work = work::build(binding, &target.cluster, &overridden, false);
        if work.name() != name {
            return Err(format!(
                "cluster {}: overrides must not change an object's kind, name or namespace",
                target.cluster
            ));
        }
        Ok(work)
    }
}

/// Templates with other numbers of replicas, by the number.
type Revised = BTreeMap<i64, Option<Value>>;

/// Override policies that may apply.
struct Rules<'a> {
    cluster: Vec<&'a Value>,
    namespaced: Vec<&'a Value>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn works_wait_for_the_decision() {
        let binding = |generation: i64, seen: i64, clusters: &[&str]| {
            Some(Arc::new(json!({
                "metadata": {"generation": generation}, "spec": {"clusters": clusters},
                "status": {"lastScheduledTime": "t", "schedulerObservedGeneration": seen},
            })))
        };
        let (none, new) = (None, Some(Arc::new(json!({"metadata": {"generation": 2}}))));
        for (old, new, expected) in [
            (none.clone(), binding(1, 1, &[]), Look::Now),
            (binding(1, 1, &[]), none, Look::Now),
            (binding(1, 1, &["a"]), binding(2, 1, &["a"]), Look::Later),
            (binding(2, 1, &["a"]), binding(2, 2, &["a"]), Look::Now),
            (binding(2, 1, &["a"]), binding(3, 1, &["b"]), Look::Now),
            (binding(3, 1, &["b"]), binding(3, 3, &["b"]), Look::Now),
            (binding(2, 2, &["a"]), binding(2, 2, &["a"]), Look::No),
            (Some(Arc::new(json!({"metadata": {"generation": 1}}))), new, Look::Now),
        ] {
            let change = Change { key: ObjectKey::default(), old, new, initial: false };
            assert_eq!(look(&change), expected, "{change:?}");
        }
    }
}
