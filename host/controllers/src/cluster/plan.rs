//! What a Cluster needs: pure.

use serde_json::{Value, json};
use windlass_api::labels::{
    DEFAULT_SCHEDULER, FINALIZER_CLUSTER, LABEL_SYSTEM, TAINT_NOT_READY, TAINT_UNREACHABLE, VALUE_TRUE,
};
use windlass_api::{conditions, names};
use windlass_object::condition;
use windlass_object::meta::Meta;
use windlass_object::path::{list_at, str_at};
use windlass_schedule::decide;

/// What was seen around the Cluster.
pub(super) struct Observed {
    /// Its execution namespace is there.
    pub(super) namespace: bool,
    /// A binding names it among its clusters.
    pub(super) targeted: bool,
    /// RFC 3339.
    pub(super) now: String,
}

/// One thing to do.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Make the execution namespace.
    CreateNamespace(Value),
    /// A JSON Patch of the Cluster; with the event's message if taints change.
    Patch { patch: Value, taints: Option<String> },
    /// Take the execution finalizer from its Works: nobody could process them.
    ReleaseWorks,
    /// Delete the execution namespace.
    DeleteNamespace,
    /// Take the cluster out of bindings that no scheduler looks after: nobody else would.
    Untarget,
    /// Something is left; look again later.
    Wait,
}

/// All steps, in order.
pub(super) fn plan(cluster: &Value, observed: &Observed) -> Vec<Step> {
    if cluster.is_deleting() { deleting(cluster, observed) } else { living(cluster, observed) }
}

fn living(cluster: &Value, observed: &Observed) -> Vec<Step> {
    let mut steps = Vec::new();
    if !observed.namespace {
        steps.push(Step::CreateNamespace(json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {
                "name": names::execution_namespace(cluster.name()),
                "labels": {LABEL_SYSTEM: VALUE_TRUE},
            },
        })));
    }
    let mut patch = vec![json!({"op": "test", "path": "/metadata/uid", "value": cluster.uid()})];
    let held = list_at(cluster, &["spec", "taints"]);
    let wanted = taints(held, condition::status(condition::of(cluster), conditions::READY), &observed.now);
    let mut message = None;
    if wanted != held {
        if held.is_empty() {
            // Somebody else may have added one meanwhile: then this is tried again.
            patch.push(
                json!({"op": "test", "path": "/spec/syncMode", "value": cluster.pointer("/spec/syncMode")}),
            );
        } else {
            patch.push(json!({"op": "test", "path": "/spec/taints", "value": held}));
        }
        patch.push(json!({"op": "add", "path": "/spec/taints", "value": wanted}));
        message = Some(describe(&wanted));
    }
    if !cluster.finalizers().contains(&FINALIZER_CLUSTER) {
        let mut finalizers = cluster.finalizers();
        finalizers.push(FINALIZER_CLUSTER);
        patch.push(json!({"op": "add", "path": "/metadata/finalizers", "value": finalizers}));
    }
    if patch.len() > 1 {
        steps.push(Step::Patch { patch: Value::Array(patch), taints: message });
    }
    steps
}

/// The taints that a condition calls for; those of others stay where they are.
fn taints(held: &[Value], ready: Option<&str>, now: &str) -> Vec<Value> {
    let (add, remove): (Option<&str>, &[&str]) = match ready {
        Some("True") => (None, &[TAINT_NOT_READY, TAINT_UNREACHABLE]),
        Some("Unknown") => (Some(TAINT_UNREACHABLE), &[TAINT_NOT_READY]),
        Some(_) => (Some(TAINT_NOT_READY), &[TAINT_UNREACHABLE]),
        None => (Some(TAINT_NOT_READY), &[]),
    };
    let is = |taint: &Value, key: &str| {
        str_at(taint, &["key"]) == key && str_at(taint, &["effect"]) == "NoSchedule"
    };
    let mut result: Vec<Value> =
        held.iter().filter(|taint| !remove.iter().any(|key| is(taint, key))).cloned().collect();
    if let Some(key) = add
        && !result.iter().any(|taint| is(taint, key))
    {
        result.push(json!({"key": key, "effect": "NoSchedule", "timeAdded": now}));
    }
    result
}

fn describe(taints: &[Value]) -> String {
    if taints.is_empty() {
        return "Taint cluster succeed: cluster now does not have taints.".into();
    }
    let one = |taint: &Value| {
        let value = match str_at(taint, &["value"]) {
            "" => String::new(),
            value => format!("Value:{value},"),
        };
        format!("{{Key:{},{value}Effect:{}}}", str_at(taint, &["key"]), str_at(taint, &["effect"]))
    };
    let all: Vec<_> = taints.iter().map(one).collect();
    format!("Taint cluster succeed: cluster now has taints([{}]).", all.join(","))
}

fn deleting(cluster: &Value, observed: &Observed) -> Vec<Step> {
    if !cluster.finalizers().contains(&FINALIZER_CLUSTER) {
        return Vec::new();
    }
    let mut steps = Vec::new();
    let ready = crate::kinds::is_ready(cluster);
    if !ready && str_at(cluster, &["spec", "syncMode"]) == "Pull" {
        steps.push(Step::ReleaseWorks);
    }
    if observed.namespace {
        steps.push(Step::DeleteNamespace);
    }
    if observed.targeted {
        steps.push(Step::Untarget);
    }
    if observed.namespace || observed.targeted {
        steps.push(Step::Wait);
        return steps;
    }
    if let Some(patch) = crate::finalizers::release(cluster, &[FINALIZER_CLUSTER]) {
        steps.push(Step::Patch { patch, taints: None });
    }
    steps
}

/// Takes a cluster out of a binding that no scheduler looks after: its policy is gone, or scheduling is suspended.
/// A JSON Patch; `None` if there is nothing to do, or a scheduler will do it.
pub(super) fn untarget(binding: &Value, cluster: &str) -> Option<Value> {
    let targets = list_at(binding, &["spec", "clusters"]);
    let left: Vec<_> = targets.iter().filter(|target| str_at(target, &["name"]) != cluster).collect();
    let scheduler = match str_at(binding, &["spec", "schedulerName"]) {
        "" => DEFAULT_SCHEDULER,
        name => name,
    };
    if left.len() == targets.len() || decide::is_handled(binding, scheduler) {
        return None;
    }
    Some(json!([
        {"op": "test", "path": "/spec/clusters", "value": targets},
        {"op": "replace", "path": "/spec/clusters", "value": left},
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(namespace: bool) -> Observed {
        Observed { namespace, targeted: false, now: "2026-01-01T00:00:00Z".into() }
    }

    fn cluster(ready: Option<&str>, taints: Value) -> Value {
        let conditions: Vec<Value> =
            ready.map(|status| json!({"type": "Ready", "status": status})).into_iter().collect();
        json!({
            "kind": "Cluster", "metadata": {"name": "m1", "uid": "u", "finalizers": [FINALIZER_CLUSTER]},
            "spec": {"syncMode": "Push", "taints": taints}, "status": {"conditions": conditions},
        })
    }

    #[test]
    fn taints_follow_the_condition() {
        let own = json!({"key": "own", "effect": "NoSchedule"});
        let not_ready =
            json!({"key": TAINT_NOT_READY, "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"});
        for (ready, before, after) in [
            (None, vec![], vec![not_ready.clone()]),
            (Some("False"), vec![own.clone()], vec![own.clone(), not_ready.clone()]),
            (Some("True"), vec![not_ready.clone(), own.clone()], vec![own.clone()]),
            (Some("False"), vec![not_ready.clone()], vec![not_ready.clone()]),
        ] {
            assert_eq!(taints(&before, ready, "2026-01-01T00:00:00Z"), after, "{ready:?}");
        }
    }

    #[test]
    fn nothing_to_do_is_nothing_done() {
        assert_eq!(plan(&cluster(Some("True"), json!([])), &seen(true)), []);
    }

    #[test]
    fn a_leaving_cluster_waits_for_its_namespace() {
        let mut leaving = cluster(Some("True"), json!([]));
        leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(plan(&leaving, &seen(true)), [Step::DeleteNamespace, Step::Wait]);
        assert!(matches!(plan(&leaving, &seen(false)).as_slice(), [Step::Patch { .. }]));
    }

    #[test]
    fn a_cluster_that_leaves_is_taken_out_where_no_scheduler_would() {
        let mut binding =
            json!({"metadata": {"name": "web"}, "spec": {"clusters": [{"name": "a"}, {"name": "b"}]}});
        let patch = untarget(&binding, "b").unwrap();
        assert_eq!(patch.pointer("/1/value"), Some(&json!([{"name": "a"}])));
        assert_eq!(untarget(&binding, "c"), None);
        binding.set_label("propagationpolicy.karmada.io/permanent-id", "id");
        assert_eq!(untarget(&binding, "b"), None);
    }
}
