//! A pass in words: as JSON with names in place of ids, and from that as a table for people.

mod table;

use serde_json::{Map, Value, json};

use crate::outcome::{Division, GroupTrace, Outcome, Ranked, Trace};
use crate::request::Target;
use crate::table::ClusterTable;

pub use table::render;

impl Outcome {
    /// For people and programs: the whole pass with names in place of ids. Of a pass that ran without `explain` that is
    /// little more than its result.
    pub fn explain(&self, table: &ClusterTable) -> Value {
        let trace = &self.trace;
        let refused: Vec<Value> = trace
            .refused
            .iter()
            .map(|(id, refusal)| {
                json!({"cluster": table.name(*id), "plugin": &*refusal.plugin, "reason": &*refusal.reason})
            })
            .collect();
        let plugins: Vec<Value> = trace
            .plugins
            .iter()
            .map(|plugin| json!({"name": plugin.name, "weight": plugin.weight}))
            .collect();
        let ranked: Vec<Value> = trace.ranked.iter().map(|ranked| cluster(ranked, trace, table)).collect();
        let groups: Vec<Value> = trace.groups.iter().map(group).collect();
        let divisions: Vec<Value> =
            trace.divisions.iter().map(|division| division_of(division, table)).collect();
        let selected: Vec<&str> = trace.selected.iter().map(|id| table.name(*id)).collect();
        let mut explanation = json!({"clusters": trace.total, "refused": refused, "plugins": plugins,
            "ranked": ranked, "groups": groups, "selected": selected, "divisions": divisions,
            "ignoredPlugins": trace.ignored});
        if let Some(fields) = explanation.as_object_mut() {
            match &self.result {
                Ok(targets) => {
                    fields.insert("result".to_owned(), targets.iter().map(Target::to_value).collect());
                }
                Err(failure) => {
                    fields.insert("error".to_owned(), failure.to_string().into());
                }
            }
        }
        explanation
    }
}

fn cluster(ranked: &Ranked, trace: &Trace, table: &ClusterTable) -> Value {
    let scores = trace.plugins.iter().zip(&ranked.scores).map(|(plugin, score)| {
        (plugin.name.clone(), json!({"raw": score.raw, "normalized": score.normalized}))
    });
    let estimates = trace.estimates.iter().zip(&ranked.estimates);
    let estimates = estimates.map(|((name, _), estimate)| (name.clone(), json!(estimate)));
    json!({"cluster": table.name(ranked.cluster), "overflowOrder": ranked.overflow_order, "score": ranked.score,
        "scores": scores.collect::<Map<_, _>>(), "estimates": estimates.collect::<Map<_, _>>(),
        "allocatable": ranked.allocatable, "available": ranked.available})
}

fn group(group: &GroupTrace) -> Value {
    json!({"field": group.field, "name": group.name, "score": group.score, "clusters": group.clusters,
        "chosen": group.chosen.map(|place| place + 1)})
}

fn division_of(division: &Division, table: &ClusterTable) -> Value {
    let divided = division.strategy != "Duplicated";
    let share = |share: &crate::outcome::ShareTrace| {
        let mut entry =
            json!({"cluster": table.name(share.cluster), "kept": share.kept, "given": share.seats});
        if let Some(fields) = entry.as_object_mut()
            && divided
        {
            fields.insert("weight".to_owned(), share.weight.into());
            fields.insert("wonAt".to_owned(), share.won_at().into());
            fields.insert("nextAt".to_owned(), share.next_at().into());
        }
        entry
    };
    json!({"strategy": division.strategy, "mode": division.mode, "tier": division.tier,
        "replicas": division.replicas, "shares": division.shares.iter().map(share).collect::<Vec<_>>()})
}
