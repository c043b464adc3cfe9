//! Jobs: pods that end well, until enough have.

use super::{Write, encode, int, is_finished, is_ready, pod, status};
use crate::kinds::{Key, Kind};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::condition::{self, Condition};
use windlass_object::hash::fnv1a32;
use windlass_object::meta::Meta;
use windlass_object::time;

/// What to write for a job with these pods.
pub(crate) fn plan(job: &Value, pods: &[Arc<Value>], serial: u32) -> Vec<Write> {
    let key = Key::new(Kind::Job, job.namespace(), job.name());
    let held = condition::of(job);
    if condition::is_true(held, "Complete") || condition::is_true(held, "Failed") {
        return Vec::new();
    }
    let parallelism = int(job, "/spec/parallelism", 1);
    let completions = int(job, "/spec/completions", parallelism.max(1));
    let suspended = job.pointer("/spec/suspend") == Some(&json!(true));
    let count = |test: &dyn Fn(&Value) -> bool| {
        i64::try_from(pods.iter().filter(|pod| test(pod)).count()).unwrap_or(0)
    };
    let succeeded = count(&|pod| pod.pointer("/status/phase") == Some(&json!("Succeeded")));
    let active = count(&|pod| !is_finished(pod));
    let ready = count(&|pod| is_ready(pod) && !is_finished(pod));
    let mut writes = Vec::new();
    let missing = parallelism.min(completions - succeeded) - active;
    if !job.is_deleting() && !suspended {
        for index in 0..missing.max(0) {
            let seed = format!("{}/{serial}/{index}", job.uid());
            let name = format!("{}-{}", job.name(), encode(fnv1a32(seed.as_bytes()), 5));
            let labels = [
                ("batch.kubernetes.io/job-name", job.name()),
                ("job-name", job.name()),
                ("batch.kubernetes.io/controller-uid", job.uid()),
                ("controller-uid", job.uid()),
            ];
            writes.push(Write::Create(Kind::Pod, pod(job, &name, &labels)));
        }
    }
    let done = succeeded >= completions;
    let mut fresh = json!({
        "active": active, "ready": ready, "succeeded": succeeded, "terminating": 0,
        "startTime": job.pointer("/status/startTime").cloned().unwrap_or_else(|| json!(time::now())),
    });
    if done && let Some(map) = fresh.as_object_mut() {
        let mut conditions = held.to_vec();
        let message = "Reached expected number of succeeded pods";
        for kind in ["SuccessCriteriaMet", "Complete"] {
            condition::set(&mut conditions, Condition::new(kind, "True", "CompletionsReached", message));
        }
        map.insert("conditions".into(), Value::Array(conditions));
        map.insert("completionTime".into(), json!(time::now()));
    }
    writes.extend(status(job, &key, fresh));
    writes
}
