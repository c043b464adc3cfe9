//! The computed cells by name, and those of small kinds.

use super::text::{NONE, UNKNOWN, UNSET, field_of_each, labels, or, selector, since};
use super::{Cell, network, pod, scale, storage};
use crate::duration;
use jiff::Timestamp;
use serde_json::Value;
use windlass_object::{Meta, meta, path};

/// A computed cell by the name that `data/columns.txt` gives it.
pub(super) fn find(name: &str) -> Option<Cell> {
    Some(match name {
        "name" => self::name,
        "age" => age,
        "created" => |o, _| o.creation_timestamp().into(),
        "controller" => controller,
        "data" => data,
        "role" => role,
        "users" => |o, _| subjects(o, "User"),
        "groups" => |o, _| subjects(o, "Group"),
        "accounts" => |o, _| subjects(o, "ServiceAccount"),
        "ready" => scale::ready,
        "selector" => |o, _| selector(o.pointer("/spec/selector")).into(),
        "pod-selector" => |o, _| selector(o.pointer("/spec/podSelector")).into(),
        "selector-map" => |o, _| labels(o.pointer("/spec/selector")).into(),
        "node-selector" => |o, _| labels(o.pointer("/spec/template/spec/nodeSelector")).into(),
        "containers" => |o, _| containers(o, "/spec/template/spec/containers", "name"),
        "images" => |o, _| containers(o, "/spec/template/spec/containers", "image"),
        "template-containers" => |o, _| containers(o, "/template/spec/containers", "name"),
        "template-images" => |o, _| containers(o, "/template/spec/containers", "image"),
        "template-labels" => |o, _| labels(o.pointer("/template/metadata/labels")).into(),
        "job-template-containers" => {
            |o, _| containers(o, "/spec/jobTemplate/spec/template/spec/containers", "name")
        }
        "job-template-images" => {
            |o, _| containers(o, "/spec/jobTemplate/spec/template/spec/containers", "image")
        }
        "job-template-selector" => |o, _| selector(o.pointer("/spec/jobTemplate/spec/selector")).into(),
        "pod-ready" => pod::ready,
        "pod-status" => pod::status,
        "pod-restarts" => pod::restarts,
        "pod-gates" => pod::gates,
        "job-status" => scale::job_status,
        "job-completions" => scale::job_completions,
        "job-duration" => scale::job_duration,
        "cron-suspend" => scale::cron_suspend,
        "cron-last" => scale::cron_last,
        "hpa-reference" => scale::hpa_reference,
        "hpa-targets" => scale::hpa_targets,
        "quota-requests" => scale::quota_requests,
        "quota-limits" => scale::quota_limits,
        "service-external" => network::service_external,
        "service-ports" => network::service_ports,
        "balancer" => network::balancer,
        "ingress-hosts" => network::ingress_hosts,
        "ingress-ports" => network::ingress_ports,
        "class-parameters" => network::class_parameters,
        "endpoints" => network::endpoints,
        "slice-ports" => network::slice_ports,
        "slice-endpoints" => network::slice_endpoints,
        "parent" => network::parent,
        "cidrs" => network::cidrs,
        "node-status" => network::node_status,
        "node-roles" => network::node_roles,
        "node-internal" => network::node_internal,
        "node-external" => network::node_external,
        "modes" => storage::modes,
        "phase" => storage::phase,
        "claim" => storage::claim,
        "class" => storage::class,
        "claim-capacity" => storage::claim_capacity,
        "claim-modes" => storage::claim_modes,
        "class-name" => storage::class_name,
        "token-requests" => storage::token_requests,
        "csi-modes" => storage::csi_modes,
        "claim-state" => storage::claim_state,
        "event-last" => event_last,
        "event-first" => event_first,
        "event-object" => event_object,
        "event-part" => |o, _| path::str_at(regarding(o), &["fieldPath"]).into(),
        "event-source" => event_source,
        "event-message" => event_message,
        "event-count" => event_count,
        "csr-duration" => csr_duration,
        "csr-condition" => csr_condition,
        "api-service" => api_service,
        "api-available" => api_available,
        "param-kind" => param_kind,
        "param-ref" => param_ref,
        "component-status" => |o, _| component(o, "status"),
        "component-message" => |o, _| component(o, "message"),
        "component-error" => |o, _| component(o, "error"),
        "missing-level" => missing_level,
        _ => return None,
    })
}

pub(super) fn name(object: &Value, _: Timestamp) -> Value {
    object.name().into()
}

fn age(object: &Value, now: Timestamp) -> Value {
    since(object.creation_timestamp(), now).into()
}

fn containers(object: &Value, pointer: &str, field: &str) -> Value {
    let list = object.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    field_of_each(list, field).into()
}

fn controller(object: &Value, _: Timestamp) -> Value {
    let Some(owner) = meta::controller_of(object) else { return NONE.into() };
    let kind = path::str_at(owner, &["kind"]).to_lowercase();
    let group = path::str_at(owner, &["apiVersion"]).split_once('/').map_or("", |(group, _)| group);
    let dot = if group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{group}/{}", path::str_at(owner, &["name"])).into()
}

fn data(object: &Value, _: Timestamp) -> Value {
    let count = |name| object.get(name).and_then(Value::as_object).map_or(0, |map| map.len());
    (count("data") + count("binaryData")).into()
}

fn role(object: &Value, _: Timestamp) -> Value {
    let part = |name| path::str_at(object, &["roleRef", name]);
    format!("{}/{}", part("kind"), part("name")).into()
}

fn subjects(object: &Value, kind: &str) -> Value {
    let of_kind = path::list_at(object, &["subjects"]).iter().filter(|s| path::str_at(s, &["kind"]) == kind);
    let names: Vec<String> = of_kind
        .map(|subject| {
            let name = path::str_at(subject, &["name"]);
            match (kind, path::str_at(subject, &["namespace"])) {
                ("ServiceAccount", namespace) => format!("{namespace}/{name}"),
                _ => name.to_owned(),
            }
        })
        .collect();
    names.join(", ").into()
}

/// Both forms of an event are stored as one; either may be shown.
fn regarding(event: &Value) -> &Value {
    event.get("involvedObject").or_else(|| event.get("regarding")).unwrap_or(&Value::Null)
}

fn first_of<'a>(event: &'a Value, names: &[&str]) -> &'a str {
    names.iter().map(|name| path::str_at(event, &[name])).find(|text| !text.is_empty()).unwrap_or_default()
}

fn event_first(event: &Value, now: Timestamp) -> Value {
    since(first_of(event, &["firstTimestamp", "deprecatedFirstTimestamp", "eventTime"]), now).into()
}

fn event_last(event: &Value, now: Timestamp) -> Value {
    let series = path::str_at(event, &["series", "lastObservedTime"]);
    if !series.is_empty() {
        return since(series, now).into();
    }
    match first_of(event, &["lastTimestamp", "deprecatedLastTimestamp"]) {
        "" => event_first(event, now),
        last => since(last, now).into(),
    }
}

fn event_object(event: &Value, _: Timestamp) -> Value {
    let object = regarding(event);
    let kind = path::str_at(object, &["kind"]).to_lowercase();
    match path::str_at(object, &["name"]) {
        "" => kind.into(),
        name => format!("{kind}/{name}").into(),
    }
}

fn event_source(event: &Value, _: Timestamp) -> Value {
    let source = |name| {
        let old = path::str_at(event, &["source", name]);
        or(old, path::str_at(event, &["deprecatedSource", name]))
    };
    let component = or(source("component"), first_of(event, &["reportingComponent", "reportingController"]));
    let host = or(source("host"), path::str_at(event, &["reportingInstance"]));
    if host.is_empty() { component.into() } else { format!("{component}, {host}").into() }
}

fn event_message(event: &Value, _: Timestamp) -> Value {
    first_of(event, &["message", "note"]).trim().into()
}

fn event_count(event: &Value, _: Timestamp) -> Value {
    let count = path::i64_at(event, &["series", "count"])
        .or_else(|| path::i64_at(event, &["count"]))
        .or_else(|| path::i64_at(event, &["deprecatedCount"]))
        .filter(|count| *count != 0);
    count.unwrap_or(1).into()
}

fn csr_duration(object: &Value, _: Timestamp) -> Value {
    match path::i64_at(object, &["spec", "expirationSeconds"]) {
        Some(seconds) => duration::human(seconds).into(),
        None => NONE.into(),
    }
}

fn csr_condition(object: &Value, _: Timestamp) -> Value {
    let conditions = path::list_at(object, &["status", "conditions"]);
    let has = |kind: &str| conditions.iter().any(|c| path::str_at(c, &["type"]) == kind);
    let mut text = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    }
    .to_owned();
    if has("Failed") {
        text.push_str(",Failed");
    }
    if !path::str_at(object, &["status", "certificate"]).is_empty() {
        text.push_str(",Issued");
    }
    text.into()
}

fn api_service(object: &Value, _: Timestamp) -> Value {
    let part = |name| path::str_at(object, &["spec", "service", name]);
    if object.pointer("/spec/service").is_none_or(Value::is_null) {
        return "Local".into();
    }
    format!("{}/{}", part("namespace"), part("name")).into()
}

fn api_available(object: &Value, _: Timestamp) -> Value {
    let conditions = path::list_at(object, &["status", "conditions"]);
    let Some(condition) = conditions.iter().find(|c| path::str_at(c, &["type"]) == "Available") else {
        return "Unknown".into();
    };
    match (path::str_at(condition, &["status"]), path::str_at(condition, &["reason"])) {
        ("True", _) => "True".into(),
        (status, reason) => format!("{status} ({reason})").into(),
    }
}

fn param_kind(object: &Value, _: Timestamp) -> Value {
    let part = |name| path::str_at(object, &["spec", "paramKind", name]);
    if object.pointer("/spec/paramKind").is_none_or(Value::is_null) {
        return UNSET.into();
    }
    format!("{}/{}", part("apiVersion"), part("kind")).into()
}

fn param_ref(object: &Value, _: Timestamp) -> Value {
    let Some(reference) = object.pointer("/spec/paramRef").filter(|r| !r.is_null()) else {
        return UNSET.into();
    };
    match (path::str_at(reference, &["namespace"]), path::str_at(reference, &["name"])) {
        (_, "") => selector(reference.get("selector")).into(),
        ("", name) => format!("*/{name}").into(),
        (namespace, name) => format!("{namespace}/{name}").into(),
    }
}

fn component(object: &Value, field: &str) -> Value {
    let conditions = path::list_at(object, &["conditions"]);
    let Some(healthy) = conditions.iter().find(|c| path::str_at(c, &["type"]) == "Healthy") else {
        return if field == "status" { UNKNOWN.into() } else { "".into() };
    };
    match (field, path::str_at(healthy, &[field])) {
        ("status", "True") => "Healthy".into(),
        ("status", "False") => "Unhealthy".into(),
        ("status", _) => UNKNOWN.into(),
        (_, text) => text.into(),
    }
}

fn missing_level(object: &Value, _: Timestamp) -> Value {
    let conditions = path::list_at(object, &["status", "conditions"]);
    let dangling = conditions.iter().find(|c| path::str_at(c, &["type"]) == "Dangling");
    dangling.map_or("?", |c| or(path::str_at(c, &["status"]), "?")).into()
}
