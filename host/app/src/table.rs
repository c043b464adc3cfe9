//! What people see of a propagation: which clusters, how many replicas, how it is there, and why not the others.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use windlass_controllers::scheduler::Decisions;
use windlass_object::condition;
use windlass_object::meta::Meta;
use windlass_object::path::{i64_at, list_at, str_at};

/// One line: a template in one cluster.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// `deployment/web`
    pub(crate) template: String,
    /// Its namespace.
    pub(crate) namespace: String,
    /// The cluster; empty if there is none.
    pub(crate) cluster: String,
    /// Replicas assigned, if it has any.
    pub(crate) replicas: Option<i64>,
    /// `ready`, `applied`, `waiting`, `refused`.
    pub(crate) state: &'static str,
    /// What is missing, or why the cluster was refused.
    pub(crate) why: String,
}

impl Row {
    pub(crate) fn json(&self) -> Value {
        json!({
            "template": self.template, "namespace": self.namespace, "cluster": self.cluster,
            "replicas": self.replicas, "state": self.state, "why": self.why,
        })
    }
}

/// The rows of one binding.
pub(crate) fn rows(binding: &Value, decisions: &Decisions) -> Vec<Row> {
    let resource = binding.pointer("/spec/resource").cloned().unwrap_or_default();
    let template =
        format!("{}/{}", str_at(&resource, &["kind"]).to_lowercase(), str_at(&resource, &["name"]));
    let row = |cluster: &str, replicas, state, why: String| Row {
        template: template.clone(),
        namespace: binding.namespace().to_owned(),
        cluster: cluster.to_owned(),
        replicas,
        state,
        why,
    };
    let items: BTreeMap<&str, &Value> = list_at(binding, &["status", "aggregatedStatus"])
        .iter()
        .map(|item| (str_at(item, &["clusterName"]), item))
        .collect();
    let mut rows = Vec::new();
    for target in list_at(binding, &["spec", "clusters"]) {
        let name = str_at(target, &["name"]);
        let replicas = i64_at(target, &["replicas"]).filter(|replicas| *replicas > 0);
        let (state, why) = match items.get(name) {
            None => ("waiting", "not applied yet".to_owned()),
            Some(item) if item.get("applied") != Some(&Value::Bool(true)) => {
                ("waiting", str_at(item, &["appliedMessage"]).to_owned())
            }
            Some(item) if str_at(item, &["health"]) == "Healthy" => ("ready", String::new()),
            Some(item) => {
                let ready = i64_at(item, &["status", "readyReplicas"]).unwrap_or(0);
                let why = replicas.map(|replicas| format!("{ready} of {replicas} ready")).unwrap_or_default();
                ("applied", why)
            }
        };
        rows.push(row(name, replicas, state, why));
    }
    let key = windlass_api::names::namespaced(binding.namespace(), binding.name());
    if let Some(decision) = decisions.get(&key) {
        let pass = list_at(&decision, &["passes"]).last().cloned().unwrap_or_default();
        for refused in list_at(&pass, &["outcome", "refused"]) {
            let why = str_at(refused, &["reason"]).to_owned();
            rows.push(row(str_at(refused, &["cluster"]), None, "refused", why));
        }
    }
    if rows.is_empty() {
        let scheduled = condition::find(condition::of(binding), "Scheduled");
        let why = scheduled.map(|found| str_at(found, &["message"]).to_owned()).unwrap_or_default();
        rows.push(row("", None, "waiting", why));
    }
    rows
}

/// As text, in kubectl's columns; with colours for a terminal.
pub(crate) fn render(rows: &[Row], colours: bool) -> String {
    use owo_colors::OwoColorize as _;
    let header = ["NAMESPACE", "TEMPLATE", "CLUSTER", "REPLICAS", "STATE", "WHY"].map(str::to_owned);
    let mut lines = vec![header];
    for row in rows {
        let replicas = row.replicas.map(|replicas| replicas.to_string()).unwrap_or_else(|| "-".into());
        let state = row.state.to_owned();
        lines.push([
            row.namespace.clone(),
            row.template.clone(),
            row.cluster.clone(),
            replicas,
            state,
            row.why.clone(),
        ]);
    }
    let mut widths = [0; 6];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let mut text = String::new();
        for (column, (width, cell)) in widths.iter().zip(line).enumerate() {
            let padded = if column == 5 { cell.clone() } else { format!("{cell:<width$}   ") };
            let coloured = match (colours && at > 0 && column == 4, cell.as_str()) {
                (true, "ready") => padded.green().to_string(),
                (true, "refused") => padded.dimmed().to_string(),
                (true, _) => padded.yellow().to_string(),
                _ => padded,
            };
            text.push_str(&coloured);
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_for_each_cluster() {
        let binding = json!({
            "metadata": {"namespace": "shop", "name": "web-deployment"},
            "spec": {
                "resource": {"kind": "Deployment", "name": "web"},
                "clusters": [{"name": "m1", "replicas": 3}, {"name": "m2", "replicas": 6}],
            },
            "status": {"aggregatedStatus": [
                {"clusterName": "m1", "applied": true, "health": "Healthy"},
                {"clusterName": "m2", "applied": true, "health": "Unhealthy", "status": {"readyReplicas": 2}},
            ]},
        });
        let rows = rows(&binding, &Decisions::default());
        let states: Vec<_> =
            rows.iter().map(|row| (row.cluster.as_str(), row.state, row.why.as_str())).collect();
        assert_eq!(states, [("m1", "ready", ""), ("m2", "applied", "2 of 6 ready")]);
        let text = render(&rows, false);
        assert!(
            text.starts_with("NAMESPACE   TEMPLATE         CLUSTER   REPLICAS   STATE     WHY\n"),
            "{text}"
        );
    }
}
