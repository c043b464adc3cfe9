//! StatefulSets: pods with numbers, one after the other, each with its claims.

use super::{Write, int, is_ready, owner, pod, status, template_hash};
use crate::kinds::{Key, Kind};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::meta::Meta;

const HASH: &str = "controller-revision-hash";

/// What to write for a set with these pods.
pub(crate) fn plan(set: &Value, pods: &[Arc<Value>], has_claim: &dyn Fn(&str) -> bool) -> Vec<Write> {
    let wanted = int(set, "/spec/replicas", 1);
    let start = int(set, "/spec/ordinals/start", 0);
    let parallel = set.pointer("/spec/podManagementPolicy").and_then(Value::as_str) == Some("Parallel");
    let hash =
        format!("{}-{}", set.name(), template_hash(set.pointer("/spec/template").unwrap_or(&Value::Null)));
    let mut writes = Vec::new();
    let named = |ordinal: i64| {
        let name = format!("{}-{ordinal}", set.name());
        pods.iter().find(move |pod| pod.name() == name)
    };
    if !set.is_deleting() {
        for ordinal in start..start + wanted {
            match named(ordinal) {
                None => {
                    writes.extend(claims(set, ordinal, has_claim));
                    writes.push(Write::Create(Kind::Pod, member(set, ordinal, &hash)));
                    if !parallel {
                        break;
                    }
                }
                Some(pod) if !parallel && !is_ready(pod) => break,
                Some(_) => {}
            }
        }
        let last = start + wanted;
        let surplus = pods.iter().filter(|pod| ordinal(set, pod).is_none_or(|n| n >= last || n < start));
        // An update goes from the last pod to the first, one at a time, once all are ready.
        let stale = pods.iter().filter(|pod| pod.label(HASH) != Some(hash.as_str()));
        let settled =
            i64::try_from(pods.len()).is_ok_and(|n| n == wanted) && pods.iter().all(|pod| is_ready(pod));
        let stale = stale.max_by_key(|pod| ordinal(set, pod)).filter(|_| settled);
        for pod in surplus.chain(stale).filter(|pod| !pod.is_deleting()) {
            writes.push(Write::Delete(Key::new(Kind::Pod, pod.namespace(), pod.name())));
        }
    }
    let ready = pods.iter().filter(|pod| is_ready(pod)).count();
    let updated = pods.iter().filter(|pod| pod.label(HASH) == Some(hash.as_str())).count();
    let key = Key::new(Kind::StatefulSet, set.namespace(), set.name());
    let fresh = json!({
        "observedGeneration": set.generation(), "replicas": pods.len(), "readyReplicas": ready,
        "availableReplicas": ready, "currentReplicas": updated, "updatedReplicas": updated,
        "currentRevision": hash, "updateRevision": hash, "collisionCount": 0,
    });
    writes.extend(status(set, &key, fresh));
    writes
}

fn ordinal(set: &Value, pod: &Value) -> Option<i64> {
    pod.name().strip_prefix(set.name())?.strip_prefix('-')?.parse().ok()
}

fn member(set: &Value, ordinal: i64, hash: &str) -> Value {
    let name = format!("{}-{ordinal}", set.name());
    let number = ordinal.to_string();
    let labels = [
        (HASH, hash),
        ("statefulset.kubernetes.io/pod-name", name.as_str()),
        ("apps.kubernetes.io/pod-index", &number),
    ];
    let mut pod = pod(set, &name, &labels);
    let templates = set.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    if let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("hostname".into(), json!(name));
        let volumes = spec.entry("volumes").or_insert_with(|| json!([]));
        for template in templates.into_iter().flatten() {
            let volume = json!({
                "name": template.name(),
                "persistentVolumeClaim": {"claimName": format!("{}-{name}", template.name())},
            });
            if let Some(list) = volumes.as_array_mut() {
                list.push(volume);
            }
        }
    }
    pod
}

fn claims(set: &Value, ordinal: i64, has_claim: &dyn Fn(&str) -> bool) -> Vec<Write> {
    let templates = set.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    let make = |template: &Value| {
        let name = format!("{}-{}-{ordinal}", template.name(), set.name());
        let retained =
            set.pointer("/spec/persistentVolumeClaimRetentionPolicy/whenDeleted") != Some(&json!("Delete"));
        let mut claim = json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": set.namespace()},
            "spec": template.get("spec").cloned().unwrap_or_default(),
        });
        if !retained {
            claim.metadata_mut().insert("ownerReferences".into(), owner(set));
        }
        (!has_claim(&name)).then_some(Write::Create(Kind::Claim, claim))
    };
    templates.into_iter().flatten().filter_map(make).collect()
}
