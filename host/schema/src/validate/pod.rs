//! Pods and the pod specs of workloads.

use super::check::{Check, entries, look, missing};
use super::names;
use crate::field_error::FieldError;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use windlass_object::{Quantity, path};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// What may be changed in a running pod.
const CHANGEABLE: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

pub(super) fn pod(new: &Value, old: Option<&Value>, check: &mut Check) {
    spec(check, "spec", look(new, &["spec"]));
    let Some(old) = old else { return };
    let (mut a, mut b) = (look(new, &["spec"]).clone(), look(old, &["spec"]).clone());
    for side in [&mut a, &mut b] {
        let Some(map) = side.as_object_mut() else { continue };
        for field in [
            "activeDeadlineSeconds",
            "tolerations",
            "terminationGracePeriodSeconds",
            "schedulingGates",
            "ephemeralContainers",
        ] {
            map.remove(field);
        }
        // Once it has a node it stays there.
        if missing(look(old, &["spec", "nodeName"])) {
            map.remove("nodeName");
        }
        for list in ["containers", "initContainers"] {
            for container in map.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                container.as_object_mut().map(|c| c.remove("image"));
            }
        }
    }
    if a != b {
        check.forbidden("spec", CHANGEABLE);
    }
    let seconds = |pod: &Value| look(pod, &["spec", "activeDeadlineSeconds"]).as_i64();
    if let (Some(before), Some(after)) = (seconds(old), seconds(new))
        && after > before
    {
        let detail = "must be less than or equal to previous value";
        check.invalid("spec.activeDeadlineSeconds", after, detail);
    }
    for toleration in path::list_at(old, &["spec", "tolerations"]) {
        if !path::list_at(new, &["spec", "tolerations"]).contains(toleration) {
            check.forbidden(
                "spec.tolerations",
                "existing toleration can not be modified except its tolerationSeconds",
            );
        }
    }
}

/// A pod spec at a path.
pub(super) fn spec(check: &mut Check, at: &str, spec: &Value) {
    spec_with(check, at, spec, &[]);
}

/// A pod spec whose volumes are completed by claims of these names.
pub(super) fn spec_with(check: &mut Check, at: &str, spec: &Value, claims: &[Value]) {
    let mut volumes = volumes(check, at, spec);
    volumes.extend(claims.iter().map(|claim| path::str_at(claim, &["metadata", "name"]).to_owned()));
    let containers = path::list_at(spec, &["containers"]);
    if containers.is_empty() {
        check.required(format!("{at}.containers"), "");
    }
    let mut seen = BTreeSet::new();
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for (index, container) in path::list_at(spec, &[list]).iter().enumerate() {
            let at = format!("{at}.{list}[{index}]");
            let mut first = BTreeSet::new();
            name(check, &at, container, &mut first);
            self::container(check, &at, container, &volumes);
            for name in first {
                if !seen.insert(name.clone()) {
                    check.push(FieldError::duplicate(format!("{at}.name"), name));
                }
            }
        }
    }
    check.one_of(
        &format!("{at}.restartPolicy"),
        look(spec, &["restartPolicy"]),
        &["Always", "OnFailure", "Never"],
    );
    check.one_of(
        &format!("{at}.dnsPolicy"),
        look(spec, &["dnsPolicy"]),
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
    check.labels(&format!("{at}.nodeSelector"), look(spec, &["nodeSelector"]));
    check.follows(&format!("{at}.serviceAccountName"), look(spec, &["serviceAccountName"]), names::subdomain);
    check.follows(&format!("{at}.nodeName"), look(spec, &["nodeName"]), names::subdomain);
    check.follows(&format!("{at}.hostname"), look(spec, &["hostname"]), names::label);
    check.follows(&format!("{at}.subdomain"), look(spec, &["subdomain"]), names::label);
    check.follows(&format!("{at}.priorityClassName"), look(spec, &["priorityClassName"]), names::subdomain);
    if let Some(seconds) =
        look(spec, &["activeDeadlineSeconds"]).as_i64().filter(|s| !(1..=i64::from(i32::MAX)).contains(s))
    {
        check.invalid(
            format!("{at}.activeDeadlineSeconds"),
            seconds,
            "must be between 1 and 2147483647, inclusive",
        );
    }
    tolerations(check, at, spec);
    spread(check, at, spec);
    affinity(check, at, spec);
}

fn name(check: &mut Check, at: &str, item: &Value, seen: &mut BTreeSet<String>) {
    let field = format!("{at}.name");
    let Some(name) = check.text(&field, look(item, &["name"])) else { return };
    for detail in names::label(name) {
        check.invalid(&field, name, detail);
    }
    if !seen.insert(name.to_owned()) {
        check.push(FieldError::duplicate(&field, name));
    }
}

fn container(check: &mut Check, at: &str, container: &Value, volumes: &BTreeSet<String>) {
    let image = look(container, &["image"]).as_str().unwrap_or_default();
    if image.is_empty() {
        check.required(format!("{at}.image"), "");
    } else if image.trim() != image {
        check.invalid(format!("{at}.image"), image, "must not have leading or trailing whitespace");
    }
    check.one_of(
        &format!("{at}.imagePullPolicy"),
        look(container, &["imagePullPolicy"]),
        &["Always", "IfNotPresent", "Never"],
    );
    let policies = ["FallbackToLogsOnError", "File"];
    check.one_of(
        &format!("{at}.terminationMessagePolicy"),
        look(container, &["terminationMessagePolicy"]),
        &policies,
    );
    ports(check, at, container);
    for (index, variable) in path::list_at(container, &["env"]).iter().enumerate() {
        self::variable(check, &format!("{at}.env[{index}]"), variable);
    }
    let mut mounted = BTreeSet::new();
    for (index, mount) in path::list_at(container, &["volumeMounts"]).iter().enumerate() {
        let at = format!("{at}.volumeMounts[{index}]");
        if let Some(name) = check.text(&format!("{at}.name"), look(mount, &["name"]))
            && !volumes.contains(name)
        {
            check.push(FieldError::not_found(format!("{at}.name"), name));
        }
        if let Some(folder) = check.text(&format!("{at}.mountPath"), look(mount, &["mountPath"]))
            && !mounted.insert(folder)
        {
            check.invalid(format!("{at}.mountPath"), folder, "must be unique");
        }
    }
    resources(check, &format!("{at}.resources"), look(container, &["resources"]));
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if !look(container, &[probe]).is_null() {
            self::probe(check, &format!("{at}.{probe}"), look(container, &[probe]));
        }
    }
    for probe in ["livenessProbe", "startupProbe"] {
        if let Some(number) = look(container, &[probe, "successThreshold"]).as_i64().filter(|n| *n != 1) {
            check.invalid(format!("{at}.{probe}.successThreshold"), number, "must be 1");
        }
    }
    for hook in ["postStart", "preStop"] {
        if !look(container, &["lifecycle", hook]).is_null() {
            handler(check, &format!("{at}.lifecycle.{hook}"), look(container, &["lifecycle", hook]));
        }
    }
}

fn ports(check: &mut Check, at: &str, container: &Value) {
    let mut seen = BTreeSet::new();
    for (index, port) in path::list_at(container, &["ports"]).iter().enumerate() {
        let at = format!("{at}.ports[{index}]");
        if let Some(name) = look(port, &["name"]).as_str().filter(|name| !name.is_empty()) {
            for detail in names::port_name(name) {
                check.invalid(format!("{at}.name"), name, detail);
            }
            if !seen.insert(name) {
                check.push(FieldError::duplicate(format!("{at}.name"), name));
            }
        }
        match look(port, &["containerPort"]).as_i64() {
            None | Some(0) => check.required(format!("{at}.containerPort"), ""),
            Some(_) => check.port(&format!("{at}.containerPort"), look(port, &["containerPort"])),
        }
        check.port(&format!("{at}.hostPort"), look(port, &["hostPort"]));
        check.needed_one_of(&format!("{at}.protocol"), look(port, &["protocol"]), &PROTOCOLS);
    }
}

fn variable(check: &mut Check, at: &str, variable: &Value) {
    let field = format!("{at}.name");
    if let Some(name) = check.text(&field, look(variable, &["name"])) {
        for detail in names::variable(name) {
            check.invalid(&field, name, detail);
        }
    }
    let Some(source) = look(variable, &["valueFrom"]).as_object() else { return };
    if !missing(look(variable, &["value"])) {
        check.invalid(format!("{at}.valueFrom"), "", "may not be specified when `value` is not empty");
    } else if source.is_empty() {
        check.invalid(format!("{at}.valueFrom"), "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
    } else if source.len() > 1 {
        check.invalid(format!("{at}.valueFrom"), "", "may not have more than one field specified at a time");
    }
    for reference in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(reference_value) = source.get(reference) {
            let at = format!("{at}.valueFrom.{reference}");
            if missing(look(reference_value, &["name"])) {
                names::subdomain("")
                    .into_iter()
                    .for_each(|detail| check.invalid(format!("{at}.name"), "", detail));
            }
            check.text(&format!("{at}.key"), look(reference_value, &["key"]));
        }
    }
    if let Some(field) = source.get("fieldRef") {
        check.text(&format!("{at}.valueFrom.fieldRef.fieldPath"), look(field, &["fieldPath"]));
    }
}

fn probe(check: &mut Check, at: &str, probe: &Value) {
    handler(check, at, probe);
    for field in
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    {
        check.not_negative(&format!("{at}.{field}"), look(probe, &[field]));
    }
}

fn handler(check: &mut Check, at: &str, handler: &Value) {
    let kinds = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];
    let mut given = kinds.iter().filter(|kind| !handler[**kind].is_null());
    match (given.next(), given.next()) {
        (None, _) => check.required(at, "must specify a handler type"),
        (Some(_), Some(second)) => {
            check.forbidden(format!("{at}.{second}"), "may not specify more than 1 handler type")
        }
        (Some(_), None) => {}
    }
    if !look(handler, &["httpGet"]).is_null() {
        check.port_or_name(&format!("{at}.httpGet.port"), look(handler, &["httpGet", "port"]));
        check.one_of(
            &format!("{at}.httpGet.scheme"),
            look(handler, &["httpGet", "scheme"]),
            &["HTTP", "HTTPS"],
        );
    }
    if !look(handler, &["tcpSocket"]).is_null() {
        check.port_or_name(&format!("{at}.tcpSocket.port"), look(handler, &["tcpSocket", "port"]));
    }
    if !look(handler, &["grpc"]).is_null() {
        check.port(&format!("{at}.grpc.port"), look(handler, &["grpc", "port"]));
    }
    if !look(handler, &["exec"]).is_null() && missing(look(handler, &["exec", "command"])) {
        check.required(format!("{at}.exec.command"), "");
    }
}

/// Requests and limits of a container (or of a pod).
pub(super) fn resources(check: &mut Check, at: &str, resources: &Value) {
    check.quantities(&format!("{at}.limits"), look(resources, &["limits"]));
    check.quantities(&format!("{at}.requests"), look(resources, &["requests"]));
    for (name, request) in entries(look(resources, &["requests"])) {
        let limit = look(resources, &["limits", name.as_str()]);
        let (Ok(request_value), Ok(limit_value)) = (Quantity::from_json(request), Quantity::from_json(limit))
        else {
            continue;
        };
        if request_value > limit_value {
            check.invalid(
                format!("{at}.requests"),
                request.clone(),
                format!("must be less than or equal to {name} limit of {limit_value}"),
            );
        }
    }
    for (list, own) in
        [("limits", look(resources, &["limits"])), ("requests", look(resources, &["requests"]))]
    {
        for (name, _) in entries(own) {
            let standard = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage")
                || name.starts_with("hugepages-");
            if !standard && !name.contains('/') {
                check.invalid(
                    format!("{at}.{list}[{name}]"),
                    name.as_str(),
                    "must be a standard resource type or fully qualified",
                );
                check.invalid(
                    format!("{at}.{list}[{name}]"),
                    name.as_str(),
                    "must be a standard resource for containers",
                );
            }
        }
    }
}

fn volumes(check: &mut Check, at: &str, spec: &Value) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for (index, volume) in path::list_at(spec, &["volumes"]).iter().enumerate() {
        let at = format!("{at}.volumes[{index}]");
        let before = check.count();
        let mut own = BTreeSet::new();
        name(check, &at, volume, &mut own);
        let sources = volume.as_object().map(Map::keys).into_iter().flatten().filter(|key| *key != "name");
        let sources: Vec<&String> = sources.collect();
        match sources.as_slice() {
            [] => check.required(&at, "must specify a volume type"),
            [_] => {}
            [_, more @ ..] => {
                more.iter().for_each(|kind| {
                    check.forbidden(format!("{at}.{kind}"), "may not specify more than 1 volume type")
                });
            }
        }
        for (kind, field) in [
            ("configMap", "name"),
            ("secret", "secretName"),
            ("hostPath", "path"),
            ("persistentVolumeClaim", "claimName"),
            ("csi", "driver"),
        ] {
            if !look(volume, &[kind]).is_null() {
                check.text(&format!("{at}.{kind}.{field}"), look(volume, &[kind, field]));
            }
        }
        // A volume with faults counts as none.
        for name in own {
            if seen.contains(&name) {
                check.push(FieldError::duplicate(format!("{at}.name"), name));
            } else if check.count() == before {
                seen.insert(name);
            }
        }
    }
    seen
}

fn tolerations(check: &mut Check, at: &str, spec: &Value) {
    for (index, toleration) in path::list_at(spec, &["tolerations"]).iter().enumerate() {
        let at = format!("{at}.tolerations[{index}]");
        let text = |name| path::str_at(toleration, &[name]);
        check.follows(&format!("{at}.key"), look(toleration, &["key"]), names::qualified);
        if text("key").is_empty() && text("operator") != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            check.invalid(format!("{at}.operator"), text("operator"), detail);
        }
        if !look(toleration, &["tolerationSeconds"]).is_null() && text("effect") != "NoExecute" {
            check.invalid(
                format!("{at}.effect"),
                text("effect"),
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            );
        }
        if text("operator") == "Exists" && !text("value").is_empty() {
            check.invalid(
                format!("{at}.operator"),
                text("value"),
                "value must be empty when `operator` is 'Exists'",
            );
        }
        check.one_of(
            &format!("{at}.operator"),
            look(toleration, &["operator"]),
            &["Equal", "Exists", "Gt", "Lt"],
        );
        check.one_of(&format!("{at}.effect"), look(toleration, &["effect"]), &EFFECTS);
    }
}

fn spread(check: &mut Check, at: &str, spec: &Value) {
    for (index, constraint) in path::list_at(spec, &["topologySpreadConstraints"]).iter().enumerate() {
        let at = format!("{at}.topologySpreadConstraints[{index}]");
        if let Some(skew) = look(constraint, &["maxSkew"]).as_i64().filter(|skew| *skew <= 0) {
            check.invalid(format!("{at}.maxSkew"), skew, "must be greater than zero");
        }
        if missing(look(constraint, &["topologyKey"])) {
            check.required(format!("{at}.topologyKey"), "can not be empty");
        }
        check.one_of(
            &format!("{at}.whenUnsatisfiable"),
            look(constraint, &["whenUnsatisfiable"]),
            &["DoNotSchedule", "ScheduleAnyway"],
        );
        check.selector(&format!("{at}.labelSelector"), look(constraint, &["labelSelector"]));
    }
}

fn affinity(check: &mut Check, at: &str, spec: &Value) {
    let node = look(spec, &["affinity", "nodeAffinity"]);
    let required = look(node, &["requiredDuringSchedulingIgnoredDuringExecution"]);
    if required.is_object() && missing(look(required, &["nodeSelectorTerms"])) {
        let field = format!(
            "{at}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
        );
        check.required(field, "must have at least one node selector term");
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let list = "requiredDuringSchedulingIgnoredDuringExecution";
        for (index, term) in path::list_at(spec, &["affinity", kind, list]).iter().enumerate() {
            let at = format!("{at}.affinity.{kind}.{list}[{index}]");
            if missing(look(term, &["topologyKey"])) {
                check.required(format!("{at}.topologyKey"), "can not be empty");
            }
            let key = path::str_at(term, &["topologyKey"]);
            names::qualified(key)
                .into_iter()
                .for_each(|detail| check.invalid(format!("{at}.topologyKey"), key, detail));
            check.selector(&format!("{at}.labelSelector"), look(term, &["labelSelector"]));
        }
    }
}
