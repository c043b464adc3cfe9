//! Jobs: counts, and one verdict over all members.

use super::{Item, extreme, field_is_set, has_true, known, workload};
use crate::json::{Result, list, status, text};
use windlass_sdk::{Value, json};

/// How a member's job ended, by its first telling condition.
fn verdict(status: &Value) -> Result<Option<&str>> {
    for condition in list(status, &["conditions"])? {
        let kind = text(condition, &["type"])?;
        if matches!(kind, "Complete" | "Failed") && text(condition, &["status"])? == "True" {
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

/// When the last member's job ended. A plugin has no clock, and needs none: the same
/// statuses give the same conditions.
fn decided(items: &[Item]) -> Result<Option<&str>> {
    let mut latest = None;
    for (_, status) in known(items) {
        for condition in list(status, &["conditions"])? {
            let time = text(condition, &["lastTransitionTime"])?;
            if text(condition, &["status"])? == "True" && !time.is_empty() {
                latest = latest.max(Some(time));
            }
        }
        let time = text(status, &["completionTime"])?;
        if !time.is_empty() {
            latest = latest.max(Some(time));
        }
    }
    Ok(latest)
}

/// The new status; `None` once the template's job has ended, which nothing changes any more.
pub(super) fn aggregate(template: &Value, items: &[Item]) -> Result<Option<Value>> {
    if let Some(old) = status(template)? {
        let old = Value::Object(old.clone());
        if has_true(&old, "Complete")? || has_true(&old, "Failed")? {
            return Ok(None);
        }
    }
    let mut result = workload::sums(items, &["active", "succeeded", "failed"])?;
    let (mut completed, mut criteria, mut started, mut ended) = (0, 0, 0, 0);
    let mut failed = Vec::new();
    for (cluster, member) in known(items) {
        match verdict(member)? {
            Some("Complete") => completed += 1,
            Some(_) => failed.push(cluster),
            None => {}
        }
        criteria += usize::from(has_true(member, "SuccessCriteriaMet")?);
        started += usize::from(field_is_set(member, "startTime")?);
        ended += usize::from(field_is_set(member, "completionTime")?);
    }
    let all = |count: usize| count == items.len() && count > 0;
    let at = decided(items)?;
    let mut conditions = Vec::new();
    let mut condition = |kind: &str, reason: &str, message: String| {
        conditions.push(json!({
            "type": kind, "status": "True", "reason": reason, "message": message,
            "lastProbeTime": at, "lastTransitionTime": at,
        }));
    };
    if !failed.is_empty() {
        let clusters = failed.join(",");
        condition("Failed", "JobFailed", format!("Job executed failed in member clusters {clusters}"));
    }
    if all(completed) {
        condition("Complete", "Completed", "Job completed".into());
        if all(criteria) {
            let message = "All member clusters have met success criteria".into();
            condition("SuccessCriteriaMet", "CompletionsReached", message);
        }
    }
    if !conditions.is_empty() {
        result.insert("conditions".into(), Value::Array(conditions));
    }
    let held = text(template, &["status", "startTime"])?;
    if !held.is_empty() {
        result.insert("startTime".into(), json!(held));
    } else if all(started)
        && let Some(earliest) = extreme(items, "startTime", false)?
    {
        result.insert("startTime".into(), json!(earliest));
    }
    if all(ended)
        && let Some(latest) = extreme(items, "completionTime", true)?
    {
        result.insert("completionTime".into(), json!(latest));
    }
    Ok(Some(Value::Object(result)))
}
