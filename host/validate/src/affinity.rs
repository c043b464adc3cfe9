//! Cluster affinity: the field selector. Labels and names aren't checked.

use windlass_api::ClusterAffinity;

use crate::fields::Errors;

const KEYS: [&str; 3] = ["provider", "region", "zone"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];

/// Checks the affinity at `path`; the first fault ends the check.
pub(crate) fn check(affinity: &ClusterAffinity, path: &str, errors: &mut Errors) {
    let Some(selector) = &affinity.field_selector else { return };
    for requirement in &selector.match_expressions {
        let detail = if !KEYS.contains(&requirement.key.as_str()) {
            format!("key {:?} is not one of {}", requirement.key, KEYS.join(", "))
        } else if !OPERATORS.contains(&requirement.operator.as_str()) {
            format!("operator {:?} is not one of {}", requirement.operator, OPERATORS.join(", "))
        } else {
            continue;
        };
        return errors.invalid(&format!("{path}.fieldSelector"), selector, detail);
    }
}

/// Whether the affinity says anything.
pub(crate) fn is_empty(affinity: &ClusterAffinity) -> bool {
    *affinity == ClusterAffinity::default()
}
