//! Deployments: a ReplicaSet per template, and rolling from one to the next.

use super::{Write, int, owner, status, template_hash};
use crate::kinds::{Key, Kind};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::condition::{self, Condition};
use windlass_object::meta::Meta;

const HASH: &str = "pod-template-hash";
const REVISION: &str = "deployment.kubernetes.io/revision";

/// What to write for a deployment that controls these sets.
pub(crate) fn plan(deployment: &Value, sets: &[Arc<Value>]) -> Vec<Write> {
    let template = deployment.pointer("/spec/template").cloned().unwrap_or_default();
    let hash = template_hash(&template);
    let name = format!("{}-{hash}", deployment.name());
    let current = sets.iter().find(|set| set.name() == name);
    let old: Vec<_> =
        sets.iter().filter(|set| set.name() != name && int(set, "/spec/replicas", 0) > 0).collect();
    let wanted = int(deployment, "/spec/replicas", 1);
    let mut writes = Vec::new();
    if !deployment.is_deleting() {
        let sizes = sizes(deployment, wanted, current.map(AsRef::as_ref), &old);
        match current {
            None => {
                let revision = 1 + sets.iter().map(|set| revision(set)).max().unwrap_or(0);
                writes.push(Write::Create(
                    Kind::ReplicaSet,
                    replica_set(deployment, &name, &hash, sizes.new, revision),
                ));
                writes.push(annotate(deployment, revision));
            }
            Some(set) => writes.extend(scale(set, sizes.new)),
        }
        for (set, size) in old.iter().zip(sizes.old) {
            writes.extend(scale(set, size));
        }
    }
    writes.extend(status_of(deployment, wanted, current.map(AsRef::as_ref), sets));
    writes
}

/// Replicas of the new set, and of each old one.
struct Sizes {
    new: i64,
    old: Vec<i64>,
}

/// One step of a rolling update: never more than `maxSurge` above, never more than `maxUnavailable` below.
fn sizes(deployment: &Value, wanted: i64, current: Option<&Value>, old: &[&Arc<Value>]) -> Sizes {
    let recreate = deployment.pointer("/spec/strategy/type").and_then(Value::as_str) == Some("Recreate");
    let held: Vec<i64> = old.iter().map(|set| int(set, "/spec/replicas", 0)).collect();
    let running: i64 = old.iter().map(|set| int(set, "/status/replicas", 0)).sum();
    let before = current.map_or(0, |set| int(set, "/spec/replicas", 0));
    if old.is_empty() {
        return Sizes { new: wanted, old: held };
    }
    if recreate {
        let new = if running == 0 { wanted } else { before };
        return Sizes { new, old: vec![0; old.len()] };
    }
    let rolling = |field: &str| deployment.pointer(&format!("/spec/strategy/rollingUpdate/{field}"));
    let mut surge = amount(rolling("maxSurge"), wanted, true);
    let unavailable = amount(rolling("maxUnavailable"), wanted, false);
    if surge == 0 && unavailable == 0 {
        surge = 1;
    }
    let total: i64 = held.iter().sum::<i64>() + before;
    let new = (before + (wanted + surge - total).max(0)).min(wanted);
    let available = current.map_or(0, |set| int(set, "/status/availableReplicas", 0))
        + old.iter().map(|set| int(set, "/status/availableReplicas", 0)).sum::<i64>();
    let mut spare = (available - (wanted - unavailable)).max(0);
    let mut sizes = Vec::new();
    for (set, size) in old.iter().zip(&held) {
        // Replicas that never became available can go at once.
        let dead = (size - int(set, "/status/availableReplicas", 0)).max(0);
        let drop = (dead + spare).min(*size);
        spare -= (drop - dead).max(0);
        sizes.push(size - drop);
    }
    Sizes { new, old: sizes }
}

/// An int-or-percent; Kubernetes' default for both is a quarter.
fn amount(value: Option<&Value>, of: i64, up: bool) -> i64 {
    let percent = |text: &str| text.trim_end_matches('%').parse::<i64>().unwrap_or(25);
    let share = match value {
        Some(Value::Number(number)) => return number.as_i64().unwrap_or(0),
        Some(Value::String(text)) => percent(text),
        _ => 25,
    };
    if up { (share * of + 99) / 100 } else { share * of / 100 }
}

fn revision(object: &Value) -> i64 {
    object.annotation(REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn annotate(deployment: &Value, revision: i64) -> Write {
    let key = Key::new(Kind::Deployment, deployment.namespace(), deployment.name());
    Write::Merge(key, "", json!({"metadata": {"annotations": {REVISION: revision.to_string()}}}))
}

fn scale(set: &Value, size: i64) -> Option<Write> {
    let key = Key::new(Kind::ReplicaSet, set.namespace(), set.name());
    (int(set, "/spec/replicas", 0) != size)
        .then(|| Write::Merge(key, "", json!({"spec": {"replicas": size}})))
}

fn replica_set(deployment: &Value, name: &str, hash: &str, replicas: i64, revision: i64) -> Value {
    let mut template = deployment.pointer("/spec/template").cloned().unwrap_or_default();
    template.set_label(HASH, hash);
    let mut selector = deployment.pointer("/spec/selector").cloned().unwrap_or_else(|| json!({}));
    if let Some(map) = selector.as_object_mut() {
        let labels = map.entry("matchLabels").or_insert_with(|| json!({}));
        if let Some(labels) = labels.as_object_mut() {
            labels.insert(HASH.into(), json!(hash));
        }
    }
    let mut set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": name, "namespace": deployment.namespace(), "ownerReferences": owner(deployment),
            "annotations": {
                REVISION: revision.to_string(),
                "deployment.kubernetes.io/desired-replicas": int(deployment, "/spec/replicas", 1).to_string(),
            },
        },
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    });
    let labels: Vec<_> = set.pointer("/spec/template").into_iter().flat_map(Meta::labels).collect();
    let labels: Vec<(String, String)> =
        labels.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    for (key, value) in labels {
        set.set_label(&key, &value);
    }
    set
}

fn status_of(deployment: &Value, wanted: i64, current: Option<&Value>, sets: &[Arc<Value>]) -> Option<Write> {
    let sum = |field: &str| -> i64 { sets.iter().map(|set| int(set, &format!("/status/{field}"), 0)).sum() };
    let (replicas, ready, available) = (sum("replicas"), sum("readyReplicas"), sum("availableReplicas"));
    let updated = current.map_or(0, |set| int(set, "/status/replicas", 0));
    let mut conditions = condition::of(deployment).to_vec();
    let enough = available
        >= wanted - amount(deployment.pointer("/spec/strategy/rollingUpdate/maxUnavailable"), wanted, false);
    let (state, reason, message) = if enough {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    condition::set(&mut conditions, Condition::new("Available", state, reason, message));
    let done = updated == wanted && replicas == wanted && available == wanted;
    let name = current.map_or("", |set| set.name());
    let (reason, message) = if done {
        ("NewReplicaSetAvailable", format!("ReplicaSet \"{name}\" has successfully progressed."))
    } else {
        ("ReplicaSetUpdated", format!("ReplicaSet \"{name}\" is progressing."))
    };
    condition::set(&mut conditions, Condition::new("Progressing", "True", reason, &message));
    let key = Key::new(Kind::Deployment, deployment.namespace(), deployment.name());
    let fresh = json!({
        "observedGeneration": deployment.generation(), "replicas": replicas, "updatedReplicas": updated,
        "readyReplicas": ready, "availableReplicas": available, "unavailableReplicas": (wanted - available).max(0),
        "conditions": conditions,
    });
    status(deployment, &key, fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(replicas: i64) -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "uid": "u", "generation": 2},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
                "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}},
        })
    }

    fn set(name: &str, replicas: i64, available: i64) -> Arc<Value> {
        Arc::new(json!({
            "metadata": {"name": name, "namespace": "shop"}, "spec": {"replicas": replicas},
            "status": {"replicas": replicas, "readyReplicas": available, "availableReplicas": available},
        }))
    }

    #[test]
    fn a_new_deployment_gets_a_set_of_its_size() {
        let writes = plan(&deployment(3), &[]);
        let Some(Write::Create(Kind::ReplicaSet, made)) = writes.first() else { panic!("{writes:?}") };
        assert_eq!(int(made, "/spec/replicas", 0), 3);
        assert!(made.label(HASH).is_some() && made.label("app") == Some("web"));
    }

    #[test]
    fn rolling_keeps_within_surge_and_unavailability() {
        let old = set("web-old", 8, 8);
        let step = sizes(&deployment(8), 8, None, &[&old]);
        assert_eq!((step.new, step.old), (2, vec![6]), "surge 2, two may be missing");
        let new = set("web-new", 2, 0);
        let old = set("web-old", 6, 6);
        let step = sizes(&deployment(8), 8, Some(&new), &[&old]);
        assert_eq!((step.new, step.old), (4, vec![6]));
        let new = set("web-new", 8, 8);
        let old = set("web-old", 2, 2);
        assert_eq!(sizes(&deployment(8), 8, Some(&new), &[&old]).old, vec![0]);
    }

    #[test]
    fn status_settles() {
        let mut object = deployment(2);
        let name = format!("web-{}", template_hash(object.pointer("/spec/template").unwrap()));
        let sets = [set(&name, 2, 2)];
        let writes = plan(&object, &sets);
        let [Write::Merge(_, "status", body)] = writes.as_slice() else { panic!("{writes:?}") };
        object["status"] = body["status"].clone();
        assert_eq!(plan(&object, &sets), []);
    }
}
