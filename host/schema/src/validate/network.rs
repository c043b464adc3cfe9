//! Services, endpoints, ingresses and network policies.

use super::check::{Check, entries, look, missing};
use super::names;
use crate::field_error::FieldError;
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::IpAddr;
use windlass_object::path;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

pub(super) fn service(new: &Value, old: Option<&Value>, check: &mut Check) {
    let spec = look(new, &["spec"]);
    let kind = look(spec, &["type"]).as_str().unwrap_or_default();
    check.needed_one_of(
        "spec.type",
        look(spec, &["type"]),
        &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"],
    );
    check.needed_one_of("spec.sessionAffinity", look(spec, &["sessionAffinity"]), &["ClientIP", "None"]);
    let headless = look(spec, &["clusterIP"]) == "None";
    let ports = path::list_at(spec, &["ports"]);
    if ports.is_empty() && !headless && kind != "ExternalName" {
        check.required("spec.ports", "");
    }
    if headless && matches!(kind, "NodePort" | "LoadBalancer") {
        check.invalid("spec.clusterIPs[0]", "None", format!("may not be set to 'None' for {kind} services"));
    }
    if kind == "ExternalName" {
        let external = look(spec, &["externalName"]).as_str().unwrap_or_default().trim_end_matches('.');
        if external.is_empty() {
            check.required("spec.externalName", "");
        } else {
            for detail in names::subdomain(external) {
                check.invalid("spec.externalName", external, detail);
            }
        }
    }
    check.labels("spec.selector", look(spec, &["selector"]));
    service_ports(check, ports, kind);
    addresses(check, spec);
    if look(spec, &["sessionAffinity"]) == "ClientIP" {
        let seconds = look(spec, &["sessionAffinityConfig", "clientIP", "timeoutSeconds"]);
        if let Some(seconds) = seconds.as_i64().filter(|seconds| !(1..=MAX_AFFINITY).contains(seconds)) {
            let detail = format!("must be greater than 0 and less than {MAX_AFFINITY}");
            check.invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, detail);
        }
    }
    for (index, range) in path::list_at(spec, &["loadBalancerSourceRanges"]).iter().enumerate() {
        cidr(check, &format!("spec.LoadBalancerSourceRanges[{index}]"), range);
    }
    let near = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    if let Some(wish) = look(spec, &["trafficDistribution"]).as_str().filter(|wish| !near.contains(wish)) {
        check.push(FieldError::not_supported("spec.trafficDistribution", wish, near));
    }
    for field in ["externalTrafficPolicy", "internalTrafficPolicy"] {
        check.one_of(&format!("spec.{field}"), look(spec, &[field]), &["Cluster", "Local"]);
    }
    let external = matches!(kind, "NodePort" | "LoadBalancer") || !missing(look(spec, &["externalIPs"]));
    if !external && !missing(look(spec, &["externalTrafficPolicy"])) {
        let policy = look(spec, &["externalTrafficPolicy"]).clone();
        check.invalid(
            "spec.externalTrafficPolicy",
            policy,
            "may only be set for externally-accessible services",
        );
    }
    for (index, address) in path::list_at(spec, &["externalIPs"]).iter().enumerate() {
        let at = format!("spec.externalIPs[{index}]");
        ip(check, &at, address);
        let parsed = address.as_str().unwrap_or_default().parse::<IpAddr>();
        if parsed.is_ok_and(|address| address.is_loopback()) {
            check.invalid(at, address.clone(), "may not be in the loopback range (127.0.0.0/8, ::1/128)");
        }
    }
    if let Some(old) = old {
        cluster_ip(check, spec, look(old, &["spec"]), kind);
    }
}

/// How long a client may be kept to its endpoint, in seconds: a day.
const MAX_AFFINITY: i64 = 86_400;

/// The cluster's addresses: of the one family that there is, and told in one way.
fn addresses(check: &mut Check, spec: &Value) {
    let first = look(spec, &["clusterIP"]).as_str().unwrap_or_default();
    let all = look(spec, &["clusterIPs"]);
    if !first.is_empty()
        && !missing(all)
        && path::list_at(spec, &["clusterIPs"]).first() != Some(&first.into())
    {
        check.invalid("spec.clusterIPs", all.clone(), "first value must match `clusterIP`");
    }
    if !matches!(first, "" | "None") {
        ip(check, "spec.clusterIPs[0]", look(spec, &["clusterIP"]));
    }
    let selects = !missing(look(spec, &["selector"]));
    // Headless services without a selector are somebody else's to fill, in any family.
    if first != "None" || selects {
        if look(spec, &["ipFamilyPolicy"]) == "RequireDualStack" {
            let detail = "this cluster is not configured for dual-stack services";
            check.invalid("spec.ipFamilyPolicy", "RequireDualStack", detail);
        }
        for (index, family) in path::list_at(spec, &["ipFamilies"]).iter().enumerate() {
            if family != "IPv4" {
                check.invalid(
                    format!("spec.ipFamilies[{index}]"),
                    family.clone(),
                    "not configured on this cluster",
                );
            }
        }
    }
}

/// An address that was given can't be changed while the service goes on needing one.
fn cluster_ip(check: &mut Check, new: &Value, old: &Value, kind: &str) {
    if kind == "ExternalName" || look(old, &["type"]) == "ExternalName" || missing(look(old, &["clusterIP"]))
    {
        return;
    }
    if !missing(look(new, &["clusterIP"])) && look(new, &["clusterIP"]) != look(old, &["clusterIP"]) {
        let shown = if look(new, &["clusterIPs"]).is_null() {
            look(new, &["clusterIP"]).clone()
        } else {
            look(new, &["clusterIPs"]).clone()
        };
        check.invalid("spec.clusterIPs[0]", shown, "may not change once set");
    }
}

fn service_ports(check: &mut Check, ports: &[Value], kind: &str) {
    let (mut seen_names, mut seen_ports) = (BTreeSet::new(), BTreeSet::new());
    for (index, port) in ports.iter().enumerate() {
        let at = format!("spec.ports[{index}]");
        let name = look(port, &["name"]).as_str().unwrap_or_default();
        if name.is_empty() {
            if ports.len() > 1 {
                check.required(format!("{at}.name"), "");
            }
        } else {
            for detail in names::label(name) {
                check.invalid(format!("{at}.name"), name, detail);
            }
            if !seen_names.insert(name) {
                check.push(FieldError::duplicate(format!("{at}.name"), name));
            }
        }
        check.port(&format!("{at}.port"), look(port, &["port"]));
        check.needed_one_of(&format!("{at}.protocol"), look(port, &["protocol"]), &PROTOCOLS);
        check.port_or_name(&format!("{at}.targetPort"), look(port, &["targetPort"]));
        check.follows(&format!("{at}.appProtocol"), look(port, &["appProtocol"]), names::qualified);
        if look(port, &["nodePort"]).as_i64().unwrap_or_default() != 0
            && matches!(kind, "ClusterIP" | "ExternalName")
        {
            let detail = format!("may not be used when `type` is '{kind}'");
            check.forbidden(format!("{at}.nodePort"), &detail);
        }
        let key = (look(port, &["protocol"]).as_str().unwrap_or_default(), look(port, &["port"]).as_i64());
        if !seen_ports.insert(key) {
            let shown =
                serde_json::json!({"port": look(port, &["port"]), "protocol": look(port, &["protocol"])});
            check.push(FieldError::duplicate(at, shown));
        }
    }
}

fn ip(check: &mut Check, field: &str, value: &Value) {
    let text = value.as_str().unwrap_or_default();
    if text.parse::<IpAddr>().is_err() {
        check.invalid(field, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
}

fn cidr(check: &mut Check, field: &str, value: &Value) {
    let text = value.as_str().unwrap_or_default();
    let good = text.split_once('/').is_some_and(|(address, length)| {
        let (Ok(address), Ok(length)) = (address.parse::<IpAddr>(), length.parse::<u8>()) else {
            return false;
        };
        length <= if address.is_ipv4() { 32 } else { 128 }
    });
    if !good {
        check.invalid(field, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    }
}

pub(super) fn endpoints(new: &Value, check: &mut Check) {
    for (index, subset) in path::list_at(new, &["subsets"]).iter().enumerate() {
        let at = format!("subsets[{index}]");
        if missing(look(subset, &["addresses"])) && missing(look(subset, &["notReadyAddresses"])) {
            check.required(&at, "must specify `addresses` or `notReadyAddresses`");
        }
        for list in ["addresses", "notReadyAddresses"] {
            for (index, address) in path::list_at(subset, &[list]).iter().enumerate() {
                ip(check, &format!("{at}.{list}[{index}].ip"), look(address, &["ip"]));
            }
        }
        let ports = path::list_at(subset, &["ports"]);
        for (index, port) in ports.iter().enumerate() {
            let at = format!("{at}.ports[{index}]");
            if ports.len() > 1 && missing(look(port, &["name"])) {
                check.required(format!("{at}.name"), "");
            }
            check.port(&format!("{at}.port"), look(port, &["port"]));
            check.needed_one_of(&format!("{at}.protocol"), look(port, &["protocol"]), &PROTOCOLS);
        }
    }
}

pub(super) fn endpoint_slice(new: &Value, old: Option<&Value>, check: &mut Check) {
    check.needed_one_of("addressType", look(new, &["addressType"]), &["FQDN", "IPv4", "IPv6"]);
    for (index, endpoint) in path::list_at(new, &["endpoints"]).iter().enumerate() {
        if missing(look(endpoint, &["addresses"])) {
            check.required(format!("endpoints[{index}].addresses"), "must contain at least 1 address");
        }
    }
    for (index, port) in path::list_at(new, &["ports"]).iter().enumerate() {
        check.port(&format!("ports[{index}].port"), look(port, &["port"]));
        check.one_of(&format!("ports[{index}].protocol"), look(port, &["protocol"]), &PROTOCOLS);
    }
    check.immutable("addressType", new, old, &["addressType"]);
}

pub(super) fn ingress(new: &Value, check: &mut Check) {
    let spec = look(new, &["spec"]);
    let rules = path::list_at(spec, &["rules"]);
    if rules.is_empty() && look(spec, &["defaultBackend"]).is_null() {
        check.invalid("spec", Value::Null, "either `defaultBackend` or `rules` must be specified");
    }
    if !look(spec, &["defaultBackend"]).is_null() {
        backend(check, "spec.defaultBackend", look(spec, &["defaultBackend"]));
    }
    check.follows("spec.ingressClassName", look(spec, &["ingressClassName"]), names::subdomain);
    for (index, rule) in rules.iter().enumerate() {
        let at = format!("spec.rules[{index}]");
        let host = look(rule, &["host"]).as_str().unwrap_or_default();
        if host.parse::<IpAddr>().is_ok() {
            check.invalid(format!("{at}.host"), host, "must be a DNS name, not an IP address");
        }
        check.follows(&format!("{at}.host"), &Value::from(host.trim_start_matches("*.")), names::subdomain);
        let Some(http) = rule.get("http").filter(|http| !http.is_null()) else { continue };
        let paths = path::list_at(http, &["paths"]);
        if paths.is_empty() {
            check.required(format!("{at}.http.paths"), "");
        }
        for (index, item) in paths.iter().enumerate() {
            let at = format!("{at}.http.paths[{index}]");
            let kinds = ["Exact", "ImplementationSpecific", "Prefix"];
            if missing(look(item, &["pathType"])) {
                check.required(format!("{at}.pathType"), "pathType must be specified");
                continue;
            }
            check.one_of(&format!("{at}.pathType"), look(item, &["pathType"]), &kinds);
            let path = look(item, &["path"]).as_str().unwrap_or_default();
            if look(item, &["pathType"]) != "ImplementationSpecific" && !path.starts_with('/') {
                check.invalid(format!("{at}.path"), path, "must be an absolute path");
            }
            backend(check, &format!("{at}.backend"), look(item, &["backend"]));
        }
    }
}

fn backend(check: &mut Check, at: &str, backend: &Value) {
    let (service, resource) = (look(backend, &["service"]), look(backend, &["resource"]));
    match (service.is_null(), resource.is_null()) {
        (true, true) => check.invalid(at, "", "resource or service backend is required"),
        (false, false) => check.invalid(at, "", "cannot set both resource and service backends"),
        (true, false) => {}
        (false, true) => {
            check.text(&format!("{at}.service.name"), look(service, &["name"]));
            let port = look(service, &["port"]);
            let (name, number) =
                (missing(look(port, &["name"])), look(port, &["number"]).as_i64().unwrap_or_default());
            match (name, number) {
                (true, 0) => check.required(at, "port name or number is required"),
                (false, 0) => check.port_or_name(&format!("{at}.service.port.name"), look(port, &["name"])),
                (true, _) => check.port(&format!("{at}.service.port.number"), look(port, &["number"])),
                (false, _) => check.invalid(
                    format!("{at}.service.port"),
                    port.clone(),
                    "cannot set both port name & port number",
                ),
            }
        }
    }
}

pub(super) fn ingress_class(new: &Value, old: Option<&Value>, check: &mut Check) {
    check.text("spec.controller", look(new, &["spec", "controller"]));
    check.immutable("spec.controller", new, old, &["spec", "controller"]);
}

pub(super) fn network_policy(new: &Value, check: &mut Check) {
    let spec = look(new, &["spec"]);
    check.selector("spec.podSelector", look(spec, &["podSelector"]));
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in path::list_at(spec, &[rules]).iter().enumerate() {
            let at = format!("spec.{rules}[{index}]");
            for (index, port) in path::list_at(rule, &["ports"]).iter().enumerate() {
                check.one_of(
                    &format!("{at}.ports[{index}].protocol"),
                    look(port, &["protocol"]),
                    &["TCP", "UDP", "SCTP"],
                );
                check.port_or_name(&format!("{at}.ports[{index}].port"), look(port, &["port"]));
            }
            for (index, peer) in path::list_at(rule, &[peers]).iter().enumerate() {
                let at = format!("{at}.{peers}[{index}]");
                if entries(peer).next().is_none() {
                    check.required(&at, "must specify a peer");
                }
                if !look(peer, &["ipBlock"]).is_null() {
                    cidr(check, &format!("{at}.ipBlock.cidr"), look(peer, &["ipBlock", "cidr"]));
                    if !look(peer, &["podSelector"]).is_null()
                        || !look(peer, &["namespaceSelector"]).is_null()
                    {
                        check.forbidden(&at, "may not specify both ipBlock and another peer");
                    }
                }
            }
        }
    }
    for (index, kind) in path::list_at(spec, &["policyTypes"]).iter().enumerate() {
        check.one_of(&format!("spec.policyTypes[{index}]"), kind, &["Ingress", "Egress"]);
    }
}
