//! What came of a pass, and everything needed to explain it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::records::ClusterId;
use crate::request::Target;

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

/// A score plugin that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorePlugin {
    /// Its name.
    pub name: String,
    /// By what its scores are multiplied.
    pub weight: i64,
}

/// What a score plugin says of one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scored {
    /// At first.
    pub raw: i64,
    /// After it has seen the scores of all; the same if it doesn't rescale.
    pub normalized: i64,
}

/// One cluster that passed the filters, in order of preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    /// Which one.
    pub cluster: ClusterId,
    /// 0 for the primary affinity, then one more for each overflow affinity.
    pub overflow_order: u32,
    /// By score plugin, in the order of [`Trace::plugins`].
    pub scores: Vec<Scored>,
    /// The weighted sum of the normalized ones.
    pub score: i64,
    /// By estimator, in the order of [`Trace::estimates`]; nothing where it doesn't know.
    pub estimates: Vec<Option<i32>>,
    /// How much it can take beyond what runs there.
    pub allocatable: i32,
    /// The same and what runs there now.
    pub available: i64,
}

/// A group of clusters that spread constraints made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupTrace {
    /// `region`, `zone`, `label tier`; of several constraints all.
    pub field: String,
    /// What its clusters have in common; of several constraints all.
    pub name: String,
    /// Score of the group.
    pub score: i64,
    /// How many clusters it has.
    pub clusters: usize,
    /// Its place in the chosen combination, best first; nothing if it wasn't chosen.
    pub chosen: Option<usize>,
}

/// How replicas were divided: one for all selected clusters, or one for each tier of overflow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Division {
    /// `Duplicated`, `StaticWeight`, `DynamicWeight` or `Aggregated`.
    pub strategy: &'static str,
    /// What kind of change it is: `fresh`, `scale up`, `scale down` or `unchanged`; empty where that makes no difference.
    pub mode: &'static str,
    /// The overflow order of its clusters; nothing if there are no tiers.
    pub tier: Option<u32>,
    /// Replicas that were to be placed anew.
    pub replicas: i64,
    /// The shares, in the order of clusters' names.
    pub shares: Vec<ShareTrace>,
}

/// One cluster's share in a division.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareTrace {
    /// Which cluster.
    pub cluster: ClusterId,
    /// By what seats were given: a static weight, or room.
    pub weight: i64,
    /// Replicas that it had and keeps.
    pub kept: i64,
    /// Replicas that it got.
    pub seats: i64,
}

impl ShareTrace {
    /// The quotient by which its last seat was won; nothing without one.
    pub fn won_at(&self) -> Option<f64> {
        (self.seats > 0).then(|| self.weight as f64 / (2 * self.seats - 1) as f64)
    }

    /// The quotient with which it would go for the next seat.
    pub fn next_at(&self) -> f64 {
        self.weight as f64 / (2 * self.seats + 1) as f64
    }
}

/// How a pass came to its result. All but `total` and `ignored` are gathered only for an explanation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// Clusters in the table.
    pub total: usize,
    /// Refused clusters with reasons.
    pub refused: BTreeMap<ClusterId, Refusal>,
    /// The score plugins that ran.
    pub plugins: Vec<ScorePlugin>,
    /// What each estimator says, in the order of the feasible clusters' ids.
    pub estimates: Vec<(String, Vec<Option<i32>>)>,
    /// Clusters that passed, best first.
    pub ranked: Vec<Ranked>,
    /// Groups, if clusters were chosen by group.
    pub groups: Vec<GroupTrace>,
    /// Clusters chosen by the spread constraints, in order.
    pub selected: Vec<ClusterId>,
    /// How replicas were divided.
    pub divisions: Vec<Division>,
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
