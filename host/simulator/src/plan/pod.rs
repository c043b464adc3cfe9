//! Pods: placed, started, ready, and (of Jobs) finished.

use serde_json::{Value, json};
use windlass_object::meta::{self, Meta};
use windlass_object::quantity::Quantity;
use windlass_object::time;

/// What a pod asks of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// Thousandths of a core.
    pub(crate) cpu: i64,
    /// Bytes.
    pub(crate) memory: i64,
}

/// The sum of a pod's requests; what can't be read counts nothing.
pub(crate) fn request(pod: &Value) -> Request {
    let containers = pod.pointer("/spec/containers").and_then(Value::as_array);
    let amount = |container: &Value, resource: &str| {
        let at = |of: &str| container.pointer(&format!("/resources/{of}/{resource}")).cloned();
        at("requests").or_else(|| at("limits")).and_then(|found| Quantity::from_json(&found).ok())
    };
    containers.into_iter().flatten().fold(Request::default(), |sum, container| Request {
        cpu: sum.cpu + amount(container, "cpu").map_or(0, |quantity| quantity.milli_value()),
        memory: sum.memory + amount(container, "memory").map_or(0, |quantity| quantity.value()),
    })
}

/// Whether a Job made it, so that it ends.
pub(crate) fn ends(pod: &Value) -> bool {
    meta::controller_of(pod).is_some_and(|owner| owner.kind() == "Job")
}

/// The status of a pod that runs; `address` is its IP.
pub(crate) fn running(pod: &Value, address: &str) -> Value {
    let now = time::now();
    let status = |container: &Value| {
        json!({
            "name": container.get("name"), "image": container.get("image"),
            "imageID": container.get("image"), "ready": true, "started": true, "restartCount": 0,
            "containerID": format!("simulated://{}", pod.uid()),
            "state": {"running": {"startedAt": now}}, "lastState": {},
        })
    };
    let containers = pod.pointer("/spec/containers").and_then(Value::as_array);
    let containers: Vec<_> = containers.into_iter().flatten().map(status).collect();
    let conditions: Vec<_> = [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ]
    .iter()
    .map(|kind| json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": now}))
    .collect();
    json!({
        "phase": "Running", "conditions": conditions, "containerStatuses": containers, "startTime": now,
        "podIP": address, "podIPs": [{"ip": address}], "hostIP": "10.0.0.1", "qosClass": "Burstable",
    })
}

/// The status of a pod that ended well.
pub(crate) fn succeeded(pod: &Value) -> Value {
    let now = time::now();
    let mut status = pod.get("status").cloned().unwrap_or_default();
    for container in
        status.pointer_mut("/containerStatuses").and_then(Value::as_array_mut).into_iter().flatten()
    {
        container["ready"] = json!(false);
        container["started"] = json!(false);
        container["state"] =
            json!({"running": null, "terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": now}});
    }
    for condition in status.pointer_mut("/conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        if matches!(condition["type"].as_str(), Some("Ready" | "ContainersReady")) {
            condition["status"] = json!("False");
            condition["reason"] = json!("PodCompleted");
        }
    }
    json!({"phase": "Succeeded", "containerStatuses": status.get("containerStatuses"), "conditions": status.get("conditions")})
}

/// The status of a pod that no node has room for.
pub(crate) fn unschedulable(nodes: usize) -> Value {
    json!({
        "phase": "Pending",
        "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastProbeTime": null,
            "lastTransitionTime": time::now(),
            "message": format!("0/{nodes} nodes are available: {nodes} Insufficient cpu, memory or pods."),
        }],
    })
}
