//! Services: cluster IPs and node ports are given once and kept.

use crate::error::{ApiError, Cause, Target};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::net::Ipv4Addr;
use windlass_object::meta::Meta as _;
use windlass_object::path;
use windlass_store::Snapshot;

/// The range of cluster IPs, as people write it.
pub(crate) const RANGE: &str = "10.96.0.0/12";
/// The first address of the range of cluster IPs, 10.96.0.0/12; `.1` is `default/kubernetes`.
const FIRST: u32 = u32::from_be_bytes([10, 96, 0, 0]);
/// How many addresses the range has.
const ADDRESSES: u32 = 1 << 20;
/// The first node port.
const FIRST_PORT: u32 = 30_000;
/// How many node ports there are.
const PORTS: u32 = 2_768;
/// Where all Services are kept.
const PREFIX: &str = "/core/services/";

/// Gives a new Service its addresses.
pub(crate) fn allocate(service: &mut Value, snapshot: &Snapshot) -> Result<(), ApiError> {
    path::set(service, &["status"], json!({"loadBalancer": {}}));
    addresses(service, None, snapshot)
}

/// Takes away what the new type has no use for and the writer only carried along from the old one.
fn drop_unused(live: &Value, service: &mut Value) {
    let kind = |service: &Value| path::str_at(service, &["spec", "type"]).to_owned();
    let (before, after) = (kind(live), kind(service));
    let open = |kind: &str| matches!(kind, "NodePort" | "LoadBalancer");
    if open(&before) && !open(&after) {
        let numbers = |service: &Value| -> Vec<i64> {
            let ports = path::list_at(service, &["spec", "ports"]).iter();
            ports.map(|port| port.get("nodePort").and_then(Value::as_i64).unwrap_or_default()).collect()
        };
        let old = numbers(live);
        if numbers(service).iter().all(|number| old.contains(number))
            && let Some(Value::Array(ports)) = path::get_mut(service, &["spec", "ports"])
        {
            ports.iter_mut().filter_map(Value::as_object_mut).for_each(|port| {
                port.remove("nodePort");
            });
        }
        drop_same(live, service, &["externalTrafficPolicy", "healthCheckNodePort"]);
    }
    if before == "LoadBalancer" && after != "LoadBalancer" {
        drop_same(
            live,
            service,
            &["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"],
        );
    }
    if before != "ExternalName" && after == "ExternalName" {
        drop_same(
            live,
            service,
            &["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"],
        );
    }
}

fn drop_same(live: &Value, service: &mut Value, fields: &[&str]) {
    for field in fields {
        if path::get(live, &["spec", field]) == path::get(service, &["spec", field]) {
            path::remove(service, &["spec", field]);
        }
    }
}

/// Carries the addresses of the live Service over to the new one.
pub(crate) fn keep(live: &Value, service: &mut Value, snapshot: &Snapshot) -> Result<(), ApiError> {
    drop_unused(live, service);
    let external = |service: &Value| path::str_at(service, &["spec", "type"]) == "ExternalName";
    if external(service) {
        return Ok(());
    }
    // Who names another first address and carries the old list along means the first.
    let field =
        |service: &Value, name: &str| path::get(service, &["spec", name]).cloned().unwrap_or_default();
    if field(service, "clusterIP") != field(live, "clusterIP")
        && field(service, "clusterIPs") == field(live, "clusterIPs")
        && !path::str_at(service, &["spec", "clusterIP"]).is_empty()
    {
        let first = field(service, "clusterIP");
        path::set(service, &["spec", "clusterIPs"], json!([first]));
    }
    if external(live) {
        return addresses(service, None, snapshot);
    }
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"] {
        let absent = path::get(service, &["spec", field]).is_none_or(|v| v.is_null() || v == "");
        if absent && let Some(value) = path::get(live, &["spec", field]) {
            path::set(service, &["spec", field], value.clone());
        }
    }
    if !wants_ports(service) {
        return Ok(());
    }
    keep_ports(live, service);
    addresses(service, Some(live), snapshot)
}

/// Ports that stay keep their node ports.
fn keep_ports(live: &Value, service: &mut Value) {
    let kept = path::list_at(live, &["spec", "ports"]).to_vec();
    if let Some(Value::Array(ports)) = path::get_mut(service, &["spec", "ports"]) {
        for port in ports {
            let same = |old: &&Value| {
                old.get("port") == port.get("port") && old.get("protocol") == port.get("protocol")
            };
            if port.get("nodePort").and_then(Value::as_i64).unwrap_or_default() == 0
                && let Some(node) = kept.iter().find(same).and_then(|old| old.get("nodePort"))
                && let Some(map) = port.as_object_mut()
            {
                map.insert("nodePort".into(), node.clone());
            }
        }
    }
}

/// One family unless the object says more; this server has no second one. Who has neither address nor selector is
/// somebody else's to reach, and may be of both.
fn families(service: &mut Value) {
    let headless = path::str_at(service, &["spec", "clusterIP"]) == "None";
    let selects =
        path::get(service, &["spec", "selector"]).and_then(Value::as_object).is_some_and(|s| !s.is_empty());
    let absent = |service: &Value, field| path::get(service, &["spec", field]).is_none_or(Value::is_null);
    let dual = headless && !selects && absent(service, "ipFamilies") && absent(service, "ipFamilyPolicy");
    let (families, policy) =
        if dual { (json!(["IPv4", "IPv6"]), "RequireDualStack") } else { (json!(["IPv4"]), "SingleStack") };
    for (field, value) in [("ipFamilies", families), ("ipFamilyPolicy", json!(policy))] {
        if absent(service, field) {
            path::set(service, &["spec", field], value);
        }
    }
}

/// A load balancer that sends traffic only to nodes with endpoints asks them at a port of their own.
fn health_check_port(service: &mut Value, live: Option<&Value>, seed: u32, taken: &mut HashSet<u32>) {
    let needs = path::str_at(service, &["spec", "type"]) == "LoadBalancer"
        && path::str_at(service, &["spec", "externalTrafficPolicy"]) == "Local";
    let has = path::i64_at(service, &["spec", "healthCheckNodePort"]).unwrap_or_default() != 0;
    if !needs || has || live.is_some_and(|live| path::get(live, &["spec", "healthCheckNodePort"]).is_some()) {
        return;
    }
    let free =
        (0..PORTS).map(|step| FIRST_PORT + seed.wrapping_add(step) % PORTS).find(|p| !taken.contains(p));
    if let Some(port) = free {
        taken.insert(port);
        path::set(service, &["spec", "healthCheckNodePort"], json!(port));
    }
}

fn wants_ports(service: &Value) -> bool {
    match path::str_at(service, &["spec", "type"]) {
        "NodePort" => true,
        "LoadBalancer" => {
            path::get(service, &["spec", "allocateLoadBalancerNodePorts"]).and_then(Value::as_bool)
                != Some(false)
        }
        _ => false,
    }
}

/// Gives what is missing. An address that `live` has is the Service's own; another one is for validation to refuse.
fn addresses(service: &mut Value, live: Option<&Value>, snapshot: &Snapshot) -> Result<(), ApiError> {
    if path::str_at(service, &["spec", "type"]) == "ExternalName" {
        return Ok(());
    }
    let asked = path::str_at(service, &["spec", "clusterIP"]).to_owned();
    let needs_ip = asked.is_empty();
    let needs_ports = wants_ports(service)
        && path::list_at(service, &["spec", "ports"])
            .iter()
            .any(|port| port.get("nodePort").and_then(Value::as_i64).unwrap_or_default() == 0);
    let (mut ips, mut ports): (HashSet<String>, HashSet<u32>) = Default::default();
    if needs_ip || needs_ports || asked != "None" {
        for (_, entry) in snapshot.range(PREFIX, None) {
            // Two fields of many: found in the text, which is ten times cheaper than parsing a thousand Services.
            let text = std::str::from_utf8(entry.bytes()).unwrap_or_default();
            let ip = text.split_once("\"clusterIP\":\"").and_then(|(_, rest)| rest.split('"').next());
            ips.extend(ip.map(str::to_owned));
            let numbers = text.split("\"nodePort\":").skip(1);
            ports
                .extend(numbers.filter_map(|rest| {
                    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
                }));
        }
    }
    let seed = uuid::Uuid::new_v4().as_fields().0;
    if needs_ip {
        // The first addresses are left for those who ask for one by name.
        let free = (0..ADDRESSES - 512)
            .map(|step| {
                Ipv4Addr::from(FIRST + 256 + (seed.wrapping_add(step)) % (ADDRESSES - 512)).to_string()
            })
            .find(|ip| !ips.contains(ip));
        let ip = free.ok_or_else(|| ApiError::internal("failed to allocate IP: range is full"))?;
        path::set(service, &["spec", "clusterIP"], json!(ip));
    } else if live.is_none() && asked != "None" && ips.contains(&asked) {
        let cause = Cause::invalid(
            "spec.clusterIPs",
            &json!([asked]),
            &format!("failed to allocate IP {asked}: provided IP is already allocated"),
        );
        return Err(ApiError::invalid(Target::new("", "Service", service.name()), vec![cause]));
    }
    let ip = path::str_at(service, &["spec", "clusterIP"]).to_owned();
    path::set(service, &["spec", "clusterIPs"], json!([ip]));
    families(service);
    health_check_port(service, live, seed, &mut ports);
    if needs_ports && let Some(Value::Array(list)) = path::get_mut(service, &["spec", "ports"]) {
        for port in list {
            if port.get("nodePort").and_then(Value::as_i64).unwrap_or_default() != 0 {
                continue;
            }
            let free = (0..PORTS)
                .map(|step| FIRST_PORT + seed.wrapping_add(step) % PORTS)
                .find(|p| !ports.contains(p));
            let node =
                free.ok_or_else(|| ApiError::internal("failed to allocate a nodePort: range is full"))?;
            ports.insert(node);
            if let Some(map) = port.as_object_mut() {
                map.insert("nodePort".into(), json!(node));
            }
        }
    }
    Ok(())
}
