//! Autoscalers and disruption budgets.

use super::check::{Check, look};
use serde_json::Value;
use windlass_object::path;

pub(super) fn autoscaler(new: &Value, check: &mut Check) {
    let spec = look(new, &["spec"]);
    let (min, max) =
        (look(spec, &["minReplicas"]).as_i64(), look(spec, &["maxReplicas"]).as_i64().unwrap_or_default());
    if let Some(min) = min.filter(|min| *min < 1) {
        check.invalid("spec.minReplicas", min, "must be greater than or equal to 1");
    }
    if max < 1 {
        check.required("spec.maxReplicas", "must be set and greater than 0");
    }
    if min.is_some_and(|min| max < min) {
        check.invalid("spec.maxReplicas", max, "must be greater than or equal to `minReplicas`");
    }
    let metrics = path::list_at(spec, &["metrics"]);
    if min == Some(0)
        && !metrics.iter().any(|m| look(m, &["type"]) == "Object" || look(m, &["type"]) == "External")
    {
        check.forbidden(
            "spec.metrics",
            "must specify at least one Object or External metric to support scaling to zero replicas",
        );
    }
    for field in ["kind", "name"] {
        check.text(&format!("spec.scaleTargetRef.{field}"), look(spec, &["scaleTargetRef", field]));
    }
    let target = look(spec, &["scaleTargetRef"]);
    let version = path::str_at(target, &["apiVersion"]);
    if !version.contains('/') && look(target, &["kind"]) != "ReplicationController" {
        check.invalid("spec.scaleTargetRef.apiVersion", version, "apiVersion must specify API group");
    }
    for (index, metric) in metrics.iter().enumerate() {
        let at = format!("spec.metrics[{index}]");
        let kinds = [
            ("ContainerResource", "containerResource"),
            ("External", "external"),
            ("Object", "object"),
            ("Pods", "pods"),
            ("Resource", "resource"),
        ];
        let names: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
        check.needed_one_of(&format!("{at}.type"), look(metric, &["type"]), &names);
        let Some((_, field)) = kinds.iter().find(|(kind, _)| look(metric, &["type"]) == *kind) else {
            continue;
        };
        if look(metric, &[*field]).is_null() {
            check.required(format!("{at}.{field}"), "must populate information for the given metric source");
        }
        if matches!(*field, "resource" | "containerResource") && !look(metric, &[*field]).is_null() {
            check.text(&format!("{at}.{field}.name"), look(metric, &[*field, "name"]));
        }
    }
}

pub(super) fn budget(new: &Value, check: &mut Check) {
    let spec = look(new, &["spec"]);
    if !look(spec, &["minAvailable"]).is_null() && !look(spec, &["maxUnavailable"]).is_null() {
        check.invalid("spec", spec.clone(), "minAvailable and maxUnavailable cannot be both set");
    }
    check.count_or_percent("spec.minAvailable", look(spec, &["minAvailable"]));
    check.count_or_percent("spec.maxUnavailable", look(spec, &["maxUnavailable"]));
    check.selector("spec.selector", look(spec, &["selector"]));
    check.one_of(
        "spec.unhealthyPodEvictionPolicy",
        look(spec, &["unhealthyPodEvictionPolicy"]),
        &["AlwaysAllow", "IfHealthyBudget"],
    );
}
