//! Informers on everything that could be a template, following what the control plane serves.

use super::inbox::{Cause, Inbox};
use super::{TemplateKey, whole_names};
use crate::context::Context;
use regex::Regex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass_api::labels::{LABEL_CLUSTER_POLICY_ID, LABEL_POLICY_ID};
use windlass_api::names;
use windlass_members::ServedResource;
use windlass_object::gvk::{Gvk, Gvr};
use windlass_object::meta::Meta;
use windlass_policy::change;
use windlass_runtime::{Change, Handle, ObjectKey};

/// Index of templates: by the permanent id of the policy that has them.
const BY_CLAIM: &str = "claim";

/// Groups whose objects are never templates.
const SKIPPED_GROUPS: [&str; 9] = [
    "cluster.karmada.io",
    "policy.karmada.io",
    "work.karmada.io",
    "config.karmada.io",
    "networking.karmada.io",
    "autoscaling.karmada.io",
    "remedy.karmada.io",
    "apps.karmada.io",
    "events.k8s.io",
];

/// Whether objects of a resource may be templates.
fn is_template_kind(served: &ServedResource) -> bool {
    let gvr = &served.gvr;
    served.preferred
        && served.can(&["delete", "list", "watch"])
        && !SKIPPED_GROUPS.contains(&gvr.group.as_str())
        && !(gvr.group == "coordination.k8s.io" && gvr.version == "v1")
        && !(gvr.group.is_empty() && served.kind == "Event")
}

/// Whether an object may be a template.
fn is_template(object: &Value, skipped: &[Regex]) -> bool {
    let namespace = object.namespace();
    let is_skipped = || {
        names::is_reserved_namespace(namespace) || skipped.iter().any(|pattern| pattern.is_match(namespace))
    };
    (namespace.is_empty() || !is_skipped())
        && !(namespace == "kube-system" && object.name() == "extension-apiserver-authentication")
}

/// All informers, by kind.
pub(super) struct Watches {
    context: Context,
    handles: Mutex<HashMap<Gvk, Handle>>,
}

impl Watches {
    /// Follows the served kinds until shutdown.
    pub(super) fn start(context: &Context, inbox: Inbox) -> Arc<Self> {
        let watches = Arc::new(Self { context: context.clone(), handles: Mutex::default() });
        let (followed, context) = (watches.clone(), context.clone());
        let token = context.shutdown.token();
        context.shutdown.clone().spawn(async move {
            let skipped = Arc::new(whole_names(&context.options.skipped_namespaces));
            let mut changes = context.apis.changes();
            loop {
                followed.follow(&inbox, &skipped);
                tokio::select! {
                    () = token.cancelled() => return,
                    changed = changes.changed() => if changed.is_err() { return },
                }
            }
        });
        watches
    }

    fn handles(&self) -> MutexGuard<'_, HashMap<Gvk, Handle>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(&self, inbox: &Inbox, skipped: &Arc<Vec<Regex>>) {
        let context = &self.context;
        let table = context.apis.table();
        let mut handles = self.handles();
        let wanted: HashMap<Gvk, Gvr> = table
            .iter()
            .filter(|served| is_template_kind(served))
            .map(|s| (s.gvk(), s.gvr.clone()))
            .collect();
        if !table.is_empty() {
            handles.retain(|gvk, _| wanted.contains_key(gvk));
        }
        for (gvk, gvr) in wanted {
            if handles.contains_key(&gvk) {
                continue;
            }
            let handle = context.informers.watch(&gvr);
            handle.add_index(BY_CLAIM, |object| {
                let ids = [LABEL_POLICY_ID, LABEL_CLUSTER_POLICY_ID];
                ids.iter().filter_map(|key| object.label(key)).map(str::to_owned).collect()
            });
            // Before the queue hears of a change: what we wrote ourselves must not hide it.
            context.ahead.follow(&handle);
            let dependents = context.dependents.clone();
            handle.on_change(move |change| dependents.changed(change));
            let (inbox, skipped, kind) = (inbox.clone(), skipped.clone(), gvk.clone());
            handle.on_change(move |change| on_change(&inbox, &kind, &skipped, change));
            handles.insert(gvk, handle);
        }
        let shared = handles.values().map(|handle| (handle.scope().gvr.clone(), handle.clone())).collect();
        *context.templates.write().unwrap_or_else(PoisonError::into_inner) = shared;
    }

    /// The informer on a kind, if it is watched.
    pub(super) fn of(&self, gvk: &Gvk) -> Option<Handle> {
        self.handles().get(gvk).cloned()
    }

    /// An object as watched, or as we have written it since.
    pub(super) fn get(&self, gvk: &Gvk, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.context.ahead.get(&self.of(gvk)?, &ObjectKey::new(namespace, name))
    }

    /// All objects of a kind; nothing if the kind is not watched.
    pub(super) fn of_kind(&self, gvk: &Gvk) -> Option<Vec<Arc<Value>>> {
        Some(self.of(gvk)?.list())
    }

    /// The templates that a policy's id is on.
    pub(super) fn claimed(&self, id: &str) -> Vec<Arc<Value>> {
        let handles: Vec<Handle> = self.handles().values().cloned().collect();
        handles.iter().flat_map(|handle| handle.by_index(BY_CLAIM, id)).collect()
    }
}

fn on_change(inbox: &Inbox, gvk: &Gvk, skipped: &[Regex], change: &Change) {
    let Some(object) = change.object().filter(|object| is_template(object, skipped)) else { return };
    let cause = match (&change.old, &change.new) {
        (Some(old), Some(new)) if !change::differs(old, new) => return,
        (Some(old), Some(new)) if change::is_own_change(old, new) => Cause::Own,
        // What was there at a start has been looked at before, if it is claimed.
        _ if change.initial && windlass_policy::Claim::on(object).is_some() => Cause::Unknown,
        _ => Cause::Foreign,
    };
    let key = TemplateKey {
        gvk: gvk.clone(),
        namespace: change.key.namespace.clone(),
        name: change.key.name.clone(),
    };
    let priority = if change.initial { windlass_runtime::queue::INITIAL } else { 0 };
    inbox.add(key, cause, priority);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_may_be_a_template() {
        let skipped = whole_names(&["kube-.*".to_owned()]);
        for (namespace, expected) in [
            ("shop", true),
            ("default", true),
            ("", true),
            ("karmada-system", false),
            ("karmada-es-a", false),
            ("kube-x", false),
        ] {
            let object = json!({"metadata": {"name": "a", "namespace": namespace}});
            assert_eq!(is_template(&object, &skipped), expected, "{namespace:?}");
        }
    }
}
