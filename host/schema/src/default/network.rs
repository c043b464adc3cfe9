//! Services, endpoints, policies and ingresses.

use super::Fields;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// How long a client keeps its endpoint.
const AFFINITY_SECONDS: i32 = 10_800;

pub(super) fn service(object: &mut Object) {
    let spec = object.made("spec");
    spec.fill("sessionAffinity", "None");
    spec.fill("type", "ClusterIP");
    let affinity = spec.text("sessionAffinity").to_owned();
    if affinity == "None" {
        spec.remove("sessionAffinityConfig");
    }
    if affinity == "ClientIP" {
        spec.made("sessionAffinityConfig").made("clientIP").set("timeoutSeconds", AFFINITY_SECONDS);
    }
    spec.each("ports", |port| {
        port.fill("protocol", "TCP");
        let number = port.get("port").cloned().unwrap_or_default();
        port.fill("targetPort", number);
    });
    let kind = spec.text("type").to_owned();
    let balanced = kind == "LoadBalancer";
    if balanced || kind == "NodePort" {
        spec.set("externalTrafficPolicy", "Cluster");
    }
    if balanced {
        spec.set("allocateLoadBalancerNodePorts", true);
    }
    if kind != "ExternalName" {
        spec.set("internalTrafficPolicy", "Cluster");
    }
    object.made("status").set("loadBalancer", json!({}));
}

pub(super) fn endpoints(object: &mut Object) {
    object.each("subsets", |subset| subset.each("ports", |port| port.fill("protocol", "TCP")));
}

pub(super) fn endpoint_slice(object: &mut Object) {
    object.each("ports", |port| {
        port.set("name", "");
        port.set("protocol", "TCP");
    });
}

pub(super) fn network_policy(object: &mut Object) {
    let Some(spec) = object.inner("spec") else { return };
    for rules in ["ingress", "egress"] {
        spec.each(rules, |rule| rule.each("ports", |port| port.set("protocol", "TCP")));
    }
    if spec.get("policyTypes").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let egress = spec.get("egress").and_then(Value::as_array).is_some_and(|rules| !rules.is_empty());
        let types = if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
        spec.insert("policyTypes".into(), types);
    }
}

pub(super) fn ingress_class(object: &mut Object) {
    if let Some(parameters) = object.inner("spec").and_then(|spec| spec.inner("parameters")) {
        parameters.set("scope", "Cluster");
    }
}
