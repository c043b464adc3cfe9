//! Pods: what is filled in, what may change, binding to a node, eviction.

use crate::delete::{self, Deletion};
use crate::error::{ApiError, Cause, Target};
use crate::handler::{Call, Outcome};
use crate::registry::Resource;
use crate::server::{Profile, Server};
use crate::system;
use crate::write::{self, Made};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::condition::{self, Condition};
use windlass_object::meta::Meta as _;
use windlass_object::{LabelSelector, path};

/// Seconds that a pod stays on a node that is not ready or not reachable.
const TOLERATION_SECONDS: i64 = 300;

/// Completes a new Pod.
pub(crate) fn complete(server: &Server, call: &Call, pod: &mut Value) -> Result<(), ApiError> {
    if server.profile() == Profile::Member {
        if path::str_at(pod, &["spec", "serviceAccountName"]).is_empty() {
            path::set(pod, &["spec", "serviceAccountName"], json!("default"));
            path::set(pod, &["spec", "serviceAccount"], json!("default"));
        }
        mount_token(server, call, pod);
        if path::get(pod, &["spec", "priority"]).is_none_or(Value::is_null) {
            path::set(pod, &["spec", "priority"], json!(0));
            path::set(pod, &["spec", "preemptionPolicy"], json!("PreemptLowerPriority"));
        }
        tolerate(pod);
    }
    let class = quality(pod);
    path::set(pod, &["status"], json!({"phase": "Pending", "qosClass": class}));
    runtime_class(server, call, pod)
}

/// Where programs in pods look for their token.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// How long such a token is good for, in seconds: an hour, and a few seconds by which it is known.
const TOKEN_SECONDS: i64 = 3607;

/// A volume with the account's token, unless the pod or its account wants none.
fn mount_token(server: &Server, call: &Call, pod: &mut Value) {
    let account = path::str_at(pod, &["spec", "serviceAccountName"]).to_owned();
    let key = format!("/core/serviceaccounts/{}/{account}", call.namespace);
    let snapshot = server.store().snapshot();
    let wish = |object: &Value, at: &[&str]| path::get(object, at).and_then(Value::as_bool);
    let of_account = || {
        let account = snapshot.get(&key).map(|entry| entry.json_uncached());
        account.and_then(|account| wish(&account, &["automountServiceAccountToken"]))
    };
    let wanted = wish(pod, &["spec", "automountServiceAccountToken"]).or_else(of_account).unwrap_or(true);
    if !wanted {
        return;
    }
    let name = crate::meta_rules::generate("kube-api-access-");
    let mut mounted = false;
    for part in ["initContainers", "containers"] {
        for container in
            path::get_mut(pod, &["spec", part]).and_then(Value::as_array_mut).into_iter().flatten()
        {
            let mut mounts = path::list_at(container, &["volumeMounts"]).to_vec();
            if mounts.iter().any(|mount| path::str_at(mount, &["mountPath"]) == TOKEN_PATH) {
                continue;
            }
            mounts.push(json!({"name": name, "readOnly": true, "mountPath": TOKEN_PATH}));
            path::set(container, &["volumeMounts"], Value::Array(mounts));
            mounted = true;
        }
    }
    if mounted {
        let mut volumes = path::list_at(pod, &["spec", "volumes"]).to_vec();
        volumes.push(json!({"name": name, "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{
                "path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
            }]}},
        ]}}));
        path::set(pod, &["spec", "volumes"], Value::Array(volumes));
    }
}

/// The class of runtime that a pod names must be there; what it costs is added.
fn runtime_class(server: &Server, call: &Call, pod: &mut Value) -> Result<(), ApiError> {
    let name = path::str_at(pod, &["spec", "runtimeClassName"]).to_owned();
    if name.is_empty() {
        return Ok(());
    }
    let classes = system::builtin(server, "node.k8s.io", "v1", "runtimeclasses")?;
    let snapshot = server.store().snapshot();
    let Some(entry) = snapshot.get(&classes.key("", &name)) else {
        let detail = format!("pod rejected: RuntimeClass {name:?} not found");
        return Err(ApiError::forbidden(call.resource.target(pod.name()), &detail));
    };
    let class = entry.json_uncached();
    if let Some(overhead) = path::get(&class, &["overhead", "podFixed"]) {
        path::set(pod, &["spec", "overhead"], overhead.clone());
    }
    Ok(())
}

fn tolerate(pod: &mut Value) {
    let given = path::list_at(pod, &["spec", "tolerations"]).to_vec();
    let mut all = given.clone();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let covered = given.iter().any(|t| {
            let is =
                |field: &str, value: &str| t.get(field).and_then(Value::as_str).unwrap_or_default() == value;
            (is("key", key) || is("key", "")) && (is("effect", "NoExecute") || is("effect", ""))
        });
        if !covered {
            all.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS,
            }));
        }
    }
    path::set(pod, &["spec", "tolerations"], Value::Array(all));
}

/// The quality-of-service class.
fn quality(pod: &Value) -> &'static str {
    let mut any = false;
    let mut guaranteed = true;
    for part in ["containers", "initContainers"] {
        for container in path::list_at(pod, &["spec", part]) {
            for resource in ["cpu", "memory"] {
                let request = path::get(container, &["resources", "requests", resource]);
                let limit = path::get(container, &["resources", "limits", resource]);
                any |= request.is_some() || limit.is_some();
                guaranteed &= limit.is_some() && (request.is_none() || request == limit);
            }
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// `pods/<name>/binding`: gives a pod its node.
pub(crate) async fn bind(server: &Server, mut call: Call) -> Result<Outcome, ApiError> {
    let body = call.body.take().unwrap_or_default();
    let node = path::str_at(&body, &["target", "name"]).to_owned();
    if node.is_empty() {
        let target = Target::new("", "Binding", &call.name);
        return Err(ApiError::invalid(target, vec![Cause::required("target.name", "")]));
    }
    if call.name.is_empty() {
        call.name = body.name().to_owned();
    }
    call.resource = system::builtin(server, "", "v1", "pods")?;
    let changed = write::change(server, &call, |mut pod| {
        let present = path::str_at(&pod, &["spec", "nodeName"]);
        if !present.is_empty() {
            let detail = format!("pod {} is already assigned to node {present:?}", pod.name());
            return Err(ApiError::conflict(Target::new("", "pods/binding", &call.name), &detail));
        }
        if pod.is_deleting() {
            let detail = format!("pod {} is being deleted, cannot be assigned to a host", pod.name());
            return Err(ApiError::conflict(Target::new("", "pods/binding", &call.name), &detail));
        }
        pod.metadata_mut().remove("resourceVersion");
        path::set(&mut pod, &["spec", "nodeName"], json!(node));
        for (key, value) in body.annotations() {
            pod.set_annotation(key, value);
        }
        let mut conditions = path::list_at(&pod, &["status", "conditions"]).to_vec();
        condition::set(&mut conditions, Condition::new("PodScheduled", "True", "", ""));
        path::set(&mut pod, &["status", "conditions"], Value::Array(conditions));
        Ok(Made::Update(pod))
    });
    Box::pin(changed).await?.item(&call)?;
    Ok(Outcome::Status { code: 201, status: success() })
}

/// `pods/<name>/eviction`: a delete that disruption budgets may refuse.
pub(crate) async fn evict(server: &Server, mut call: Call) -> Result<Outcome, ApiError> {
    let body = call.body.take().unwrap_or_default();
    if !matches!(body.name(), name if name.is_empty() || name == call.name) {
        return Err(ApiError::bad_request("name in URL does not match name in Eviction object"));
    }
    call.subresource.clear();
    let key = call.resource.key(&call.namespace, &call.name);
    let snapshot = server.store().snapshot();
    let entry = snapshot.get(&key).ok_or_else(|| ApiError::not_found(call.resource.target(&call.name)))?;
    let pod = entry.json_uncached();
    let finished = matches!(path::str_at(&pod, &["status", "phase"]), "Pending" | "Succeeded" | "Failed");
    if !finished && !pod.is_deleting() && !call.options.dry_run {
        spend(server, &call, &pod).await?;
    }
    call.body = body.get("deleteOptions").cloned();
    let options = call.body.clone().unwrap_or_default();
    let deletion = Deletion {
        grace: options.get("gracePeriodSeconds").and_then(Value::as_i64),
        uid: Some(pod.uid().to_owned()),
        dry_run: call.options.dry_run,
        ..Deletion::default()
    };
    delete::delete_object(server, &call, &deletion).await?;
    Ok(Outcome::Status { code: 201, status: success() })
}

/// Takes one disruption from the budget that covers a pod, if one does.
async fn spend(server: &Server, call: &Call, pod: &Value) -> Result<(), ApiError> {
    let budgets: Arc<Resource> = system::builtin(server, "policy", "v1", "poddisruptionbudgets")?;
    let snapshot = server.store().snapshot();
    let prefix = budgets.range(&call.namespace);
    let covering: Vec<String> = snapshot
        .range(&prefix, None)
        .filter(|(_, entry)| {
            let budget = entry.json_uncached();
            path::get(&budget, &["spec", "selector"])
                .and_then(|selector| LabelSelector::from_json(selector).ok())
                .is_some_and(|selector| selector.matches_object(pod))
        })
        .map(|(key, _)| key.rsplit('/').next().unwrap_or_default().to_owned())
        .collect();
    let name = match covering.as_slice() {
        [] => return Ok(()),
        [one] => one,
        _ => {
            return Err(ApiError::internal(
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            ));
        }
    };
    let through = system::call_through(&budgets, &call.namespace, name, "status");
    let through = Call { patch: Some(crate::handler::PatchType::Merge), ..through };
    let changed = write::change(server, &through, |mut budget| {
        let number = |field: &str| path::i64_at(&budget, &["status", field]).unwrap_or_default();
        let allowed = number("disruptionsAllowed");
        if allowed < 1 {
            let healthy = number("currentHealthy");
            let desired = number("desiredHealthy");
            let text = format!(
                "The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
            );
            let refusal = "Cannot evict pod as it would violate the pod's disruption budget.";
            return Err(ApiError::too_many_requests(refusal, 10).cause(Cause::new(
                "DisruptionBudget",
                "",
                text,
            )));
        }
        path::set(&mut budget, &["status", "disruptionsAllowed"], json!(allowed - 1));
        path::set(&mut budget, &["status", "disruptedPods", pod.name()], json!(windlass_object::time::now()));
        Ok(Made::Update(budget))
    });
    Box::pin(changed).await.map(|_| ())
}

fn success() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
}
