//! The namespace controller: every namespace of the control plane, but for the reserved ones, is made in every
//! member, so that what is propagated finds its place. Owns the Works that hold Namespaces.

use crate::context::{Context, compute};
use crate::kinds::WORKS;
use crate::patches::guarded;
use regex::Regex;
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_api::labels::{LABEL_SKIP_AUTO_PROPAGATION, VALUE_TRUE};
use windlass_api::names;
use windlass_object::meta::Meta;
use windlass_object::path::str_at;
use windlass_policy::{ClusterFacts, overrides, work};
use windlass_runtime::objects::is_already_exists;
use windlass_runtime::{Action, ObjectKey, Queue};

#[derive(Clone)]
struct Controller {
    context: Context,
    skipped: Arc<Vec<Regex>>,
}

/// Why a namespace was not synced to some cluster.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Override(#[from] overrides::OverrideError),
    #[error(transparent)]
    Work(#[from] work::WorkError),
    #[error("{}", windlass_runtime::objects::words(.0))]
    Server(#[from] kube::Error),
}

/// Starts it.
pub(crate) fn start(context: &Context) {
    let queue: Queue<String> = Queue::new("namespace");
    let (keys, namespaces) = (queue.clone(), context.kinds.namespaces.clone());
    context.kinds.namespaces.on_change(move |change| {
        keys.add(change.key.name.clone());
        // A member's execution namespace has arrived: now it can take Works.
        if change.old.is_none() && names::cluster_of(&change.key.name).is_some() {
            namespaces.list().iter().for_each(|namespace| keys.add(namespace.name().to_owned()));
        }
    });
    let (keys, namespaces) = (queue.clone(), context.kinds.namespaces.clone());
    context.kinds.clusters.on_change(move |change| {
        if change.old.is_none() {
            namespaces.list().iter().for_each(|namespace| keys.add(namespace.name().to_owned()));
        }
    });
    let (keys, namespaces) = (queue.clone(), context.kinds.namespaces.clone());
    context.kinds.cluster_overrides.on_change(move |_| {
        namespaces.list().iter().for_each(|namespace| keys.add(namespace.name().to_owned()));
    });
    // A Work that somebody else deletes or edits is put right; a first sight of it is our own doing.
    let keys = queue.clone();
    context.kinds.works.on_change(move |change| {
        if change.old.is_some()
            && change.is_of_spec()
            && let Some(name) = change.object().and_then(|work| namespace_of(work))
        {
            keys.add(name);
        }
    });
    let skipped = crate::detector::whole_names(&context.options.skipped_namespaces);
    let controller = Controller { context: context.clone(), skipped: Arc::new(skipped) };
    context.run(queue, 2, move |name| controller.clone().reconcile(name));
}

/// The namespace that a Work of ours holds.
fn namespace_of(work: &Value) -> Option<String> {
    let owner = work.owner_references().iter().find(|owner| str_at(owner, &["kind"]) == "Namespace")?;
    Some(str_at(owner, &["name"]).to_owned())
}

/// Whether a namespace goes to members at all.
fn is_synced(namespace: &Value, skipped: &[Regex]) -> bool {
    let name = namespace.name();
    let label = namespace.label(LABEL_SKIP_AUTO_PROPAGATION).unwrap_or_default();
    !(namespace.is_deleting()
        || name == "default"
        || names::is_reserved_namespace(name)
        || skipped.iter().any(|pattern| pattern.is_match(name))
        || label.eq_ignore_ascii_case(VALUE_TRUE))
}

impl Controller {
    async fn reconcile(self, name: String) -> Result<Action, Error> {
        let Some(namespace) = self.context.kinds.namespaces.get("", &name) else { return Ok(Action::Done) };
        if !is_synced(&namespace, &self.skipped) {
            return Ok(Action::Done);
        }
        let policies = self.context.kinds.cluster_overrides.list();
        let policies: Vec<&Value> = policies.iter().map(AsRef::as_ref).collect();
        let mut failed = None;
        for cluster in self.context.kinds.clusters.list().iter().filter(|cluster| !cluster.is_deleting()) {
            if let Err(error) = self.sync(&namespace, &policies, cluster).await {
                failed = Some(error);
            }
        }
        failed.map_or(Ok(Action::Done), Err)
    }

    async fn sync(&self, namespace: &Value, policies: &[&Value], cluster: &Value) -> Result<(), Error> {
        let space = names::execution_namespace(cluster.name());
        if self.context.kinds.namespaces.get("", &space).is_none() {
            // It is on its way, and its arrival brings all namespaces back.
            return Ok(());
        }
        let facts = ClusterFacts::from_value(cluster);
        let transform = self.context.transform.as_ref();
        let overridden = compute(|| overrides::apply(namespace.clone(), policies, &[], &facts, transform))?;
        // There is no binding: the Work belongs to the Namespace.
        let none = json!({"metadata": {}, "spec": {}});
        let mut desired = work::build(&none, cluster.name(), &overridden, false);
        strip(&mut desired, namespace);
        let watched = &self.context.kinds.works;
        let held = self.context.ahead.get(watched, &ObjectKey::of(&desired));
        if held.as_ref().is_some_and(|held| held.is_deleting()) {
            // Its end brings the namespace back.
            return Ok(());
        }
        let works = self.context.objects(&WORKS);
        let Some(fresh) = work::merge(held.as_deref(), desired)? else { return Ok(()) };
        let written = match &held {
            None => works.create(&fresh).await,
            Some(held) => {
                let patch = guarded(held, &fresh, &["/metadata/uid", "/metadata/generation"]);
                works.patch_json(fresh.namespace(), fresh.name(), &patch).await
            }
        };
        match written {
            Ok(answer) => {
                match held {
                    Some(_) => self.context.ahead.note(watched, answer),
                    None => self.context.ahead.made(watched, answer),
                };
                Ok(())
            }
            Err(error) if held.is_none() && is_already_exists(&error) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Takes off what only Works of bindings have, and names the owner.
fn strip(work: &mut Value, namespace: &Value) {
    use windlass_api::labels::{
        ANNOTATION_CLUSTER_BINDING_NAME, ANNOTATION_CONFLICT_RESOLUTION, LABEL_CLUSTER_BINDING_ID,
    };
    let owner = json!([{
        "apiVersion": "v1", "kind": "Namespace", "name": namespace.name(), "uid": namespace.uid(),
        "controller": true, "blockOwnerDeletion": true,
    }]);
    work.metadata_mut().insert("ownerReferences".into(), owner);
    let own = |object: &mut Value| {
        object.remove_label(LABEL_CLUSTER_BINDING_ID);
        object.remove_annotation(ANNOTATION_CLUSTER_BINDING_NAME);
        object.remove_annotation(ANNOTATION_CONFLICT_RESOLUTION);
    };
    own(work);
    if let Some(manifest) = work.pointer_mut("/spec/workload/manifests/0") {
        own(manifest);
    }
    work::record_managed_keys(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_namespaces_are_synced() {
        let skipped = crate::detector::whole_names(&["kube-.*".to_owned()]);
        let labelled = json!({"metadata": {"name": "a", "labels": {LABEL_SKIP_AUTO_PROPAGATION: "True"}}});
        assert!(!is_synced(&labelled, &skipped));
        for (name, expected) in [
            ("shop", true),
            ("default", false),
            ("kube-system", false),
            ("karmada-es-m1", false),
            ("my-kube-x", true),
        ] {
            assert_eq!(is_synced(&json!({"metadata": {"name": name}}), &skipped), expected, "{name}");
        }
    }
}
