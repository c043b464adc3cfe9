//! One pass for one binding: filter, score, select, assign.

mod filter;
mod score;

use std::collections::HashSet;

use crate::assign::assign;
use crate::availability::{Candidate, rank};
use crate::binding::{BindingView, Peers};
use crate::outcome::{Failure, Outcome, Trace};
use crate::plugin::{Assumed, FailurePolicy, Phase, PluginError, Profile};
use crate::request::{Request, Target};
use crate::select::select;
use crate::table::ClusterTable;

pub(crate) use score::Scores;

/// What a scheduler's flags and gates say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Keeps selected clusters that got no replicas.
    pub empty_workload_propagation: bool,
    /// Gate `MultiplePodTemplatesScheduling`.
    pub components: bool,
    /// Gate `CustomizedClusterResourceModeling`.
    pub models: bool,
    /// Fills the [`Trace`]: reasons, scores, groups, divisions. Without it a trace says only which plugins failed.
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
    let view = BindingView::new(input.request, input.affinity_name, input.peers, input.table);
    profile.done(Phase::Prepare);
    let feasible = filter::filter(input, &view, profile, trace)?;
    let scores = score::score(input, &view, profile, &feasible, trace)
        .map_err(|failure| failure.context("failed to prioritize clusters"))?;
    profile.done(Phase::Score);
    let ranked = rank(input, profile, &feasible, &scores, trace);
    profile.done(Phase::Rank);
    place(input, profile, &ranked, trace)
}

fn place(
    input: &Input<'_>,
    profile: &mut Profile,
    ranked: &[Candidate],
    trace: &mut Trace,
) -> Result<Vec<Target>, Failure> {
    let selected = select(input, &mut profile.memory, ranked, trace)
        .map_err(|failure| failure.context("failed to select clusters"))?;
    if input.options.explain {
        trace.selected = selected.iter().map(|candidate| candidate.id).collect();
    }
    profile.done(Phase::Select);
    let mut targets = assign(input, &mut profile.memory, &selected, trace)
        .map_err(|failure| failure.context("failed to assign replicas"))?;
    if input.options.empty_workload_propagation {
        let placed: HashSet<String> = targets.iter().map(|target| target.name.clone()).collect();
        let empty = selected.iter().map(|candidate| input.table.name(candidate.id));
        targets.extend(
            empty
                .filter(|name| !placed.contains(*name))
                .map(|name| Target { name: name.to_owned(), ..Target::default() }),
        );
    }
    profile.done(Phase::Assign);
    Ok(targets)
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
