//! One step for one object: read, plan, write.

use crate::kinds::{Key, Kind};
use crate::options::Pods;
use crate::plan::{Write, daemon, deployment, int, job, pod, replicas, stateful};
use crate::world::World;
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_apiserver::error::ApiError;
use windlass_object::hash::fnv1a32;
use windlass_object::meta::Meta;
use windlass_object::quantity::Quantity;
use windlass_object::time;

/// Works on one object.
pub(crate) async fn step(world: &World, key: &Key) -> Result<(), ApiError> {
    let Some(object) = world.access.get(key) else { return Ok(()) };
    let counted = world.options.pods == Pods::Counted;
    let writes = match key.kind {
        Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet | Kind::DaemonSet | Kind::Job if counted => {
            count(world, key, &object)
        }
        Kind::Deployment => deployment::plan(&object, &children(world, &object, Kind::ReplicaSet)),
        Kind::ReplicaSet => replicas::plan(&object, &children(world, &object, Kind::Pod), world.serial()),
        Kind::StatefulSet => {
            let has = |name: &str| world.access.has(&Key::new(Kind::Claim, &key.namespace, name));
            stateful::plan(&object, &children(world, &object, Kind::Pod), &has)
        }
        Kind::DaemonSet => {
            let nodes = world.index().nodes();
            daemon::plan(&object, &children(world, &object, Kind::Pod), &nodes, world.serial())
        }
        Kind::Job => job::plan(&object, &children(world, &object, Kind::Pod), world.serial()),
        Kind::Pod => return pod_step(world, key, &object).await,
        Kind::Claim => claim(&object, key),
        Kind::Service => balancer(&object, key),
        Kind::Ingress => address(&object, key, "ingress"),
        Kind::Node => Vec::new(),
    };
    let results = futures::future::join_all(writes.into_iter().map(|write| carry_out(world, write))).await;
    results.into_iter().collect()
}

async fn carry_out(world: &World, write: Write) -> Result<(), ApiError> {
    match write {
        // New pods of workloads are placed as they are made, which saves a write.
        Write::Create(Kind::Pod, mut made) => {
            let key = Key::new(Kind::Pod, made.namespace(), made.name());
            let request = pod::request(&made);
            let chosen = made.pointer("/spec/nodeName").and_then(Value::as_str).map(str::to_owned);
            let node = match chosen {
                Some(node) => {
                    world.index().place(&key, &node, request);
                    Some(node)
                }
                None => world.index().reserve(&key, request),
            };
            if let (Some(node), Some(spec)) = (node, made.get_mut("spec").and_then(Value::as_object_mut)) {
                spec.insert("nodeName".into(), json!(node));
            }
            let result = world.access.write(Write::Create(Kind::Pod, made)).await;
            if result.is_err() {
                world.index().free(&key);
            }
            result
        }
        other => world.access.write(other).await,
    }
}

fn children(world: &World, owner: &Value, kind: Kind) -> Vec<Arc<Value>> {
    let keys = world.index().children(owner.uid(), kind);
    keys.iter().filter_map(|key| world.access.get(key)).collect()
}

/// A reference's name.
pub(crate) fn owner_name(owner: &Value) -> &str {
    owner.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// A node's room, from its status.
pub(crate) fn room(node: &Value) -> (pod::Request, i64) {
    let amount = |resource: &str| {
        let found = node.pointer(&format!("/status/allocatable/{resource}"))?;
        Quantity::from_json(found).ok()
    };
    let request = pod::Request {
        cpu: amount("cpu").map_or(0, |quantity| quantity.milli_value()),
        memory: amount("memory").map_or(0, |quantity| quantity.value()),
    };
    (request, amount("pods").map_or(0, |quantity| quantity.value()))
}

async fn pod_step(world: &World, key: &Key, object: &Value) -> Result<(), ApiError> {
    if object.is_deleting() {
        return world.access.write(Write::Delete(key.clone())).await;
    }
    let phase = object.pointer("/status/phase").and_then(Value::as_str).unwrap_or_default();
    if matches!(phase, "Succeeded" | "Failed") {
        world.index().free(key);
        return Ok(());
    }
    let node = object.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
    if node.is_empty() {
        let reserved = world.index().reserve(key, pod::request(object));
        return match reserved {
            Some(node) => world.access.bind(key, &node).await,
            None => {
                let nodes = world.index().nodes().len();
                let told = object.pointer("/status/conditions/0/reason") == Some(&json!("Unschedulable"));
                if told {
                    return Ok(());
                }
                let body = json!({"status": pod::unschedulable(nodes)});
                world.access.write(Write::Merge(key.clone(), "status", body)).await
            }
        };
    }
    world.index().place(key, node, pod::request(object));
    if phase != "Running" {
        let wait =
            world.options.ready_after.checked_sub(age(object.creation_timestamp())).unwrap_or_default();
        if !wait.is_zero() {
            world.later(key, wait);
            return Ok(());
        }
        let status = pod::running(object, &ip(object.uid(), 10));
        return world.access.write(Write::Merge(key.clone(), "status", json!({ "status": status }))).await;
    }
    if pod::ends(object) {
        let started = object.pointer("/status/startTime").and_then(Value::as_str).unwrap_or_default();
        let wait = world.options.finished_after.checked_sub(age(started)).unwrap_or_default();
        if !wait.is_zero() {
            world.later(key, wait);
            return Ok(());
        }
        let body = json!({"status": pod::succeeded(object)});
        return world.access.write(Write::Merge(key.clone(), "status", body)).await;
    }
    Ok(())
}

/// How long ago a time was. Object times have whole seconds, so half a second is added: a delay below
/// that is kept on average.
fn age(since: &str) -> std::time::Duration {
    let Ok(then) = time::parse(since) else { return std::time::Duration::ZERO };
    let now = time::parse(&time::now_micro()).unwrap_or(then);
    let past = now.as_millisecond().saturating_sub(then.as_millisecond() + 500);
    std::time::Duration::from_millis(u64::try_from(past).unwrap_or(0))
}

/// An address made from a text, so that it stays.
fn ip(seed: &str, first: u8) -> String {
    let [a, b, c, _] = fnv1a32(seed.as_bytes()).to_be_bytes();
    format!("{first}.{a}.{b}.{c}")
}

/// A workload without pods: only its status.
fn count(world: &World, key: &Key, object: &Value) -> Vec<Write> {
    let observed = int(object, "/status/observedGeneration", 0) == object.generation();
    let started = object.pointer("/status/startTime").is_some();
    if object.is_deleting() || observed && key.kind != Kind::Job || key.kind == Kind::Job && started {
        return Vec::new();
    }
    let wait = world.options.ready_after.checked_sub(age(object.creation_timestamp())).unwrap_or_default();
    if !wait.is_zero() && object.generation() <= 1 {
        world.later(key, wait);
        return Vec::new();
    }
    let n = int(object, "/spec/replicas", 1);
    let nodes = world.index().nodes().len();
    let fresh = match key.kind {
        Kind::DaemonSet => json!({
            "currentNumberScheduled": nodes, "desiredNumberScheduled": nodes, "updatedNumberScheduled": nodes,
            "numberMisscheduled": 0, "numberReady": nodes, "numberAvailable": nodes,
        }),
        Kind::Job => {
            let done = int(object, "/spec/completions", int(object, "/spec/parallelism", 1));
            let now = time::now();
            json!({
                "succeeded": done, "active": 0, "startTime": now, "completionTime": now,
                "conditions": [{
                    "type": "Complete", "status": "True", "reason": "CompletionsReached", "message": "",
                    "lastProbeTime": now, "lastTransitionTime": now,
                }],
            })
        }
        _ => json!({"replicas": n, "readyReplicas": n, "availableReplicas": n, "updatedReplicas": n}),
    };
    let mut fresh = fresh;
    if let Some(fields) = fresh.as_object_mut() {
        if key.kind != Kind::Job {
            fields.insert("observedGeneration".into(), json!(object.generation()));
        }
        if key.kind == Kind::Deployment {
            let available = json!([{
                "type": "Available", "status": "True", "reason": "MinimumReplicasAvailable",
                "message": "Deployment has minimum availability.",
                "lastUpdateTime": time::now(), "lastTransitionTime": time::now(),
            }]);
            fields.insert("conditions".into(), available);
        }
    }
    vec![Write::Merge(key.clone(), "status", json!({ "status": fresh }))]
}

/// Claims are bound at once, to a volume that nobody sees.
fn claim(object: &Value, key: &Key) -> Vec<Write> {
    if object.is_deleting() || object.pointer("/status/phase") == Some(&json!("Bound")) {
        return Vec::new();
    }
    let mut writes = Vec::new();
    if object.pointer("/spec/volumeName").is_none() {
        let volume = json!({"spec": {"volumeName": format!("pvc-{}", object.uid())}});
        writes.push(Write::Merge(key.clone(), "", volume));
    }
    let capacity = object.pointer("/spec/resources/requests").cloned().unwrap_or_else(|| json!({}));
    let modes = object.pointer("/spec/accessModes").cloned().unwrap_or_else(|| json!([]));
    let status = json!({"phase": "Bound", "capacity": capacity, "accessModes": modes});
    writes.push(Write::Merge(key.clone(), "status", json!({ "status": status })));
    writes
}

fn balancer(object: &Value, key: &Key) -> Vec<Write> {
    match object.pointer("/spec/type").and_then(Value::as_str) {
        Some("LoadBalancer") => address(object, key, "service"),
        _ => Vec::new(),
    }
}

/// An address from the outside, at once.
fn address(object: &Value, key: &Key, what: &str) -> Vec<Write> {
    if object.is_deleting() || object.pointer("/status/loadBalancer/ingress/0").is_some() {
        return Vec::new();
    }
    let ip = ip(&format!("{what}/{}", object.uid()), 203);
    let entry = match what {
        "service" => json!({"ip": ip, "ipMode": "VIP"}),
        _ => json!({"ip": ip}),
    };
    let body = json!({"status": {"loadBalancer": {"ingress": [entry]}}});
    vec![Write::Merge(key.clone(), "status", body)]
}
