//! How good each feasible cluster is: the weighted sum of what the score plugins say.

use super::{Input, failed};
use crate::binding::BindingView;
use crate::bitmap::Bitmap;
use crate::memory::{Answers, Recall};
use crate::outcome::{Failure, ScorePlugin, Scored, Trace};
use crate::plugin::{MAX_SCORE, MAX_WEIGHT, PluginError, Profile, Score};
use crate::records::ClusterId;
use crate::table::ClusterTable;

/// Scores of the feasible clusters, in the order of their ids.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    /// The clusters.
    pub(crate) ids: Vec<ClusterId>,
    /// Their sums.
    pub(crate) sums: Vec<i64>,
    /// By plugin; for explanations only.
    pub(crate) by_plugin: Vec<Vec<Scored>>,
}

pub(super) fn score(
    input: &Input<'_>,
    view: &BindingView,
    profile: &mut Profile,
    feasible: &Bitmap,
    trace: &mut Trace,
) -> Result<Scores, Failure> {
    let ids: Vec<ClusterId> = feasible.ones().collect();
    let mut scores = Scores { sums: vec![0; ids.len()], ids, by_plugin: Vec::new() };
    for stage in &mut profile.scores {
        let plugin = stage.plugin.as_mut();
        let recall = profile.memory.recall_mut();
        let weight = stage.weight.clamp(0, MAX_WEIGHT);
        match ask(&mut stage.answers, plugin, input.table, view, feasible, &scores.ids, recall) {
            Ok((raw, normalized)) => {
                let counted = normalized.as_ref().unwrap_or(&raw);
                for (sum, score) in scores.sums.iter_mut().zip(counted) {
                    *sum += weight * score;
                }
                if input.options.explain {
                    trace.plugins.push(ScorePlugin { name: plugin.name().to_owned(), weight });
                    let pairs = raw.iter().zip(counted);
                    let pairs = pairs.map(|(raw, normalized)| Scored { raw: *raw, normalized: *normalized });
                    scores.by_plugin.push(pairs.collect());
                }
            }
            Err(error) => failed(stage.plugin.name(), &error, stage.on_failure, trace)?,
        }
    }
    Ok(scores)
}

/// Raw scores, and what the plugin makes of them if it rescales.
fn ask(
    answers: &mut Answers,
    plugin: &mut dyn Score,
    table: &ClusterTable,
    view: &BindingView,
    feasible: &Bitmap,
    ids: &[ClusterId],
    recall: (bool, &mut Recall),
) -> Result<(Vec<i64>, Option<Vec<i64>>), PluginError> {
    let by_id = answers.score(plugin, table, view, feasible, recall)?;
    let raw: Vec<i64> = ids.iter().map(|id| by_id.get(*id as usize).copied().map_or(0, i64::from)).collect();
    if !plugin.normalizes() {
        return Ok((raw, None));
    }
    let normalized = plugin.normalize(raw.clone())?;
    if normalized.len() != raw.len() {
        let (got, want) = (normalized.len(), raw.len());
        return Err(PluginError::Internal(format!("gave {got} normalized scores for {want} clusters")));
    }
    match normalized.iter().find(|score| !(0..=MAX_SCORE).contains(*score)) {
        Some(score) => Err(PluginError::Internal(format!(
            "gave the normalized score {score}; expected 0 to {MAX_SCORE}"
        ))),
        None => Ok((raw, Some(normalized))),
    }
}
