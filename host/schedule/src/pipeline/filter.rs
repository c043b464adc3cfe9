//! Which clusters may take the binding; and for those that may not, who says so and why.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Input, failed};
use crate::binding::BindingView;
use crate::bitmap::Bitmap;
use crate::outcome::{Failure, Refusal, Trace};
use crate::plugin::{Phase, Profile};

/// Which clusters each filter refused, to ask for the reasons later.
type Refused = Vec<(usize, Bitmap)>;

pub(super) fn filter(
    input: &Input<'_>,
    view: &BindingView,
    profile: &mut Profile,
    trace: &mut Trace,
) -> Result<Bitmap, Failure> {
    let table = input.table;
    let mut feasible = table.usable().clone();
    let mut refused = Refused::new();
    for (index, stage) in profile.filters.iter_mut().enumerate() {
        if feasible.is_clear() {
            break;
        }
        let answer =
            stage.answers.filter(stage.plugin.as_mut(), table, view, &feasible, profile.memory.recall_mut());
        match answer {
            Ok(passing) => {
                let out = feasible.and_not(&passing);
                if !out.is_clear() {
                    refused.push((index, out));
                    feasible = passing;
                }
            }
            Err(error) => failed(stage.plugin.name(), &error, stage.on_failure, trace)?,
        }
    }
    profile.done(Phase::Filter);
    let nothing = feasible.is_clear();
    if nothing || input.options.explain {
        let counts = reasons(input, view, profile, &refused, trace);
        profile.done(Phase::Reasons);
        if nothing {
            return Err(Failure::NoClusterFit(fit_text(table.len(), &counts)));
        }
    }
    Ok(feasible)
}

/// How many clusters were refused in which words.
fn reasons(
    input: &Input<'_>,
    view: &BindingView,
    profile: &mut Profile,
    refused: &Refused,
    trace: &mut Trace,
) -> BTreeMap<Arc<str>, usize> {
    let mut counts = BTreeMap::new();
    let add = |counts: &mut BTreeMap<Arc<str>, usize>, run: Option<(Arc<str>, usize)>| {
        if let Some((reason, count)) = run {
            *counts.entry(reason).or_insert(0) += count;
        }
    };
    for (index, clusters) in refused {
        let Some(stage) = profile.filters.get_mut(*index) else { continue };
        let on = profile.memory.is_on();
        let told = stage.answers.explain(stage.plugin.as_mut(), input.table, view, clusters, on);
        let plugin: Arc<str> = stage.plugin.name().into();
        let unnamed: Arc<str> = format!("cluster(s) were refused by plugin \"{plugin}\"").into();
        // Neighbours are mostly refused for the same.
        let mut run: Option<(Arc<str>, usize)> = None;
        for (id, reason) in told {
            let reason = reason.unwrap_or_else(|| Arc::clone(&unnamed));
            if input.options.explain {
                trace
                    .refused
                    .insert(id, Refusal { plugin: Arc::clone(&plugin), reason: Arc::clone(&reason) });
            }
            match run.as_mut().filter(|(last, _)| Arc::ptr_eq(last, &reason)) {
                Some((_, count)) => *count += 1,
                None => {
                    let over = run.replace((reason, 1));
                    add(&mut counts, over);
                }
            }
        }
        add(&mut counts, run);
    }
    counts
}

fn fit_text(total: usize, counts: &BTreeMap<Arc<str>, usize>) -> String {
    if counts.is_empty() {
        return format!("0/{total} clusters are available: no cluster exists.");
    }
    let mut texts: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    texts.sort();
    format!("0/{total} clusters are available: {}.", texts.join(", "))
}
