//! Kinds that make pods.

use super::check::{Check, entries, look, missing};
use super::pod;
use crate::field_error::FieldError;
use serde_json::Value;
use windlass_object::{LabelSelector, path};

/// Fields of a StatefulSet that may change.
const CHANGEABLE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];
const STATEFUL: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

pub(super) fn deployment(new: &Value, old: Option<&Value>, check: &mut Check) {
    let spec = look(new, &["spec"]);
    counts(check, spec);
    selector(check, "deployment", spec);
    template(check, spec, &["Always"]);
    let strategy = look(spec, &["strategy"]);
    check.needed_one_of("spec.strategy.type", look(strategy, &["type"]), &["Recreate", "RollingUpdate"]);
    if look(strategy, &["type"]) == "Recreate" && !look(strategy, &["rollingUpdate"]).is_null() {
        check.forbidden(
            "spec.strategy.rollingUpdate",
            "may not be specified when strategy `type` is 'Recreate'",
        );
    }
    if look(strategy, &["type"]) == "RollingUpdate" {
        rolling(check, "spec.strategy.rollingUpdate", look(strategy, &["rollingUpdate"]));
    }
    check.not_negative("spec.progressDeadlineSeconds", look(spec, &["progressDeadlineSeconds"]));
    if let Some(deadline) = look(spec, &["progressDeadlineSeconds"]).as_i64()
        && deadline <= look(spec, &["minReadySeconds"]).as_i64().unwrap_or_default()
    {
        check.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds");
    }
    check.immutable("spec.selector", new, old, &["spec", "selector"]);
}

fn rolling(check: &mut Check, at: &str, rolling: &Value) {
    check.count_or_percent(&format!("{at}.maxUnavailable"), look(rolling, &["maxUnavailable"]));
    check.count_or_percent(&format!("{at}.maxSurge"), look(rolling, &["maxSurge"]));
    let none = |value: &Value| value.as_i64() == Some(0) || value == "0%";
    if none(look(rolling, &["maxUnavailable"])) && none(look(rolling, &["maxSurge"])) {
        check.invalid(
            format!("{at}.maxUnavailable"),
            look(rolling, &["maxUnavailable"]).clone(),
            "may not be 0 when `maxSurge` is 0",
        );
    }
    let percent =
        |value: &Value| value.as_str().and_then(|t| t.strip_suffix('%')).and_then(|t| t.parse::<u32>().ok());
    if percent(look(rolling, &["maxUnavailable"])).is_some_and(|p| p > 100) {
        check.invalid(
            format!("{at}.maxUnavailable"),
            look(rolling, &["maxUnavailable"]).clone(),
            "must not be greater than 100%",
        );
    }
}

fn counts(check: &mut Check, spec: &Value) {
    for field in ["replicas", "minReadySeconds", "revisionHistoryLimit"] {
        check.not_negative(&format!("spec.{field}"), look(spec, &[field]));
    }
}

/// The selector must be there, select something, and select the template.
fn selector(check: &mut Check, kind: &str, spec: &Value) {
    let selector = look(spec, &["selector"]);
    let labels = look(spec, &["template", "metadata", "labels"]);
    const MISMATCH: &str = "`selector` does not match template `labels`";
    if selector.is_null() {
        check.required("spec.selector", "");
        check.invalid("spec.template.metadata.labels", labels.clone(), MISMATCH);
        return;
    }
    check.selector("spec.selector", selector);
    if missing(look(selector, &["matchLabels"])) && missing(look(selector, &["matchExpressions"])) {
        check.invalid("spec.selector", selector.clone(), format!("empty selector is invalid for {kind}"));
        return;
    }
    let matches =
        LabelSelector::from_json(selector).is_ok_and(|s| s.matches(|key| look(labels, &[key]).as_str()));
    if !matches {
        check.invalid("spec.template.metadata.labels", labels.clone(), MISMATCH);
    }
}

fn template(check: &mut Check, spec: &Value, policies: &[&str]) {
    let template = look(spec, &["template"]);
    if template.is_null() {
        check.required("spec.template", "");
        return;
    }
    check.labels("spec.template.labels", look(template, &["metadata", "labels"]));
    let claims = path::list_at(spec, &["volumeClaimTemplates"]);
    pod::spec_with(check, "spec.template.spec", look(template, &["spec"]), claims);
    check.one_of("spec.template.spec.restartPolicy", look(template, &["spec", "restartPolicy"]), policies);
    if policies == ["Always"] && !look(template, &["spec", "activeDeadlineSeconds"]).is_null() {
        check.forbidden(
            "spec.template.spec.activeDeadlineSeconds",
            "activeDeadlineSeconds in ReplicaSet is not Supported",
        );
    }
}

pub(super) fn stateful_set(new: &Value, old: Option<&Value>, check: &mut Check) {
    let spec = look(new, &["spec"]);
    counts(check, spec);
    selector(check, "statefulset", spec);
    template(check, spec, &["Always"]);
    if let Some(policy) = check.text("spec.podManagementPolicy", look(spec, &["podManagementPolicy"]))
        && !["OrderedReady", "Parallel"].contains(&policy)
    {
        check.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'");
    }
    check.not_negative("spec.ordinals.start", look(spec, &["ordinals", "start"]));
    for field in ["whenDeleted", "whenScaled"] {
        check.one_of(
            &format!("spec.persistentVolumeClaimRetentionPolicy.{field}"),
            look(spec, &["persistentVolumeClaimRetentionPolicy", field]),
            &["Retain", "Delete"],
        );
    }
    let strategy = look(spec, &["updateStrategy"]);
    check.needed_one_of(
        "spec.updateStrategy.type",
        look(strategy, &["type"]),
        &["OnDelete", "RollingUpdate"],
    );
    if look(strategy, &["type"]) == "OnDelete" && !look(strategy, &["rollingUpdate"]).is_null() {
        check.invalid(
            "spec.updateStrategy.rollingUpdate",
            look(strategy, &["rollingUpdate"]).clone(),
            "only allowed for updateStrategy 'RollingUpdate'",
        );
    }
    check.not_negative(
        "spec.updateStrategy.rollingUpdate.partition",
        look(strategy, &["rollingUpdate", "partition"]),
    );
    let Some(old) = old else { return };
    let fixed = |spec: &Value| {
        let mut spec = spec.clone();
        if let Some(map) = spec.as_object_mut() {
            map.retain(|field, _| !CHANGEABLE.contains(&field.as_str()));
        }
        spec
    };
    if fixed(spec) != fixed(look(old, &["spec"])) {
        check.forbidden("spec", STATEFUL);
    }
}

pub(super) fn daemon_set(new: &Value, old: Option<&Value>, check: &mut Check) {
    let spec = look(new, &["spec"]);
    counts(check, spec);
    selector(check, "daemonset", spec);
    template(check, spec, &["Always"]);
    check.needed_one_of(
        "spec.updateStrategy.type",
        look(spec, &["updateStrategy", "type"]),
        &["OnDelete", "RollingUpdate"],
    );
    if look(spec, &["updateStrategy", "type"]) == "RollingUpdate" {
        let rolling = look(spec, &["updateStrategy", "rollingUpdate"]);
        check.count_or_percent(
            "spec.updateStrategy.rollingUpdate.maxUnavailable",
            look(rolling, &["maxUnavailable"]),
        );
        check.count_or_percent("spec.updateStrategy.rollingUpdate.maxSurge", look(rolling, &["maxSurge"]));
        let none = |value: &Value| value.is_null() || value.as_i64() == Some(0) || value == "0%";
        let (surge, unavailable) = (look(rolling, &["maxSurge"]), look(rolling, &["maxUnavailable"]));
        if none(surge) && none(unavailable) {
            let at = "spec.updateStrategy.rollingUpdate.maxUnavailable";
            check.required(at, "cannot be 0 when maxSurge is 0");
        } else if !none(surge) && !none(unavailable) {
            let at = "spec.updateStrategy.rollingUpdate.maxSurge";
            check.invalid(at, surge.clone(), "may not be set when maxUnavailable is non-zero");
        }
    }
    check.immutable("spec.selector", new, old, &["spec", "selector"]);
}

pub(super) fn replica_set(new: &Value, old: Option<&Value>, check: &mut Check) {
    let spec = look(new, &["spec"]);
    counts(check, spec);
    selector(check, "deployment", spec);
    template(check, spec, &["Always"]);
    check.immutable("spec.selector", new, old, &["spec", "selector"]);
}

pub(super) fn replication_controller(new: &Value, check: &mut Check) {
    let spec = look(new, &["spec"]);
    counts(check, spec);
    if missing(look(spec, &["selector"])) {
        check.required("spec.selector", "");
    }
    let labels = look(spec, &["template", "metadata", "labels"]);
    if entries(look(spec, &["selector"])).any(|(key, value)| look(labels, &[key.as_str()]) != value) {
        check.invalid(
            "spec.template.metadata.labels",
            labels.clone(),
            "`selector` does not match template `labels`",
        );
    }
    template(check, spec, &["Always"]);
}

pub(super) fn job(new: &Value, old: Option<&Value>, check: &mut Check) {
    let spec = look(new, &["spec"]);
    job_spec(check, spec, "spec");
    let Some(old) = old else { return };
    for field in [
        "selector",
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        check.immutable(&format!("spec.{field}"), new, Some(old), &["spec", field]);
    }
    if look(spec, &["completionMode"]) != "Indexed" {
        check.immutable("spec.completions", new, Some(old), &["spec", "completions"]);
    }
    // A suspended Job that never ran may still be told where to run.
    let suspended = path::bool_at(old, &["spec", "suspend"]) && look(old, &["status", "startTime"]).is_null();
    if !suspended {
        check.immutable("spec.template", new, Some(old), &["spec", "template"]);
    }
}

fn job_spec(check: &mut Check, spec: &Value, at: &str) {
    for field in
        ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"]
    {
        check.not_negative(&format!("{at}.{field}"), look(spec, &[field]));
    }
    check.one_of(
        &format!("{at}.completionMode"),
        look(spec, &["completionMode"]),
        &["NonIndexed", "Indexed"],
    );
    if look(spec, &["completionMode"]) == "Indexed" && look(spec, &["completions"]).is_null() {
        check.required(format!("{at}.completions"), "when completion mode is Indexed");
    }
    let at = format!("{at}.template");
    check.labels(&format!("{at}.labels"), look(spec, &["template", "metadata", "labels"]));
    pod::spec(check, &format!("{at}.spec"), look(spec, &["template", "spec"]));
    let policy = look(spec, &["template", "spec", "restartPolicy"]).as_str().unwrap_or_default();
    if !["OnFailure", "Never"].contains(&policy) {
        let field = format!("{at}.spec.restartPolicy");
        // The default is none of them: say that it is missing.
        if policy.is_empty() || policy == "Always" {
            check.push(FieldError::required(field, "valid values: \"OnFailure\", \"Never\""));
        } else {
            check.push(FieldError::not_supported(field, policy, ["OnFailure", "Never"]));
        }
    }
}

pub(super) fn cron_job(new: &Value, check: &mut Check) {
    let spec = look(new, &["spec"]);
    if let Some(schedule) = check.text("spec.schedule", look(spec, &["schedule"])) {
        if schedule.contains("TZ") {
            check.invalid(
                "spec.schedule",
                schedule,
                "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
            );
        } else if let Err(detail) = schedule_fault(schedule) {
            check.invalid("spec.schedule", schedule, detail);
        }
    }
    check.not_negative("spec.startingDeadlineSeconds", look(spec, &["startingDeadlineSeconds"]));
    check.needed_one_of(
        "spec.concurrencyPolicy",
        look(spec, &["concurrencyPolicy"]),
        &["Allow", "Forbid", "Replace"],
    );
    check.not_negative("spec.successfulJobsHistoryLimit", look(spec, &["successfulJobsHistoryLimit"]));
    check.not_negative("spec.failedJobsHistoryLimit", look(spec, &["failedJobsHistoryLimit"]));
    if look(spec, &["timeZone"]) == "" {
        check.invalid("spec.timeZone", "", "timeZone must be nil or non-empty string");
    }
    if !look(spec, &["jobTemplate", "spec", "manualSelector"]).is_null() {
        check.push(FieldError::not_supported("spec.jobTemplate.spec.manualSelector", true, ["nil", "false"]));
    }
    job_spec(check, look(spec, &["jobTemplate", "spec"]), "spec.jobTemplate.spec");
}

/// Whether a schedule has the form of one; what its fields come to is the controller's affair.
fn schedule_fault(schedule: &str) -> Result<(), String> {
    const NAMED: [&str; 7] =
        ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
    if NAMED.contains(&schedule) || schedule.starts_with("@every ") {
        return Ok(());
    }
    if schedule.starts_with('@') {
        return Err(format!("unrecognized descriptor: {schedule}"));
    }
    let fields = schedule.split_whitespace().count();
    if fields != 5 {
        let parts: Vec<&str> = schedule.split_whitespace().collect();
        return Err(format!("expected exactly 5 fields, found {fields}: [{}]", parts.join(" ")));
    }
    match schedule.chars().find(|c| !(c.is_ascii_alphanumeric() || " \t*/,-?#".contains(*c))) {
        Some(_) => Err(format!("failed to parse int from {schedule}")),
        None => Ok(()),
    }
}
