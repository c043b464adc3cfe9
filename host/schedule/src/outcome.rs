//! What came of a pass, and everything needed to explain it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::records::ClusterId;
use crate::request::Target;
use crate::table::ClusterTable;

/// Why a pass placed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The filters left no cluster.
    #[error("{0}")]
    NoClusterFit(String),
    /// There are clusters, but not enough room in them.
    #[error("{0}")]
    Unschedulable(String),
    /// Selection or assignment refused, or a plugin failed.
    #[error("{0}")]
    Error(String),
}

impl Failure {
    /// The same class of failure with words before its text.
    pub fn context(self, words: &str) -> Self {
        match self {
            Self::NoClusterFit(text) => Self::NoClusterFit(format!("{words}: {text}")),
            Self::Unschedulable(text) => Self::Unschedulable(format!("{words}: {text}")),
            Self::Error(text) => Self::Error(format!("{words}: {text}")),
        }
    }
}

/// Why one cluster was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The first filter that refused it.
    pub plugin: Arc<str>,
    /// In that filter's words.
    pub reason: Arc<str>,
}

/// One cluster that passed the filters, in order of preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    /// Which one.
    pub cluster: ClusterId,
    /// 0 for the primary affinity, then one more for each overflow affinity.
    pub overflow_order: u32,
    /// By score plugin, in the order of [`Trace::plugins`].
    pub scores: Vec<i64>,
    /// Their sum.
    pub score: i64,
    /// How much it can take beyond what runs there.
    pub allocatable: i32,
    /// The same and what runs there now.
    pub available: i64,
}

/// A group of clusters that a spread constraint made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupTrace {
    /// `region`.
    pub field: String,
    /// The region's name.
    pub name: String,
    /// Score of the group.
    pub score: i64,
    /// How many clusters it has.
    pub clusters: usize,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// How a pass came to its result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// Clusters in the table.
    pub total: usize,
    /// Refused clusters with reasons; filled if nothing fit or an explanation was asked for.
    pub refused: BTreeMap<ClusterId, Refusal>,
    /// Names of the score plugins that ran.
    pub plugins: Vec<String>,
    /// Clusters that passed, best first.
    pub ranked: Vec<Ranked>,
    /// Groups, if clusters were chosen by group.
    pub groups: Vec<GroupTrace>,
    /// Clusters chosen by the spread constraints, in order.
    pub selected: Vec<ClusterId>,
    /// Plugins that failed and were ignored, with their errors.
    pub ignored: Vec<String>,
}

/// What came of a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Clusters with replicas, or why there are none.
    pub result: Result<Vec<Target>, Failure>,
    /// How it came about.
    pub trace: Trace,
}

impl Outcome {
    /// For people and programs: the whole pass with names in place of ids.
    pub fn explain(&self, table: &ClusterTable) -> Value {
        let trace = &self.trace;
        let refused: Vec<Value> = trace
            .refused
            .iter()
            .map(|(id, refusal)| {
                json!({"cluster": table.name(*id), "plugin": &*refusal.plugin, "reason": &*refusal.reason})
            })
            .collect();
        let ranked: Vec<Value> = trace
            .ranked
            .iter()
            .map(|ranked| {
                let scores: serde_json::Map<String, Value> = trace
                    .plugins
                    .iter()
                    .cloned()
                    .zip(ranked.scores.iter().map(|score| Value::from(*score)))
                    .collect();
                json!({"cluster": table.name(ranked.cluster), "score": ranked.score, "scores": scores,
                    "overflowOrder": ranked.overflow_order, "allocatable": ranked.allocatable,
                    "available": ranked.available})
            })
            .collect();
        let groups: Vec<Value> = trace
            .groups
            .iter()
            .map(|group| {
                json!({"field": group.field, "name": group.name, "score": group.score,
                    "clusters": group.clusters, "chosen": group.chosen})
            })
            .collect();
        let selected: Vec<&str> = trace.selected.iter().map(|id| table.name(*id)).collect();
        let mut explanation = json!({"clusters": trace.total, "refused": refused, "ranked": ranked,
            "groups": groups, "selected": selected, "ignoredPlugins": trace.ignored});
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
