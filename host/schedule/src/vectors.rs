//! Cases of the conformance vectors: what they give and what they expect. Read by the tests of this crate with native
//! stand-ins, by `windlass conformance` with the shipped components, and by the bench, which holds its answers to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::binding::Peers;
use crate::outcome::{Failure, Outcome};
use crate::pipeline::{Input, Options, schedule};
use crate::plugin::{Assumed, Profile};
use crate::records::{elements, text};
use crate::request::Request;
use crate::table::ClusterTable;

/// A fleet and the cases that are about it.
#[derive(Debug, Default)]
pub struct Fleet {
    /// Its name.
    pub name: String,
    /// Its Cluster objects.
    pub clusters: Vec<Value>,
    /// In the order of their file.
    pub cases: Vec<Case>,
}

/// One pass and its expected result.
#[derive(Debug)]
pub struct Case {
    /// Names it.
    pub id: String,
    /// As it was read.
    pub value: Value,
    /// The binding; with affinity groups in the pass with the group that its status names.
    pub request: Request,
    /// Whether `--enable-empty-workload-propagation` is set.
    pub empty_workload_propagation: bool,
}

impl Fleet {
    /// A table of its clusters.
    pub fn table(&self) -> ClusterTable {
        let mut table = ClusterTable::new();
        for cluster in &self.clusters {
            table.upsert(cluster);
        }
        table
    }

    fn from_value(fleet: &Value) -> Self {
        let clusters = elements(fleet.get("clusters")).cloned().collect();
        Self { name: text(fleet, "name"), clusters, cases: Vec::new() }
    }
}

impl Case {
    /// From one record.
    pub fn from_value(value: Value) -> Self {
        let null = Value::Null;
        let part = |key: &str| value.get(key).unwrap_or(&null);
        Self {
            id: text(&value, "id"),
            request: Request::from_parts(part("spec"), part("status")),
            empty_workload_propagation: part("enableEmptyWorkloadPropagation") == true,
            value,
        }
    }

    /// Runs it.
    pub fn run(&self, table: &ClusterTable, options: Options, profile: &mut Profile) -> Outcome {
        let input = Input {
            table,
            request: &self.request,
            affinity_name: &self.request.observed_affinity,
            peers: &Peers::default(),
            assumed: &Assumed::new(),
            options: Options { empty_workload_propagation: self.empty_workload_propagation, ..options },
        };
        schedule(&input, profile)
    }

    /// What is expected; messages are for people, and left out.
    pub fn expected(&self) -> Value {
        let mut expected = self.value.get("expect").cloned().unwrap_or_default();
        expected.as_object_mut().and_then(|fields| fields.remove("message"));
        expected
    }
}

/// The result in the form of `expect`.
pub fn verdict(outcome: &Outcome) -> Value {
    match &outcome.result {
        Ok(targets) if targets.is_empty() => json!({}),
        Ok(targets) => {
            let mut targets: Vec<_> = targets.iter().collect();
            targets.sort_by(|a, b| a.name.cmp(&b.name));
            json!({"clusters": targets.iter().map(|target| target.to_value()).collect::<Vec<_>>()})
        }
        Err(Failure::NoClusterFit(_)) => json!({"error": "NoClusterFit"}),
        Err(Failure::Unschedulable(_)) => json!({"error": "Unschedulable"}),
        Err(Failure::Error(_)) => json!({"error": "SchedulerError"}),
    }
}

/// Reads the texts of `fleets.json` and `cases.ndjson`.
///
/// # Errors
/// What is no JSON, and cases of unknown fleets.
pub fn read_set(fleets: &str, cases: &str) -> Result<Vec<Fleet>, String> {
    let fleets: Vec<Value> = serde_json::from_str(fleets).map_err(|why| format!("fleets: {why}"))?;
    let mut by_name: BTreeMap<String, Fleet> = BTreeMap::new();
    for fleet in fleets.iter().map(Fleet::from_value) {
        by_name.insert(fleet.name.clone(), fleet);
    }
    for (number, line) in (1..).zip(cases.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let case: Value =
            serde_json::from_str(line).map_err(|why| format!("case in line {number}: {why}"))?;
        let name = text(&case, "fleet");
        let fleet =
            by_name.get_mut(&name).ok_or_else(|| format!("line {number}: there is no fleet {name:?}"))?;
        fleet.cases.push(Case::from_value(case));
    }
    Ok(by_name.into_values().collect())
}

/// Reads the text of `bench-*.json`: one fleet with its cases.
///
/// # Errors
/// What is no JSON, or has no fleet.
pub fn read_bench(bench: &str) -> Result<Fleet, String> {
    let mut bench: Value = serde_json::from_str(bench).map_err(|why| why.to_string())?;
    let mut fleet = bench.get("fleet").map(Fleet::from_value).ok_or("it has no fleet")?;
    if let Some(Value::Array(cases)) = bench.get_mut("cases").map(Value::take) {
        fleet.cases = cases.into_iter().map(Case::from_value).collect();
    }
    Ok(fleet)
}

/// A rule in a list of deviations: cases that are decided differently on purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// In words.
    pub rule: String,
    /// Why.
    pub why: String,
    /// The case expects this error.
    expected: String,
    /// The placement spreads by one of these fields.
    spreads_by: BTreeSet<String>,
    /// And by none of these.
    not_by: BTreeSet<String>,
}

impl Rule {
    /// From an entry `{"rule", "why", "expectedError", "spreadByField", "notSpreadByField"}`.
    pub fn from_value(value: &Value) -> Self {
        let set = |key: &str| elements(value.get(key)).filter_map(Value::as_str).map(str::to_owned).collect();
        Self {
            rule: text(value, "rule"),
            why: text(value, "why"),
            expected: text(value, "expectedError"),
            spreads_by: set("spreadByField"),
            not_by: set("notSpreadByField"),
        }
    }

    /// Whether a case falls under it.
    pub fn covers(&self, case: &Value) -> bool {
        let expected = case.get("expect").map(|expect| text(expect, "error")).unwrap_or_default();
        let spread = case.pointer("/spec/placement/spreadConstraints");
        let fields: BTreeSet<String> = elements(spread).map(|one| text(one, "spreadByField")).collect();
        expected == self.expected && !fields.is_disjoint(&self.spreads_by) && fields.is_disjoint(&self.not_by)
    }
}

/// What a file of deviations lists for one family of vectors: rules, and single cases with their reasons.
#[derive(Debug, Clone, Default)]
pub struct Deviations {
    /// Rules.
    pub rules: Vec<Rule>,
    /// By id.
    pub cases: BTreeMap<String, String>,
}

impl Deviations {
    /// From the file's content; a family that it doesn't name has none.
    pub fn of(file: &Value, family: &str) -> Self {
        let null = Value::Null;
        let family = file.get(family).unwrap_or(&null);
        let cases = family.get("cases").and_then(Value::as_object);
        let reason = |(id, why): (&String, &Value)| (id.clone(), why.as_str().unwrap_or_default().to_owned());
        Self {
            rules: elements(family.get("rules")).map(Rule::from_value).collect(),
            cases: cases.unwrap_or(&Map::new()).iter().map(reason).collect(),
        }
    }

    /// Why a case may differ; nothing if it may not.
    pub fn reason(&self, id: &str, case: &Value) -> Option<&str> {
        let rule = self.rules.iter().find(|rule| rule.covers(case)).map(|rule| rule.rule.as_str());
        rule.or_else(|| self.cases.get(id).map(String::as_str))
    }
}
