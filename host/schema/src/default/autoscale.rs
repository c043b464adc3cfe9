//! Horizontal pod autoscalers of both versions.

use super::Fields;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Aim of an autoscaler that names no metric, in percent of the request.
const CPU_PERCENT: i32 = 80;

pub(super) fn v1(object: &mut Object) {
    object.made("spec").set("minReplicas", 1);
}

pub(super) fn v2(object: &mut Object) {
    let spec = object.made("spec");
    spec.set("minReplicas", 1);
    if spec.get("metrics").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let target = json!({"type": "Utilization", "averageUtilization": CPU_PERCENT});
        spec.insert(
            "metrics".into(),
            json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]),
        );
    }
    let Some(behavior) = spec.inner("behavior") else { return };
    rules(
        behavior.made("scaleUp"),
        Some(0),
        &json!([
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ]),
    );
    rules(behavior.made("scaleDown"), None, &json!([{"type": "Percent", "value": 100, "periodSeconds": 15}]));
}

fn rules(rules: &mut Object, window: Option<i32>, policies: &Value) {
    rules.set("selectPolicy", "Max");
    if let Some(window) = window {
        rules.set("stabilizationWindowSeconds", window);
    }
    if rules.get("policies").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        rules.insert("policies".into(), policies.clone());
    }
}
