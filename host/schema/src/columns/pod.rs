//! What `kubectl get pods` makes of a pod's status: how many containers are ready, what keeps it from running, and how
//! often it was restarted.

use super::text::{NONE, since};
use jiff::Timestamp;
use serde_json::Value;
use windlass_object::{Meta, path};

/// What the status of a pod comes to.
#[derive(Default)]
struct Summary {
    ready: usize,
    total: usize,
    reason: String,
    restarts: i64,
    last_restart: String,
}

pub(super) fn ready(pod: &Value, _: Timestamp) -> Value {
    let summary = summarise(pod);
    format!("{}/{}", summary.ready, summary.total).into()
}

pub(super) fn status(pod: &Value, _: Timestamp) -> Value {
    summarise(pod).reason.into()
}

pub(super) fn restarts(pod: &Value, now: Timestamp) -> Value {
    let summary = summarise(pod);
    if summary.restarts == 0 || summary.last_restart.is_empty() {
        return summary.restarts.to_string().into();
    }
    format!("{} ({} ago)", summary.restarts, since(&summary.last_restart, now)).into()
}

pub(super) fn gates(pod: &Value, _: Timestamp) -> Value {
    let gates = path::list_at(pod, &["spec", "readinessGates"]);
    if gates.is_empty() {
        return NONE.into();
    }
    let open = gates.iter().filter(|gate| is_true(pod, path::str_at(gate, &["conditionType"]))).count();
    format!("{open}/{}", gates.len()).into()
}

fn summarise(pod: &Value) -> Summary {
    let init_specs = path::list_at(pod, &["spec", "initContainers"]);
    let phase = path::str_at(pod, &["status", "phase"]);
    let own_reason = path::str_at(pod, &["status", "reason"]);
    let mut summary = Summary {
        total: path::list_at(pod, &["spec", "containers"]).len()
            + init_specs.iter().filter(|c| is_sidecar(c)).count(),
        reason: if own_reason.is_empty() { phase } else { own_reason }.to_owned(),
        ..Summary::default()
    };
    let gated = path::list_at(pod, &["status", "conditions"]).iter().any(|c| {
        path::str_at(c, &["type"]) == "PodScheduled" && path::str_at(c, &["reason"]) == "SchedulingGated"
    });
    if gated {
        summary.reason = "SchedulingGated".into();
    }
    let sidecars = initialise(pod, init_specs, &mut summary);
    if sidecars.finished || is_true(pod, "Initialized") {
        summary.restarts = sidecars.restarts;
        summary.last_restart = sidecars.last_restart;
        run(pod, &mut summary);
    }
    if pod.is_deleting() {
        if own_reason == "NodeLost" {
            summary.reason = "Unknown".into();
        } else if !matches!(phase, "Succeeded" | "Failed") {
            summary.reason = "Terminating".into();
        }
    }
    summary
}

/// What is known once init containers were looked at.
struct Sidecars {
    /// None of them is still at work.
    finished: bool,
    restarts: i64,
    last_restart: String,
}

fn initialise(pod: &Value, specs: &[Value], summary: &mut Summary) -> Sidecars {
    let mut sidecars = Sidecars { finished: true, restarts: 0, last_restart: String::new() };
    for (index, status) in path::list_at(pod, &["status", "initContainerStatuses"]).iter().enumerate() {
        let name = path::str_at(status, &["name"]);
        let sidecar = specs.iter().any(|c| path::str_at(c, &["name"]) == name && is_sidecar(c));
        summary.restarts += restart_count(status);
        later(&mut summary.last_restart, finished_at(status));
        if sidecar {
            sidecars.restarts += restart_count(status);
            later(&mut sidecars.last_restart, finished_at(status));
        }
        let terminated = status.pointer("/state/terminated").filter(|s| !s.is_null());
        let waiting = path::str_at(status, &["state", "waiting", "reason"]);
        match terminated {
            Some(state) if path::i64_at(state, &["exitCode"]).unwrap_or_default() == 0 => continue,
            _ if sidecar && path::bool_at(status, &["started"]) => {
                summary.ready += usize::from(path::bool_at(status, &["ready"]));
                continue;
            }
            Some(state) => summary.reason = format!("Init:{}", ending(state)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => {
                summary.reason = format!("Init:{waiting}")
            }
            None => summary.reason = format!("Init:{index}/{}", specs.len()),
        }
        sidecars.finished = false;
        break;
    }
    sidecars
}

fn run(pod: &Value, summary: &mut Summary) {
    let mut running = false;
    // Backwards, so that the first container's reason is the one that stays.
    for status in path::list_at(pod, &["status", "containerStatuses"]).iter().rev() {
        summary.restarts += restart_count(status);
        later(&mut summary.last_restart, finished_at(status));
        let waiting = path::str_at(status, &["state", "waiting", "reason"]);
        if !waiting.is_empty() {
            summary.reason = waiting.to_owned();
        } else if let Some(state) = status.pointer("/state/terminated").filter(|s| !s.is_null()) {
            summary.reason = ending(state);
        } else if path::bool_at(status, &["ready"])
            && status.pointer("/state/running").is_some_and(|s| !s.is_null())
        {
            running = true;
            summary.ready += 1;
        }
    }
    if summary.reason == "Completed" && running {
        summary.reason = if is_true(pod, "Ready") { "Running" } else { "NotReady" }.into();
    }
}

/// How a container ended.
fn ending(state: &Value) -> String {
    match (path::str_at(state, &["reason"]), path::i64_at(state, &["signal"]).unwrap_or_default()) {
        ("", 0) => format!("ExitCode:{}", path::i64_at(state, &["exitCode"]).unwrap_or_default()),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn is_sidecar(container: &Value) -> bool {
    path::str_at(container, &["restartPolicy"]) == "Always"
}

fn is_true(pod: &Value, kind: &str) -> bool {
    windlass_object::condition::is_true(path::list_at(pod, &["status", "conditions"]), kind)
}

fn restart_count(status: &Value) -> i64 {
    path::i64_at(status, &["restartCount"]).unwrap_or_default()
}

fn finished_at(status: &Value) -> &str {
    path::str_at(status, &["lastState", "terminated", "finishedAt"])
}

/// Times are canonical, so that their order is that of their text.
fn later(latest: &mut String, time: &str) {
    if time > latest.as_str() {
        *latest = time.to_owned();
    }
}
