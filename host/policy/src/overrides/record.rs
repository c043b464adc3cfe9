//! The annotations on a Work that tell which rules were applied, in the field order that the API has.

use serde_json::Value;

use super::AppliedRule;

/// Fields of `overriders`, and of the entries of each list, in the API's order.
const FIELDS: [(&str, &[&str]); 7] = [
    ("plaintext", &["path", "operator", "value"]),
    ("imageOverrider", &["predicate", "component", "operator", "value"]),
    ("commandOverrider", &["containerName", "operator", "value"]),
    ("argsOverrider", &["containerName", "operator", "value"]),
    ("labelsOverrider", &["operator", "value"]),
    ("annotationsOverrider", &["operator", "value"]),
    ("fieldOverrider", &["fieldPath", "json", "yaml"]),
];

const PATCH_FIELDS: &[&str] = &["subPath", "operator", "value"];

/// The value of `applied-overrides` or `applied-cluster-overrides`; nothing if no rule was applied.
pub fn annotation(rules: &[AppliedRule]) -> Option<String> {
    if rules.is_empty() {
        return None;
    }
    let mut rules: Vec<&AppliedRule> = rules.iter().collect();
    // A stable sort: rules of one policy stay in the order in which they were applied.
    rules.sort_by(|a, b| a.policy.cmp(&b.policy));
    let entries: Vec<String> = rules
        .into_iter()
        .map(|rule| {
            let name = Value::from(rule.policy.as_str());
            format!("{{\"policyName\":{name},\"overriders\":{}}}", overriders(&rule.overriders))
        })
        .collect();
    Some(format!("[{}]", entries.join(",")))
}

fn overriders(value: &Value) -> String {
    let lists: Vec<String> = FIELDS
        .iter()
        .filter_map(|(name, fields)| {
            let elements = value.get(name)?.as_array().filter(|elements| !elements.is_empty())?;
            let elements: Vec<String> =
                elements.iter().map(|element| entry(element, fields, *name == "plaintext")).collect();
            Some(format!("\"{name}\":[{}]", elements.join(",")))
        })
        .collect();
    format!("{{{}}}", lists.join(","))
}

/// One entry with its fields in order. A patch has a value even if none is given.
fn entry(element: &Value, fields: &[&str], is_patch: bool) -> String {
    let parts: Vec<String> = fields
        .iter()
        .filter_map(|field| {
            let text = match (element.get(field), *field) {
                (Some(Value::Array(patches)), "json" | "yaml") => {
                    let patches: Vec<String> =
                        patches.iter().map(|patch| entry(patch, PATCH_FIELDS, true)).collect();
                    format!("[{}]", patches.join(","))
                }
                (Some(value), _) => value.to_string(),
                (None, "value") if is_patch => "null".to_owned(),
                (None, _) => return None,
            };
            Some(format!("\"{field}\":{text}"))
        })
        .collect();
    format!("{{{}}}", parts.join(","))
}
