//! Failover: defaults and rules (spec 02 §5.1.5, §5.2 rules 19–24).

use serde_json::Value;
use windlass_api::placement::{ApplicationFailover, StatePreservation};
use windlass_api::{PropagationSpec, PurgeMode};
use windlass_object::{label, path};

use crate::fields::Errors;

/// Seconds to wait for the new copy before the old one goes, unless said otherwise.
const GRACE_PERIOD: i64 = 600;

pub(crate) fn set_defaults(policy: &mut Value) {
    let Some(application) =
        path::get_mut(policy, &["spec", "failover", "application"]).filter(|a| a.is_object())
    else {
        return;
    };
    let mode = path::str_at(application, &["purgeMode"]);
    let gracefully = mode.is_empty() || mode == PurgeMode::Gracefully.as_str();
    if gracefully && path::get(application, &["gracePeriodSeconds"]).is_none_or(Value::is_null) {
        path::set(application, &["gracePeriodSeconds"], GRACE_PERIOD.into());
    }
}

pub(crate) fn check(spec: &PropagationSpec, errors: &mut Errors) {
    let Some(failover) = &spec.failover else { return };
    if let Some(application) = &failover.application {
        if !spec.propagate_deps {
            errors.invalid("spec.propagateDeps", false, "must be true with spec.failover.application");
        }
        check_application(application, "spec.failover.application", errors);
    }
    for (name, preservation) in [
        ("application", failover.application.as_ref().and_then(|a| a.state_preservation.as_ref())),
        ("cluster", failover.cluster.as_ref().and_then(|c| c.state_preservation.as_ref())),
    ] {
        if let Some(preservation) = preservation {
            check_state(preservation, &format!("spec.failover.{name}.statePreservation"), errors);
        }
    }
}

fn check_application(application: &ApplicationFailover, path: &str, errors: &mut Errors) {
    if let Some(seconds @ ..0) = application.decision_conditions.toleration_seconds {
        errors.invalid(
            &format!("{path}.decisionConditions.tolerationSeconds"),
            seconds,
            "must not be negative",
        );
    }
    let gracefully = application.purge_mode.unwrap_or(PurgeMode::Gracefully) == PurgeMode::Gracefully;
    let at = format!("{path}.gracePeriodSeconds");
    match application.grace_period_seconds {
        Some(seconds) if !gracefully => {
            errors.invalid(&at, seconds, "has no meaning unless purgeMode is Gracefully")
        }
        None if gracefully => errors.invalid(&at, Value::Null, "must be set when purgeMode is Gracefully"),
        Some(seconds @ ..=0) => errors.invalid(&at, seconds, "must be greater than 0"),
        _ => {}
    }
}

fn check_state(preservation: &StatePreservation, path: &str, errors: &mut Errors) {
    for (i, rule) in preservation.rules.iter().enumerate() {
        let at = format!("{path}.rules[{i}].aliasLabelName");
        errors.check(&at, &rule.alias_label_name, label::check_key(&rule.alias_label_name));
    }
}
