//! Cells of workloads, autoscalers and quotas.

use super::text::{NONE, UNKNOWN, since, some};
use crate::{convert, duration};
use jiff::Timestamp;
use serde_json::Value;
use windlass_object::{Gvk, Meta, condition, path, time};

/// How many metrics of an autoscaler are shown.
const METRICS: usize = 2;

pub(super) fn ready(object: &Value, _: Timestamp) -> Value {
    let ready = path::i64_at(object, &["status", "readyReplicas"]).unwrap_or_default();
    format!("{ready}/{}", path::i64_at(object, &["spec", "replicas"]).unwrap_or_default()).into()
}

pub(super) fn job_status(job: &Value, _: Timestamp) -> Value {
    let conditions = path::list_at(job, &["status", "conditions"]);
    let first = |kinds: &[(&str, &'static str)]| {
        kinds.iter().find(|(kind, _)| condition::is_true(conditions, kind)).map(|(_, shown)| *shown)
    };
    let ended = first(&[("Complete", "Complete"), ("Failed", "Failed")]);
    let going = || {
        let kinds = [
            ("Suspended", "Suspended"),
            ("FailureTarget", "FailureTarget"),
            ("SuccessCriteriaMet", "SuccessCriteriaMet"),
        ];
        first(&kinds)
    };
    match ended {
        Some(shown) => shown.into(),
        None if job.is_deleting() => "Terminating".into(),
        None => going().unwrap_or("Running").into(),
    }
}

pub(super) fn job_completions(job: &Value, _: Timestamp) -> Value {
    let succeeded = path::i64_at(job, &["status", "succeeded"]).unwrap_or_default();
    if let Some(completions) = path::i64_at(job, &["spec", "completions"]) {
        return format!("{succeeded}/{completions}").into();
    }
    match path::i64_at(job, &["spec", "parallelism"]) {
        Some(parallelism) if parallelism > 1 => format!("{succeeded}/1 of {parallelism}").into(),
        _ => format!("{succeeded}/1").into(),
    }
}

pub(super) fn job_duration(job: &Value, now: Timestamp) -> Value {
    let at = |name| time::parse(path::str_at(job, &["status", name])).ok();
    let Some(start) = at("startTime") else { return "".into() };
    let end = at("completionTime").unwrap_or(now);
    duration::human(end.as_second() - start.as_second()).into()
}

pub(super) fn cron_suspend(cron: &Value, _: Timestamp) -> Value {
    match cron.pointer("/spec/suspend") {
        Some(Value::Bool(true)) => "True".into(),
        Some(Value::Bool(false)) => "False".into(),
        _ => "<unset>".into(),
    }
}

pub(super) fn cron_last(cron: &Value, now: Timestamp) -> Value {
    match path::str_at(cron, &["status", "lastScheduleTime"]) {
        "" => NONE.into(),
        text => since(text, now).into(),
    }
}

pub(super) fn hpa_reference(hpa: &Value, _: Timestamp) -> Value {
    let part = |name| path::str_at(hpa, &["spec", "scaleTargetRef", name]);
    format!("{}/{}", part("kind"), part("name")).into()
}

pub(super) fn hpa_targets(hpa: &Value, _: Timestamp) -> Value {
    // What v1 has no fields for is in its annotations.
    let converted = convert::to(&Gvk::new("autoscaling", "v2", "HorizontalPodAutoscaler"), hpa);
    let hpa = converted.as_ref().unwrap_or(hpa);
    let specs = path::list_at(hpa, &["spec", "metrics"]);
    let current = path::list_at(hpa, &["status", "currentMetrics"]);
    let shown: Vec<String> = specs
        .iter()
        .enumerate()
        .map(|(i, spec)| metric(spec, current.get(i).unwrap_or(&Value::Null)))
        .collect();
    some(shown, METRICS, ", ").into()
}

fn metric(spec: &Value, status: &Value) -> String {
    let kind = path::str_at(spec, &["type"]);
    let field = match kind {
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        "Pods" => "pods",
        "Object" => "object",
        "External" => "external",
        _ => return "<unknown type>".into(),
    };
    let target = |name| path::get(spec, &[field, "target", name]).filter(|v| !v.is_null());
    let current = |name| path::get(status, &[field, "current", name]).filter(|v| !v.is_null());
    let text = |value: Option<&Value>, unit: &str| match value {
        Some(value) => format!("{}{unit}", super::text::plain(value)),
        None => UNKNOWN.into(),
    };
    let prefix = match kind {
        "Resource" | "ContainerResource" => format!("{}: ", path::str_at(spec, &[field, "name"])),
        _ => String::new(),
    };
    let average = |note: &str| {
        format!("{prefix}{}/{}{note}", text(current("averageValue"), ""), text(target("averageValue"), ""))
    };
    match kind {
        "Resource" | "ContainerResource" if target("averageValue").is_none() => {
            format!(
                "{prefix}{}/{}",
                text(current("averageUtilization"), "%"),
                text(target("averageUtilization"), "%")
            )
        }
        "Resource" | "ContainerResource" | "Pods" => average(""),
        _ if target("averageValue").is_some() => average(" (avg)"),
        _ => format!("{}/{}", text(current("value"), ""), text(target("value"), "")),
    }
}

pub(super) fn quota_requests(quota: &Value, _: Timestamp) -> Value {
    quota_part(quota, false)
}

pub(super) fn quota_limits(quota: &Value, _: Timestamp) -> Value {
    quota_part(quota, true)
}

fn quota_part(quota: &Value, limits: bool) -> Value {
    let Some(Value::Object(hard)) = quota.pointer("/status/hard") else { return "".into() };
    let used = quota.pointer("/status/used");
    let parts: Vec<String> = hard
        .iter()
        .filter(|(name, _)| name.starts_with("limits.") == limits)
        .map(|(name, hard)| {
            let used = used.and_then(|used| used.get(name)).map_or("0".into(), super::text::plain);
            format!("{name}: {used}/{}", super::text::plain(hard))
        })
        .collect();
    parts.join(", ").into()
}
