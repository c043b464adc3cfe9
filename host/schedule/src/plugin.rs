//! The traits that plugins stand behind. In production the engine implements them for components; tests use small fakes.
//! Filters and raw scores are pointwise: the answer for one cluster depends on the binding and that cluster alone.

use std::collections::BTreeMap;

use crate::binding::{BindingFields, BindingView};
use crate::bitmap::Bitmap;
use crate::memory::{Answers, Memory};
use crate::records::{ClusterId, ObjectReference};
use crate::request::{Component, Requirements};
use crate::table::{ClusterFields, ClusterTable};

/// The most that a plugin may give as a score; the least is 0.
pub const MAX_SCORE: i64 = 100;

/// The most that a score plugin may weigh: enough to let one outvote any number of others, and far from overflow.
pub const MAX_WEIGHT: i64 = 1_000_000;

/// What may go wrong in a plugin. A stale table is no error here: the engine syncs and asks again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PluginError {
    /// The binding or the plugin's configuration can't be understood; the text is for the user.
    #[error("{0}")]
    Invalid(String),
    /// Anything else that the plugin reports; the text is for the operator.
    #[error("internal error: {0}")]
    Internal(String),
    /// The plugin crashed or reached a limit other than time.
    #[error("trapped: {0}")]
    Trapped(String),
    /// The plugin didn't answer within its deadline.
    #[error("no answer within the deadline")]
    Timeout,
}

/// What a plugin's failure means for the binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailurePolicy {
    /// The pass fails; the binding keeps its clusters and is tried again.
    #[default]
    Fail,
    /// The pass goes on as if the plugin weren't there.
    Ignore,
}

/// Which clusters a call asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Candidates<'a> {
    /// Every id below [`ClusterTable::capacity`]; answers are indexed by id.
    All,
    /// Just these; answers are indexed by position.
    These(&'a [ClusterId]),
}

impl Candidates<'_> {
    /// How long an answer is.
    pub fn len(&self, table: &ClusterTable) -> usize {
        match self {
            Self::All => table.capacity(),
            Self::These(ids) => ids.len(),
        }
    }

    /// The ids asked about, in the order of the answer. With `All` some may be unused.
    pub fn ids(&self, table: &ClusterTable) -> Vec<ClusterId> {
        match self {
            Self::All => (0..).take(table.capacity()).collect(),
            Self::These(ids) => ids.to_vec(),
        }
    }
}

/// Why clusters were refused; texts are given once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Explanation {
    /// The distinct reasons.
    pub reasons: Vec<String>,
    /// Cluster and index into `reasons`; clusters that pass are absent.
    pub refused: Vec<(ClusterId, u32)>,
}

impl Explanation {
    /// The reason for one cluster.
    pub fn reason(&self, cluster: ClusterId) -> Option<&str> {
        let (_, index) = self.refused.iter().find(|(id, _)| *id == cluster)?;
        self.reasons.get(*index as usize).map(String::as_str)
    }

    /// All reasons, by cluster.
    pub fn by_cluster(&self) -> BTreeMap<ClusterId, &str> {
        self.refused
            .iter()
            .filter_map(|(id, index)| Some((*id, self.reasons.get(*index as usize)?.as_str())))
            .collect()
    }
}

/// What a plugin's answers depend on, as it declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reads {
    /// Of clusters, beside their ids and names.
    pub clusters: ClusterFields,
    /// Of bindings.
    pub binding: BindingFields,
}

/// Takes clusters out of consideration.
pub trait Filter: Send {
    /// As operators write it: `TaintToleration`.
    fn name(&self) -> &str;

    /// What its answers depend on; they are remembered accordingly. `None`: never.
    fn reads(&self) -> Option<Reads> {
        None
    }

    /// One bit per candidate; set means that the cluster passes. Bits of unknown clusters are clear.
    ///
    /// # Errors
    /// The plugin failed; what that means is the failure policy's business.
    fn filter(
        &mut self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Bitmap, PluginError>;

    /// The reasons behind [`Filter::filter`], asked for only when they are shown.
    ///
    /// # Errors
    /// The plugin failed; the clusters are then shown as refused without a reason.
    fn explain(
        &mut self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Explanation, PluginError>;
}

/// Prefers clusters.
pub trait Score: Send {
    /// As operators write it: `ClusterLocality`.
    fn name(&self) -> &str;

    /// What its raw scores depend on; they are remembered accordingly. `None`: never.
    fn reads(&self) -> Option<Reads> {
        None
    }

    /// Whether it rescales scores.
    fn normalizes(&self) -> bool {
        false
    }

    /// One score per candidate, 0 to 100. Unknown clusters score 0.
    ///
    /// # Errors
    /// The plugin failed; what that means is the failure policy's business.
    fn score(
        &mut self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Vec<i64>, PluginError>;

    /// Rescales the scores of all clusters that passed, if it [`Self::normalizes`]; the same length and order come back.
    ///
    /// # Errors
    /// The plugin failed; what that means is the failure policy's business.
    fn normalize(&mut self, scores: Vec<i64>) -> Result<Vec<i64>, PluginError> {
        Ok(scores)
    }
}

/// Of what an estimator is asked how much fits into a cluster.
#[derive(Debug, Clone, Copy)]
pub enum Demand<'a> {
    /// Single replicas with these requirements.
    Replicas(Option<&'a Requirements>),
    /// Complete sets of components.
    Sets(&'a [Component]),
}

/// What was placed a moment ago and isn't in the clusters' reports yet, by cluster: each entry is one workload.
pub type Assumed = BTreeMap<ClusterId, Vec<Vec<Component>>>;

/// One question to an estimator.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The template, for logs.
    pub resource: &'a ObjectReference,
    /// What is to fit.
    pub demand: Demand<'a>,
    /// Which clusters.
    pub clusters: &'a [ClusterId],
    /// What they don't report yet.
    pub assumed: &'a Assumed,
}

/// Says how much more a cluster can take.
pub trait Estimate: Send {
    /// For logs and explanations.
    fn name(&self) -> &str;

    /// For each cluster of the query how many replicas (or sets) it can take beyond what runs there; `None` where that
    /// isn't known. One cluster's trouble must not spoil the others' answers.
    ///
    /// # Errors
    /// No cluster could be estimated.
    fn max_replicas(
        &mut self,
        table: &ClusterTable,
        query: &Query<'_>,
    ) -> Result<Vec<Option<i32>>, PluginError>;
}

/// A plugin in a profile: with what its failure means, how much it weighs, and what it answered so far.
pub struct Stage<T: ?Sized> {
    /// The plugin.
    pub plugin: Box<T>,
    /// What its failure means.
    pub on_failure: FailurePolicy,
    /// By what its scores are multiplied, at most [`MAX_WEIGHT`]; a filter has no use for it.
    pub weight: i64,
    pub(crate) answers: Answers,
}

impl<T: ?Sized> Stage<T> {
    /// A plugin of weight 1.
    pub fn new(plugin: Box<T>, on_failure: FailurePolicy) -> Self {
        Self { plugin, on_failure, weight: 1, answers: Answers::default() }
    }

    /// A plugin whose failure fails the pass.
    pub fn required(plugin: Box<T>) -> Self {
        Self::new(plugin, FailurePolicy::Fail)
    }

    /// A plugin whose failure is ignored.
    pub fn optional(plugin: Box<T>) -> Self {
        Self::new(plugin, FailurePolicy::Ignore)
    }
}

/// What a pass consists of, for those who measure it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The binding is made ready to be shown.
    Prepare,
    /// Filters.
    Filter,
    /// Reasons for refusals, where nothing passed or an explanation was asked for.
    Reasons,
    /// Scores.
    Score,
    /// Estimates, and the order of preference.
    Rank,
    /// Spread constraints.
    Select,
    /// Replicas.
    Assign,
}

/// Told whenever a phase of a pass is over.
pub type Meter = Box<dyn FnMut(Phase) + Send>;

/// The plugins of a scheduler, in the order in which they run. Of several that refuse a cluster the first gives the reason.
/// Plugins hold copies of the cluster table, and answers are remembered: a profile follows one table and its snapshots.
#[derive(Default)]
pub struct Profile {
    /// Filters.
    pub filters: Vec<Stage<dyn Filter>>,
    /// Scores.
    pub scores: Vec<Stage<dyn Score>>,
    /// Estimators beside the general one, which always runs.
    pub estimators: Vec<Box<dyn Estimate>>,
    /// What is remembered; [`Memory::off`] keeps nothing.
    pub memory: Memory,
    /// Told how a pass goes on; for benches.
    pub meter: Option<Meter>,
}

impl Profile {
    /// Bytes that answers take which are remembered.
    pub fn remembered(&self) -> usize {
        let filters = self.filters.iter().map(|stage| stage.answers.bytes());
        let scores = self.scores.iter().map(|stage| stage.answers.bytes());
        self.memory.bytes() + filters.chain(scores).sum::<usize>()
    }

    pub(crate) fn done(&mut self, phase: Phase) {
        if let Some(meter) = &mut self.meter {
            meter(phase);
        }
    }
}

/// The order in which the shipped filters run unless the operator says otherwise.
pub const DEFAULT_FILTERS: [&str; 5] =
    ["APIEnablement", "TaintToleration", "ClusterAffinity", "SpreadConstraint", "ClusterEviction"];

/// The shipped scores.
pub const DEFAULT_SCORES: [&str; 1] = ["ClusterLocality"];
