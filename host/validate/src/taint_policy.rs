//! ClusterTaintPolicy (spec 02 §7). What would make the update of a Cluster fail later is refused here already.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_object::{label, path};

use crate::admit::{Gates, Write};
use crate::denied::{Denied, Warning};
use crate::fields::Errors;

const EFFECTS: [&str; 2] = ["NoSchedule", "NoExecute"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const STATUSES: [&str; 3] = ["True", "False", "Unknown"];

pub(crate) fn admit(gates: Gates, write: &Write<'_>, object: &Value) -> Result<Vec<Warning>, Denied> {
    if write.spec_is_exempt(object) {
        return Ok(Vec::new());
    }
    let mut errors = Errors::default();
    check_taints(gates, path::list_at(object, &["spec", "taints"]), &mut errors);
    for field in ["addOnConditions", "removeOnConditions"] {
        for (i, condition) in path::list_at(object, &["spec", field]).iter().enumerate() {
            let at = format!("spec.{field}[{i}]");
            let operator = path::str_at(condition, &["operator"]);
            if !OPERATORS.contains(&operator) {
                errors.unsupported(&format!("{at}.operator"), operator, &OPERATORS);
            }
            for (j, status) in path::list_at(condition, &["statusValues"]).iter().enumerate() {
                if !status.as_str().is_some_and(|s| STATUSES.contains(&s)) {
                    errors.unsupported(&format!("{at}.statusValues[{j}]"), status, &STATUSES);
                }
            }
        }
    }
    errors.into_result().map(|()| Vec::new())
}

fn check_taints(gates: Gates, taints: &[Value], errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for (i, taint) in taints.iter().enumerate() {
        let at = format!("spec.taints[{i}]");
        let (key, effect) = (path::str_at(taint, &["key"]), path::str_at(taint, &["effect"]));
        errors.check(&format!("{at}.key"), key, label::check_key(key));
        let value = path::str_at(taint, &["value"]);
        errors.check(&format!("{at}.value"), value, label::check_value(value));
        if !EFFECTS.contains(&effect) {
            errors.unsupported(&format!("{at}.effect"), effect, &EFFECTS);
        }
        if effect == "NoExecute" && !gates.allow_no_execute_taint_policy {
            errors.forbidden(
                &at,
                "effect NoExecute must be enabled by an administrator, with --allow-no-execute-taint-policy",
            );
        }
        if !seen.insert((key, effect)) {
            errors.duplicate(&at, format!("{key}:{effect}"));
        }
    }
}
