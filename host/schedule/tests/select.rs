//! The published tables of selection, and what is beyond them: tests/cases/select.json. A cluster is given as
//! `name: [score, pods, place]`, the place with region, zones and labels; `expect` is the selection in its order, or an error.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_schedule::{
    BindingView, Candidates, ClusterTable, Input, Options, Peers, PluginError, Request, Score, Stage,
    schedule,
};

/// Scores a cluster by its label `score`.
struct Labelled;

impl Score for Labelled {
    fn name(&self) -> &str {
        "Labelled"
    }

    fn score(
        &mut self,
        table: &ClusterTable,
        _: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Vec<i64>, PluginError> {
        let score = |id: &u32| table.get(*id)?.facts.label("score")?.parse().ok();
        Ok(candidates.ids(table).iter().map(|id| score(id).unwrap_or(0)).collect())
    }
}

fn table(clusters: &Value) -> ClusterTable {
    let mut table = ClusterTable::new();
    for (name, given) in clusters.as_object().unwrap() {
        let place = &given[2];
        let mut labels = place["labels"].clone();
        labels["score"] = given[0].to_string().into();
        table.upsert(&json!({"metadata": {"name": name, "labels": labels},
            "spec": {"region": place["region"], "zones": place["zones"], "provider": place["provider"]},
            "status": {"apiEnablements": [{"groupVersion": "v1", "resources": [{"kind": "Web"}]}],
                "resourceSummary": {"allocatable": {"pods": given[1]}}}}));
    }
    table
}

#[test]
fn published_selections_and_more() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases/select.json")).unwrap();
    for case in &cases {
        let name = &case["name"];
        let table = table(&case["clusters"]);
        let mut spec = case["spec"].clone();
        spec["resource"] = json!({"apiVersion": "v1", "kind": "Web"});
        let mut profile = fakes::profile();
        profile.scores.push(Stage::<dyn Score>::required(Box::new(Labelled)));
        let input = Input {
            table: &table,
            request: &Request::from_parts(&spec, &Value::Null),
            affinity_name: "",
            peers: &Peers::default(),
            assumed: &BTreeMap::new(),
            options: Options { explain: true, components: case["components"] == true, ..Options::default() },
        };
        let outcome = schedule(&input, &mut profile);
        let got = match &outcome.result {
            Ok(targets) if case["targets"] == true => {
                targets.iter().map(|target| target.to_value()).collect()
            }
            Ok(_) => outcome.trace.selected.iter().map(|id| Value::from(table.name(*id))).collect(),
            Err(failure) => {
                let text = failure.to_string();
                Value::from(text.rsplit(": ").next().unwrap())
            }
        };
        assert_eq!(got, case["expect"], "{name}");
    }
}
