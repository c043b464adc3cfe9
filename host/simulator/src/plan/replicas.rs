//! ReplicaSets: as many pods as asked for.

use super::{Write, encode, int, is_finished, is_ready, pod, status};
use crate::kinds::{Key, Kind};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::hash::fnv1a32;
use windlass_object::meta::Meta;

/// Pods created for one set in one step; the rest follows when these are there.
const BURST: usize = 200;

/// What to write for a set with these pods. `serial` makes names that differ from earlier ones.
pub(crate) fn plan(set: &Value, pods: &[Arc<Value>], serial: u32) -> Vec<Write> {
    let key = Key::new(Kind::ReplicaSet, set.namespace(), set.name());
    let wanted = usize::try_from(int(set, "/spec/replicas", 1)).unwrap_or(0);
    let living: Vec<_> = pods.iter().filter(|pod| !pod.is_deleting() && !is_finished(pod)).collect();
    let mut writes = Vec::new();
    if !set.is_deleting() && living.len() < wanted {
        let missing = (wanted - living.len()).min(BURST);
        for index in 0..missing {
            let seed = format!("{}/{serial}/{index}", set.uid());
            let name = format!("{}-{}", set.name(), encode(fnv1a32(seed.as_bytes()), 5));
            writes.push(Write::Create(Kind::Pod, pod(set, &name, &[])));
        }
    }
    if living.len() > wanted {
        // The youngest and those that aren't ready go first.
        let mut order = living.clone();
        order.sort_by_key(|pod| (is_ready(pod), std::cmp::Reverse(pod.creation_timestamp().to_owned())));
        for pod in order.into_iter().take(living.len() - wanted) {
            writes.push(Write::Delete(Key::new(Kind::Pod, pod.namespace(), pod.name())));
        }
    }
    let ready = living.iter().filter(|pod| is_ready(pod)).count();
    let fresh = json!({
        "observedGeneration": set.generation(), "replicas": living.len(), "fullyLabeledReplicas": living.len(),
        "readyReplicas": ready, "availableReplicas": ready,
    });
    writes.extend(status(set, &key, fresh));
    writes
}
