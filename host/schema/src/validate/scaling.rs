//! Autoscalers and disruption budgets.

use super::check::Check;
use serde_json::Value;
use windlass_object::path;

pub(super) fn autoscaler(new: &Value, check: &mut Check) {
    let spec = &new["spec"];
    let (min, max) = (spec["minReplicas"].as_i64(), spec["maxReplicas"].as_i64().unwrap_or_default());
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
    if min == Some(0) && !metrics.iter().any(|m| m["type"] == "Object" || m["type"] == "External") {
        check.forbidden("spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas");
    }
    for field in ["kind", "name"] {
        check.text(&format!("spec.scaleTargetRef.{field}"), &spec["scaleTargetRef"][field]);
    }
    let target = &spec["scaleTargetRef"];
    let version = path::str_at(target, &["apiVersion"]);
    if !version.contains('/') && target["kind"] != "ReplicationController" {
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
        check.needed_one_of(&format!("{at}.type"), &metric["type"], &names);
        let Some((_, field)) = kinds.iter().find(|(kind, _)| metric["type"] == *kind) else { continue };
        if metric[*field].is_null() {
            check.required(format!("{at}.{field}"), "must populate information for the given metric source");
        }
        if matches!(*field, "resource" | "containerResource") && !metric[*field].is_null() {
            check.text(&format!("{at}.{field}.name"), &metric[*field]["name"]);
        }
    }
}

pub(super) fn budget(new: &Value, check: &mut Check) {
    let spec = &new["spec"];
    if !spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null() {
        check.invalid("spec", spec.clone(), "minAvailable and maxUnavailable cannot be both set");
    }
    check.count_or_percent("spec.minAvailable", &spec["minAvailable"]);
    check.count_or_percent("spec.maxUnavailable", &spec["maxUnavailable"]);
    check.selector("spec.selector", &spec["selector"]);
    check.one_of("spec.unhealthyPodEvictionPolicy", &spec["unhealthyPodEvictionPolicy"], &["AlwaysAllow", "IfHealthyBudget"]);
}
