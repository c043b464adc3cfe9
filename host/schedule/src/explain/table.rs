//! The table that people read, made of what [`Outcome::explain`](crate::Outcome::explain) gives.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

/// Clusters that are named after one reason; the rest is counted. `--output json` has them all.
const MAX_NAMED: usize = 8;

/// One pass in a table: what came of it, what each cluster was refused for or scored, how groups and replicas were chosen.
pub fn render(explanation: &Value) -> String {
    let mut out = String::new();
    match explanation.get("error").and_then(Value::as_str) {
        Some(error) => line(&mut out, &format!("Result: {error}")),
        None => line(&mut out, &format!("Result: {}", result(explanation))),
    }
    refused(&mut out, explanation);
    ranked(&mut out, explanation);
    groups(&mut out, explanation);
    divisions(&mut out, explanation);
    for ignored in list(explanation, "ignoredPlugins").iter().filter_map(Value::as_str) {
        line(&mut out, &format!("\nIgnored: {ignored}"));
    }
    out
}

fn line(out: &mut String, text: &str) {
    // Writing to a text doesn't fail.
    let _ = writeln!(out, "{}", text.trim_end());
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A field as people write it; nothing for null.
fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number
            .as_f64()
            .filter(|_| number.is_f64())
            .map_or_else(|| number.to_string(), |number| format!("{number:.2}")),
        Some(other) => other.to_string(),
    }
}

fn result(explanation: &Value) -> String {
    let targets = list(explanation, "result");
    if targets.is_empty() {
        return "no clusters".to_owned();
    }
    let target = |target: &Value| match text(target, "replicas").as_str() {
        "" => text(target, "name"),
        replicas => format!("{}:{replicas}", text(target, "name")),
    };
    targets.iter().map(target).collect::<Vec<_>>().join(", ")
}

/// Refused clusters, by plugin and reason.
fn refused(out: &mut String, explanation: &Value) {
    let all = list(explanation, "refused");
    if all.is_empty() {
        return;
    }
    let mut reasons: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for entry in all {
        let reason = (text(entry, "plugin"), text(entry, "reason"));
        reasons.entry(reason).or_default().push(text(entry, "cluster"));
    }
    line(out, &format!("\nRefused: {} of {} clusters", all.len(), text(explanation, "clusters")));
    let rows = reasons.into_iter().map(|((plugin, reason), mut clusters)| {
        let count = clusters.len();
        clusters.truncate(MAX_NAMED);
        let more = if count > MAX_NAMED { format!(" and {} more", count - MAX_NAMED) } else { String::new() };
        vec![count.to_string(), plugin, reason, format!("{}{more}", clusters.join(", "))]
    });
    grid(out, &["COUNT", "PLUGIN", "REASON", "CLUSTERS"], rows.collect());
}

/// Feasible clusters in the order of preference.
fn ranked(out: &mut String, explanation: &Value) {
    let all = list(explanation, "ranked");
    if all.is_empty() {
        return;
    }
    let selected: Vec<&str> = list(explanation, "selected").iter().filter_map(Value::as_str).collect();
    let plugins: Vec<String> =
        list(explanation, "plugins").iter().map(|plugin| text(plugin, "name")).collect();
    let weights: Vec<String> =
        list(explanation, "plugins").iter().map(|plugin| text(plugin, "weight")).collect();
    let score = |entry: &Value, plugin: &str| {
        let Some(score) = entry.get("scores").and_then(|scores| scores.get(plugin)) else {
            return String::new();
        };
        match (text(score, "raw"), text(score, "normalized")) {
            (raw, normalized) if raw == normalized => raw,
            (raw, normalized) => format!("{normalized} (of {raw})"),
        }
    };
    let heads = plugins.iter().zip(&weights).map(|(name, weight)| match weight.as_str() {
        "1" => name.to_uppercase(),
        weight => format!("{} ×{weight}", name.to_uppercase()),
    });
    let mut head: Vec<String> = vec!["CLUSTER".to_owned(), "TIER".to_owned(), "SCORE".to_owned()];
    head.extend(heads);
    head.extend(["ROOM".to_owned(), "AVAILABLE".to_owned(), "SELECTED".to_owned()]);
    let rows = all.iter().map(|entry| {
        let name = text(entry, "cluster");
        let chosen = selected.iter().position(|selected| *selected == name);
        let mut row = vec![name, text(entry, "overflowOrder"), text(entry, "score")];
        row.extend(plugins.iter().map(|plugin| score(entry, plugin)));
        row.extend([text(entry, "allocatable"), text(entry, "available")]);
        row.push(chosen.map(|place| (place + 1).to_string()).unwrap_or_default());
        row
    });
    let rows = rows.collect();
    line(out, "\nFeasible, in order of preference:");
    grid(out, &head.iter().map(String::as_str).collect::<Vec<_>>(), rows);
}

fn groups(out: &mut String, explanation: &Value) {
    let all = list(explanation, "groups");
    let Some(first) = all.first() else { return };
    line(out, &format!("\nGroups by {}:", text(first, "field")));
    let rows =
        all.iter().map(|group| ["name", "score", "clusters", "chosen"].map(|key| text(group, key)).to_vec());
    grid(out, &["GROUP", "SCORE", "CLUSTERS", "CHOSEN"], rows.collect());
}

fn divisions(out: &mut String, explanation: &Value) {
    for division in list(explanation, "divisions") {
        let mut title = format!("\n{} replicas, {}", text(division, "replicas"), text(division, "strategy"));
        for (key, word) in [("mode", ""), ("tier", "tier ")] {
            let value = text(division, key);
            if !value.is_empty() {
                let _ = write!(title, ", {word}{value}");
            }
        }
        line(out, &format!("{title}:"));
        let keys = ["cluster", "weight", "kept", "given", "wonAt", "nextAt"];
        let rows = list(division, "shares").iter().map(|share| keys.map(|key| text(share, key)).to_vec());
        grid(out, &["CLUSTER", "WEIGHT", "KEPT", "GIVEN", "WON AT", "NEXT AT"], rows.collect());
    }
}

/// Columns as wide as they must be; those without any content are left out.
fn grid(out: &mut String, head: &[&str], rows: Vec<Vec<String>>) {
    let cell = |row: &Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
    let columns: Vec<(usize, usize)> = (0..head.len())
        .filter(|column| rows.iter().any(|row| !cell(row, *column).is_empty()))
        .map(|column| {
            let widest = rows.iter().map(|row| cell(row, column).chars().count()).max().unwrap_or(0);
            (column, widest.max(head.get(column).map_or(0, |head| head.chars().count())))
        })
        .collect();
    let mut print = |cells: &dyn Fn(usize) -> String| {
        let padded = columns.iter().map(|(column, width)| format!("{:<width$}", cells(*column)));
        line(out, &format!("  {}", padded.collect::<Vec<_>>().join("   ")));
    };
    print(&|column| head.get(column).copied().unwrap_or_default().to_owned());
    for row in &rows {
        print(&|column| cell(row, column));
    }
}
