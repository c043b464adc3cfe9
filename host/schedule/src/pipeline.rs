//! One pass for one binding: filter, score, select, assign.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::assign::assign;
use crate::availability::{Candidate, rank};
use crate::binding::{BindingView, Peers};
use crate::outcome::{Failure, Outcome, Refusal, Trace};
use crate::plugin::{Assumed, Candidates, FailurePolicy, Filter, PluginError, Profile, Score, Stage};
use crate::records::ClusterId;
use crate::request::{Request, Target};
use crate::select::select;
use crate::table::ClusterTable;

/// What a scheduler's flags and gates say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Keeps selected clusters that got no replicas.
    pub empty_workload_propagation: bool,
    /// Gate `MultiplePodTemplatesScheduling`.
    pub components: bool,
    /// Gate `CustomizedClusterResourceModeling`.
    pub models: bool,
    /// Gathers the reasons for refused clusters even if others passed.
    pub explain: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { empty_workload_propagation: false, components: false, models: true, explain: false }
    }
}

/// What a pass works on.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The clusters.
    pub table: &'a ClusterTable,
    /// The binding.
    pub request: &'a Request,
    /// The affinity term in force in this pass; empty without terms.
    pub affinity_name: &'a str,
    /// Where the binding's affinity groups are.
    pub peers: &'a Peers,
    /// Placed a moment ago and not reported yet.
    pub assumed: &'a Assumed,
    /// Flags and gates.
    pub options: Options,
}

impl Input<'_> {
    /// Whether clusters are judged by how many complete sets of components they can take.
    pub(crate) fn by_sets(&self) -> bool {
        self.options.components && self.request.is_set_applicable()
    }
}

impl Request {
    /// Whether it has components and may use just one cluster.
    pub(crate) fn is_set_applicable(&self) -> bool {
        !self.components.is_empty()
            && self.placement.as_ref().is_some_and(|placement| {
                placement.spread.iter().any(|spread| {
                    spread.by_field == "cluster" && spread.min_groups == 1 && spread.max_groups == 1
                })
            })
    }
}

/// Runs one pass.
pub fn schedule(input: &Input<'_>, profile: &mut Profile) -> Outcome {
    let mut trace = Trace { total: input.table.len(), ..Trace::default() };
    let result = run(input, profile, &mut trace);
    Outcome { result, trace }
}

fn run(input: &Input<'_>, profile: &mut Profile, trace: &mut Trace) -> Result<Vec<Target>, Failure> {
    let view = BindingView::new(input.request, input.affinity_name, input.peers.clone(), input.table);
    let feasible = filter(input, &view, &mut profile.filters, trace)?;
    let scores = score(input, &view, &mut profile.scores, &feasible, trace)
        .map_err(|failure| failure.context("failed to prioritize clusters"))?;
    let ranked = rank(input, &feasible, scores, &mut profile.estimators, trace);
    let targets = place(input, &ranked, trace);
    trace.ranked = ranked.into_iter().map(Candidate::trace).collect();
    targets
}

fn place(input: &Input<'_>, ranked: &[Candidate], trace: &mut Trace) -> Result<Vec<Target>, Failure> {
    let selected =
        select(input, ranked, trace).map_err(|failure| failure.context("failed to select clusters"))?;
    trace.selected = selected.iter().map(|candidate| candidate.id).collect();
    let mut targets =
        assign(input, &selected).map_err(|failure| failure.context("failed to assign replicas"))?;
    if input.options.empty_workload_propagation {
        let placed: HashSet<String> = targets.iter().map(|target| target.name.clone()).collect();
        let empty = selected.iter().map(|candidate| candidate.cluster.name());
        targets.extend(
            empty
                .filter(|name| !placed.contains(*name))
                .map(|name| Target { name: name.to_owned(), ..Target::default() }),
        );
    }
    Ok(targets)
}

/// Which clusters each filter refused, to ask for the reasons later.
type Refused = Vec<(usize, Vec<ClusterId>)>;

fn filter(
    input: &Input<'_>,
    view: &BindingView,
    filters: &mut [Stage<dyn Filter>],
    trace: &mut Trace,
) -> Result<Vec<ClusterId>, Failure> {
    let table = input.table;
    let mut feasible: Vec<ClusterId> =
        table.iter().filter(|(_, cluster)| !cluster.deleting).map(|(id, _)| id).collect();
    let mut refused = Refused::new();
    for (index, stage) in filters.iter_mut().enumerate() {
        if feasible.is_empty() {
            break;
        }
        let passed = match stage.plugin.filter(table, view, Candidates::These(&feasible)) {
            Ok(passed) => passed,
            Err(error) => {
                failed(stage.plugin.name(), &error, stage.on_failure, trace)?;
                continue;
            }
        };
        if passed.count() < feasible.len() {
            let mut out = Vec::new();
            let mut position = 0;
            feasible.retain(|id| {
                let passes = passed.get(position);
                position += 1;
                if !passes {
                    out.push(*id);
                }
                passes
            });
            refused.push((index, out));
        }
    }
    if feasible.is_empty() || input.options.explain {
        trace.refused = reasons(table, view, filters, refused);
    }
    if feasible.is_empty() {
        return Err(Failure::NoClusterFit(fit_text(table.len(), &trace.refused)));
    }
    Ok(feasible)
}

/// An ignored failure is noted, any other ends the pass. The binding then keeps its clusters: a plugin's fault is no reason
/// to take a workload away.
fn failed(name: &str, error: &PluginError, policy: FailurePolicy, trace: &mut Trace) -> Result<(), Failure> {
    match policy {
        FailurePolicy::Fail => Err(Failure::Error(format!("plugin \"{name}\" failed with: {error}"))),
        FailurePolicy::Ignore => {
            trace.ignored.push(format!("{name}: {error}"));
            Ok(())
        }
    }
}

fn reasons(
    table: &ClusterTable,
    view: &BindingView,
    filters: &mut [Stage<dyn Filter>],
    refused: Refused,
) -> BTreeMap<ClusterId, Refusal> {
    let mut all = BTreeMap::new();
    for (index, ids) in refused {
        let Some(stage) = filters.get_mut(index) else { continue };
        let plugin: Arc<str> = stage.plugin.name().into();
        let explanation = stage.plugin.explain(table, view, Candidates::These(&ids)).unwrap_or_default();
        let unnamed: Arc<str> = format!("cluster(s) were refused by plugin \"{plugin}\"").into();
        let texts: Vec<Arc<str>> = explanation.reasons.iter().map(|text| text.as_str().into()).collect();
        let named: BTreeMap<ClusterId, u32> = explanation.refused.into_iter().collect();
        for id in ids {
            let text = named.get(&id).and_then(|index| texts.get(*index as usize));
            let reason = Arc::clone(text.unwrap_or(&unnamed));
            all.insert(id, Refusal { plugin: Arc::clone(&plugin), reason });
        }
    }
    all
}

fn fit_text(total: usize, refused: &BTreeMap<ClusterId, Refusal>) -> String {
    if refused.is_empty() {
        return format!("0/{total} clusters are available: no cluster exists.");
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for refusal in refused.values() {
        *counts.entry(&refusal.reason).or_default() += 1;
    }
    let mut texts: Vec<String> =
        counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    texts.sort();
    format!("0/{total} clusters are available: {}.", texts.join(", "))
}

/// The scores of all feasible clusters, by plugin.
fn score(
    input: &Input<'_>,
    view: &BindingView,
    stages: &mut [Stage<dyn Score>],
    feasible: &[ClusterId],
    trace: &mut Trace,
) -> Result<Vec<Vec<i64>>, Failure> {
    let mut all = Vec::with_capacity(stages.len());
    for stage in stages {
        match score_one(input.table, view, stage.plugin.as_mut(), feasible) {
            Ok(scores) => {
                trace.plugins.push(stage.plugin.name().to_owned());
                all.push(scores);
            }
            Err(error) => failed(stage.plugin.name(), &error, stage.on_failure, trace)?,
        }
    }
    Ok(all)
}

fn score_one(
    table: &ClusterTable,
    view: &BindingView,
    plugin: &mut dyn Score,
    feasible: &[ClusterId],
) -> Result<Vec<i64>, PluginError> {
    let scores = plugin.score(table, view, Candidates::These(feasible))?;
    let scores = plugin.normalize(scores)?;
    if scores.len() != feasible.len() {
        let (got, want) = (scores.len(), feasible.len());
        return Err(PluginError::Internal(format!("gave {got} scores for {want} clusters")));
    }
    match scores.iter().find(|score| !(0..=100).contains(*score)) {
        Some(score) => Err(PluginError::Internal(format!("gave the score {score}; expected 0 to 100"))),
        None => Ok(scores),
    }
}
