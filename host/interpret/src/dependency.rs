//! Checks on dependencies: one bad reference fails the whole answer.

use windlass_api::{DependentObjectReference, LabelSelector};
use windlass_object::label;

/// Checks every reference; the error lists all faults, each with its path.
pub fn check(dependencies: &[DependentObjectReference]) -> Result<(), String> {
    let mut faults = Vec::new();
    for (i, dependency) in dependencies.iter().enumerate() {
        let at = format!("dependencies[{i}]");
        if dependency.api_version.is_empty() {
            faults.push(format!("{at}.apiVersion: Required value"));
        }
        if dependency.kind.is_empty() {
            faults.push(format!("{at}.kind: Required value"));
        }
        match &dependency.label_selector {
            None if dependency.name.is_empty() => {
                faults.push(format!("{at}: Required value: name or labelSelector must be given"));
            }
            None => {}
            Some(selector) => check_selector(selector, &format!("{at}.labelSelector"), &mut faults),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

/// Sorts the references and drops repeated ones, so that equal answers are equal texts.
pub fn normalize(dependencies: &mut Vec<DependentObjectReference>) {
    dependencies.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut kept: Vec<DependentObjectReference> = Vec::with_capacity(dependencies.len());
    for dependency in dependencies.drain(..) {
        // Equal keys are neighbours, but differ in their selectors perhaps.
        let repeated = kept.iter().rev().take_while(|k| key(k) == key(&dependency)).any(|k| *k == dependency);
        if !repeated {
            kept.push(dependency);
        }
    }
    *dependencies = kept;
}

fn key(d: &DependentObjectReference) -> (&str, &str, &str, &str) {
    (&d.api_version, &d.kind, &d.namespace, &d.name)
}

fn check_selector(selector: &LabelSelector, at: &str, faults: &mut Vec<String>) {
    for (key, value) in selector.match_labels.iter().flatten() {
        if let Err(reason) = label::check_key(key) {
            faults.push(format!("{at}.matchLabels: Invalid value: {key:?}: {reason}"));
        }
        if let Err(reason) = label::check_value(value) {
            faults.push(format!("{at}.matchLabels[{key}]: Invalid value: {value:?}: {reason}"));
        }
    }
    for (i, requirement) in selector.match_expressions.iter().flatten().enumerate() {
        let at = format!("{at}.matchExpressions[{i}]");
        let values = requirement.values.as_deref().unwrap_or_default();
        match requirement.operator.as_str() {
            "In" | "NotIn" if values.is_empty() => faults.push(format!(
                "{at}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
            )),
            "Exists" | "DoesNotExist" if !values.is_empty() => faults.push(format!(
                "{at}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            )),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                faults.push(format!("{at}.operator: Invalid value: {other:?}: not a valid selector operator"))
            }
        }
        if let Err(reason) = label::check_key(&requirement.key) {
            faults.push(format!("{at}.key: Invalid value: {:?}: {reason}", requirement.key));
        }
        for value in values {
            if let Err(reason) = label::check_value(value) {
                faults.push(format!("{at}.values: Invalid value: {value:?}: {reason}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(value: serde_json::Value) -> Vec<DependentObjectReference> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn faults_are_listed() {
        let good = parse(json!([
            { "apiVersion": "v1", "kind": "Secret", "namespace": "shop", "name": "tls" },
            { "apiVersion": "v1", "kind": "Secret", "labelSelector": { "matchLabels": { "app": "web" } } },
        ]));
        assert_eq!(check(&good), Ok(()));
        let bad = parse(json!([
            { "kind": "Secret", "name": "tls" },
            { "apiVersion": "v1", "kind": "Secret" },
            { "apiVersion": "v1", "kind": "Secret", "labelSelector": { "matchLabels": { "app": "-" } } },
            { "apiVersion": "v1", "kind": "", "name": "x", "labelSelector": { "matchExpressions": [{ "key": "a", "operator": "In" }] } },
        ]));
        let text = check(&bad).unwrap_err();
        for part in [
            "dependencies[0].apiVersion: Required",
            "dependencies[1]: Required",
            "dependencies[2].labelSelector.matchLabels[app]",
            "dependencies[3].kind: Required",
            "dependencies[3].labelSelector.matchExpressions[0].values: Required",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn sorted_and_once() {
        let mut list = parse(json!([
            { "apiVersion": "v1", "kind": "Secret", "name": "b" },
            { "apiVersion": "v1", "kind": "ConfigMap", "name": "c" },
            { "apiVersion": "v1", "kind": "Secret", "labelSelector": {} },
            { "apiVersion": "v1", "kind": "Secret", "name": "b" },
            { "apiVersion": "v1", "kind": "Secret", "labelSelector": {} },
        ]));
        normalize(&mut list);
        let names: Vec<_> = list.iter().map(|d| (d.kind.as_str(), d.name.as_str())).collect();
        assert_eq!(names, [("ConfigMap", "c"), ("Secret", ""), ("Secret", "b")]);
    }
}
