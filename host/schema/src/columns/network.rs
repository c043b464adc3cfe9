//! Cells of services, endpoints, ingresses and nodes.

use super::text::{NONE, UNSET, or, plain, some};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;
use windlass_object::{Meta, path};

/// How many hosts or endpoints are shown.
const SHOWN: usize = 3;

const ROLE_PREFIX: &str = "node-role.kubernetes.io/";
const ROLE_LABEL: &str = "kubernetes.io/role";

fn texts(value: &Value, at: &[&str]) -> Vec<String> {
    path::list_at(value, at).iter().map(plain).collect()
}

/// Addresses of a load balancer, of services and ingresses alike.
fn balanced(object: &Value) -> String {
    let ingress = path::list_at(object, &["status", "loadBalancer", "ingress"]);
    let all: BTreeSet<&str> = ingress
        .iter()
        .map(|i| or(path::str_at(i, &["ip"]), path::str_at(i, &["hostname"])))
        .filter(|a| !a.is_empty())
        .collect();
    all.into_iter().collect::<Vec<_>>().join(",")
}

pub(super) fn balancer(object: &Value, _: Timestamp) -> Value {
    balanced(object).into()
}

pub(super) fn service_external(service: &Value, _: Timestamp) -> Value {
    let external = texts(service, &["spec", "externalIPs"]);
    match path::str_at(service, &["spec", "type"]) {
        "ExternalName" => path::str_at(service, &["spec", "externalName"]).into(),
        "LoadBalancer" => {
            let mut all: Vec<String> =
                balanced(service).split(',').filter(|a| !a.is_empty()).map(str::to_owned).collect();
            all.extend(external);
            if all.is_empty() { "<pending>".into() } else { all.join(",").into() }
        }
        _ if external.is_empty() => NONE.into(),
        _ => external.join(",").into(),
    }
}

pub(super) fn service_ports(service: &Value, _: Timestamp) -> Value {
    let ports: Vec<String> = path::list_at(service, &["spec", "ports"])
        .iter()
        .map(|port| {
            let number = path::i64_at(port, &["port"]).unwrap_or_default();
            let protocol = or(path::str_at(port, &["protocol"]), "TCP");
            match path::i64_at(port, &["nodePort"]) {
                Some(node) if node > 0 => format!("{number}:{node}/{protocol}"),
                _ => format!("{number}/{protocol}"),
            }
        })
        .collect();
    if ports.is_empty() { NONE.into() } else { ports.join(",").into() }
}

pub(super) fn ingress_hosts(ingress: &Value, _: Timestamp) -> Value {
    let rules = path::list_at(ingress, &["spec", "rules"]);
    let hosts: Vec<String> = rules
        .iter()
        .map(|rule| path::str_at(rule, &["host"]).to_owned())
        .filter(|host| !host.is_empty())
        .collect();
    if hosts.is_empty() { "*".into() } else { some(hosts, SHOWN, ",").into() }
}

pub(super) fn ingress_ports(ingress: &Value, _: Timestamp) -> Value {
    if path::list_at(ingress, &["spec", "tls"]).is_empty() { "80".into() } else { "80, 443".into() }
}

pub(super) fn class_parameters(class: &Value, _: Timestamp) -> Value {
    let part = |name| path::str_at(class, &["spec", "parameters", name]);
    match (part("kind"), part("apiGroup")) {
        ("", _) => NONE.into(),
        (kind, "") => format!("{kind}/{}", part("name")).into(),
        (kind, group) => format!("{kind}.{group}/{}", part("name")).into(),
    }
}

pub(super) fn endpoints(object: &Value, _: Timestamp) -> Value {
    let mut all = Vec::new();
    for subset in path::list_at(object, &["subsets"]) {
        let addresses = path::list_at(subset, &["addresses"]);
        let ports = path::list_at(subset, &["ports"]);
        if ports.is_empty() {
            all.extend(addresses.iter().map(|address| path::str_at(address, &["ip"]).to_owned()));
        }
        for port in ports {
            let number = path::i64_at(port, &["port"]).unwrap_or_default();
            all.extend(
                addresses.iter().map(|address| format!("{}:{number}", path::str_at(address, &["ip"]))),
            );
        }
    }
    some(all, SHOWN, ",").into()
}

pub(super) fn slice_ports(slice: &Value, _: Timestamp) -> Value {
    let ports: Vec<String> = path::list_at(slice, &["ports"])
        .iter()
        .map(|port| path::i64_at(port, &["port"]).map_or_else(|| "*".to_owned(), |number| number.to_string()))
        .collect();
    if ports.is_empty() { UNSET.into() } else { some(ports, SHOWN, ",").into() }
}

pub(super) fn slice_endpoints(slice: &Value, _: Timestamp) -> Value {
    let all: Vec<String> =
        path::list_at(slice, &["endpoints"]).iter().flat_map(|e| texts(e, &["addresses"])).collect();
    if all.is_empty() { UNSET.into() } else { some(all, SHOWN, ",").into() }
}

pub(super) fn parent(address: &Value, _: Timestamp) -> Value {
    let part = |name| path::str_at(address, &["spec", "parentRef", name]);
    let parts = [part("resource"), part("group"), part("namespace"), part("name")];
    let [resource, group, namespace, name] = parts;
    let resource = if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") };
    if namespace.is_empty() {
        format!("{resource}/{name}").into()
    } else {
        format!("{resource}/{namespace}/{name}").into()
    }
}

pub(super) fn cidrs(object: &Value, _: Timestamp) -> Value {
    texts(object, &["spec", "cidrs"]).join(",").into()
}

pub(super) fn node_status(node: &Value, _: Timestamp) -> Value {
    let conditions = path::list_at(node, &["status", "conditions"]);
    let ready = conditions.iter().find(|c| path::str_at(c, &["type"]) == "Ready");
    let mut text = match ready.map(|c| path::str_at(c, &["status"])) {
        None => "Unknown",
        Some("True") => "Ready",
        Some(_) => "NotReady",
    }
    .to_owned();
    if path::bool_at(node, &["spec", "unschedulable"]) {
        text.push_str(",SchedulingDisabled");
    }
    text.into()
}

pub(super) fn node_roles(node: &Value, _: Timestamp) -> Value {
    let roles: BTreeSet<&str> = node
        .labels()
        .filter_map(|(key, value)| match key {
            ROLE_LABEL => Some(value),
            key => key.strip_prefix(ROLE_PREFIX),
        })
        .filter(|role| !role.is_empty())
        .collect();
    if roles.is_empty() { NONE.into() } else { roles.into_iter().collect::<Vec<_>>().join(",").into() }
}

pub(super) fn node_internal(node: &Value, _: Timestamp) -> Value {
    node_address(node, "InternalIP")
}

pub(super) fn node_external(node: &Value, _: Timestamp) -> Value {
    node_address(node, "ExternalIP")
}

fn node_address(node: &Value, kind: &str) -> Value {
    let addresses = path::list_at(node, &["status", "addresses"]);
    let found = addresses.iter().find(|a| path::str_at(a, &["type"]) == kind);
    or(found.map_or("", |a| path::str_at(a, &["address"])), NONE).into()
}
