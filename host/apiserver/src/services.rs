//! Services: cluster IPs and node ports are given once and kept.

use crate::error::{ApiError, Cause, Target};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::net::Ipv4Addr;
use windlass_object::meta::Meta as _;
use windlass_object::path;
use windlass_store::Snapshot;

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
    addresses(service, snapshot)
}

/// Carries the addresses of the live Service over to the new one.
pub(crate) fn keep(live: &Value, service: &mut Value) -> Result<(), ApiError> {
    let external = |service: &Value| path::str_at(service, &["spec", "type"]) == "ExternalName";
    if external(service) || external(live) {
        if external(service) {
            for field in ["clusterIP", "clusterIPs"] {
                path::remove(service, &["spec", field]);
            }
        }
        return Ok(());
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
    Ok(())
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

fn addresses(service: &mut Value, snapshot: &Snapshot) -> Result<(), ApiError> {
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
    } else if asked != "None" && ips.contains(&asked) {
        let cause = Cause::invalid(
            "spec.clusterIPs",
            &json!([asked]),
            &format!("failed to allocate IP {asked}: provided IP is already allocated"),
        );
        return Err(ApiError::invalid(Target::new("", "Service", service.name()), vec![cause]));
    }
    let ip = path::str_at(service, &["spec", "clusterIP"]).to_owned();
    path::set(service, &["spec", "clusterIPs"], json!([ip]));
    for (field, value) in [("ipFamilies", json!(["IPv4"])), ("ipFamilyPolicy", json!("SingleStack"))] {
        let absent = path::get(service, &["spec", field]).is_none_or(Value::is_null);
        if absent {
            path::set(service, &["spec", field], value);
        }
    }
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
