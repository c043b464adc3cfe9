//! DaemonSets: a pod on every node.

use super::{Write, encode, is_ready, pod, status, template_hash};
use crate::kinds::{Key, Kind};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::hash::fnv1a32;
use windlass_object::meta::Meta;

const HASH: &str = "controller-revision-hash";

/// What to write for a set with these pods on these nodes.
pub(crate) fn plan(set: &Value, pods: &[Arc<Value>], nodes: &[String], serial: u32) -> Vec<Write> {
    let hash = template_hash(set.pointer("/spec/template").unwrap_or(&Value::Null));
    let node_of =
        |pod: &Value| pod.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut writes = Vec::new();
    if !set.is_deleting() {
        for node in nodes {
            match pods.iter().find(|pod| node_of(pod) == *node) {
                None => {
                    let seed = format!("{}/{serial}/{node}", set.uid());
                    let name = format!("{}-{}", set.name(), encode(fnv1a32(seed.as_bytes()), 5));
                    let mut made = pod(set, &name, &[(HASH, &hash)]);
                    if let Some(spec) = made.get_mut("spec").and_then(Value::as_object_mut) {
                        spec.insert("nodeName".into(), json!(node));
                    }
                    writes.push(Write::Create(Kind::Pod, made));
                }
                Some(pod) if pod.label(HASH) != Some(hash.as_str()) && !pod.is_deleting() => {
                    writes.push(Write::Delete(Key::new(Kind::Pod, pod.namespace(), pod.name())));
                }
                Some(_) => {}
            }
        }
    }
    let ready = pods.iter().filter(|pod| is_ready(pod)).count();
    let updated = pods.iter().filter(|pod| pod.label(HASH) == Some(hash.as_str())).count();
    let key = Key::new(Kind::DaemonSet, set.namespace(), set.name());
    let fresh = json!({
        "observedGeneration": set.generation(), "currentNumberScheduled": pods.len(),
        "desiredNumberScheduled": nodes.len(), "updatedNumberScheduled": updated, "numberMisscheduled": 0,
        "numberReady": ready, "numberAvailable": ready, "numberUnavailable": nodes.len().saturating_sub(ready),
    });
    writes.extend(status(set, &key, fresh));
    writes
}
