//! Asking a filter or a score, about no more clusters than must be asked about.

use super::{Answers, Column, Marks, Question, Recall};
use crate::binding::{BindingFields, BindingView};
use crate::bitmap::Bitmap;
use crate::plugin::{Candidates, Filter, MAX_SCORE, PluginError, Reads, Score};
use crate::records::ClusterId;
use crate::table::ClusterTable;

/// A part of the clusters that are asked about, and what the answer about them depends on.
pub(super) struct Part {
    pub(super) fields: BindingFields,
    pub(super) clusters: Bitmap,
}

/// Who looks, of targets and evictions, only at the judged cluster's own, answers about all other clusters as if there were
/// none: that question is the same for many bindings. The few that the binding names are asked about apart.
pub(super) fn parts(reads: BindingFields, view: &BindingView, asked: &Bitmap) -> (Part, Option<Part>) {
    let own = BindingFields::OWN_TARGET | BindingFields::OWN_EVICTION;
    let shared = reads.without(own);
    let mut named = Bitmap::new(asked.len());
    let mut whole = shared;
    if reads.meets(BindingFields::OWN_TARGET) {
        whole |= BindingFields::TARGETS;
        view.targets.iter().for_each(|target| named.set(target.cluster as usize, true));
    }
    if reads.meets(BindingFields::OWN_EVICTION) {
        whole |= BindingFields::EVICTIONS;
        view.evictions.iter().for_each(|id| named.set(*id as usize, true));
    }
    let named = named.and(asked);
    if named.is_clear() {
        return (Part { fields: shared, clusters: asked.clone() }, None);
    }
    let others = Part { fields: shared, clusters: asked.and_not(&named) };
    (others, Some(Part { fields: whole, clusters: named }))
}

impl Answers {
    /// Which of the clusters pass a filter.
    pub(crate) fn filter(
        &mut self,
        plugin: &mut dyn Filter,
        table: &ClusterTable,
        view: &BindingView,
        asked: &Bitmap,
        (on, recall): (bool, &mut Recall),
    ) -> Result<Bitmap, PluginError> {
        let Some(reads) = plugin.reads().filter(|_| on) else {
            recall.asked += asked.count() as u64;
            return ask_filter(plugin, table, view, asked);
        };
        let (first, second) = parts(reads.binding, view, asked);
        let mut passing = Bitmap::new(asked.len());
        for part in [Some(first), second].into_iter().flatten() {
            let digest = view.digest(part.fields);
            let found = self.passes.take(digest, |question| question.is(view, part.fields));
            let (question, mut marks) =
                found.unwrap_or_else(|| (question(view, part.fields), Marks::default()));
            marks.refresh(table, reads.clusters);
            let unknown = marks.unknown(&part.clusters);
            if !unknown.is_clear() {
                let answer = ask_filter(plugin, table, &question.view, &unknown)?;
                marks.learn(&unknown, &answer);
            }
            count(recall, &part.clusters, &unknown);
            passing.add(&marks.of(&part.clusters));
            self.passes.put(digest, (question, marks));
        }
        Ok(passing)
    }

    /// Raw scores of the clusters, by id; what others have means nothing.
    pub(crate) fn score(
        &mut self,
        plugin: &mut dyn Score,
        table: &ClusterTable,
        view: &BindingView,
        asked: &Bitmap,
        (on, recall): (bool, &mut Recall),
    ) -> Result<Vec<u8>, PluginError> {
        let Some(reads) = plugin.reads().filter(|_| on) else {
            recall.asked += asked.count() as u64;
            let mut column = Column::default();
            column.refresh(table, crate::table::ClusterFields::NONE);
            ask_score(plugin, table, view, asked, &mut column)?;
            return Ok(column.values().to_vec());
        };
        let (first, second) = parts(reads.binding, view, asked);
        let mut all = Vec::new();
        for part in [Some(first), second].into_iter().flatten() {
            let (digest, entry) = self.score_part(plugin, table, view, &part, reads, recall)?;
            let values = entry.1.values();
            if all.is_empty() {
                all = values.to_vec();
            } else {
                for id in part.clusters.ones() {
                    if let (Some(place), Some(value)) = (all.get_mut(id as usize), values.get(id as usize)) {
                        *place = *value;
                    }
                }
            }
            self.scores.put(digest, entry);
        }
        Ok(all)
    }

    fn score_part(
        &mut self,
        plugin: &mut dyn Score,
        table: &ClusterTable,
        view: &BindingView,
        part: &Part,
        reads: Reads,
        recall: &mut Recall,
    ) -> Result<(u64, (Question, Column<u8>)), PluginError> {
        let digest = view.digest(part.fields);
        let found = self.scores.take(digest, |question| question.is(view, part.fields));
        let (question, mut column) =
            found.unwrap_or_else(|| (question(view, part.fields), Column::default()));
        column.refresh(table, reads.clusters);
        let unknown = column.unknown(&part.clusters);
        if !unknown.is_clear() {
            ask_score(plugin, table, &question.view, &unknown, &mut column)?;
        }
        count(recall, &part.clusters, &unknown);
        Ok((digest, (question, column)))
    }
}

pub(super) fn question(view: &BindingView, fields: BindingFields) -> Question {
    Question { fields, view: view.restricted(fields) }
}

fn count(recall: &mut Recall, asked: &Bitmap, unknown: &Bitmap) {
    let unknown = unknown.count() as u64;
    recall.asked += unknown;
    recall.known += (asked.count() as u64).saturating_sub(unknown);
}

/// The candidates of a question about these clusters. About all of them it is shorter, and the answer is, too.
enum Asked {
    All,
    These(Vec<ClusterId>),
}

impl Asked {
    fn about(table: &ClusterTable, clusters: &Bitmap) -> Self {
        if table.usable().and_not(clusters).is_clear() {
            Self::All
        } else {
            Self::These(clusters.ones().collect())
        }
    }

    fn candidates(&self) -> Candidates<'_> {
        match self {
            Self::All => Candidates::All,
            Self::These(ids) => Candidates::These(ids),
        }
    }
}

/// The answer of a filter, by id.
fn ask_filter(
    plugin: &mut dyn Filter,
    table: &ClusterTable,
    view: &BindingView,
    clusters: &Bitmap,
) -> Result<Bitmap, PluginError> {
    let asked = Asked::about(table, clusters);
    let answer = plugin.filter(table, view, asked.candidates())?;
    Ok(match asked {
        Asked::All => clusters.and(&answer),
        Asked::These(ids) => {
            let mut passing = Bitmap::new(clusters.len());
            for position in answer.ones() {
                if let Some(id) = ids.get(position as usize) {
                    passing.set(*id as usize, true);
                }
            }
            passing
        }
    })
}

/// Puts the scores into the column.
fn ask_score(
    plugin: &mut dyn Score,
    table: &ClusterTable,
    view: &BindingView,
    clusters: &Bitmap,
    column: &mut Column<u8>,
) -> Result<(), PluginError> {
    let asked = Asked::about(table, clusters);
    let scores = plugin.score(table, view, asked.candidates())?;
    let mut put = |id: ClusterId, score: Option<&i64>| {
        let score = score.copied().unwrap_or(0);
        match u8::try_from(score).ok().filter(|score| i64::from(*score) <= MAX_SCORE) {
            Some(score) => {
                column.learn(id, score);
                Ok(())
            }
            None => Err(PluginError::Internal(format!("gave the score {score}; expected 0 to {MAX_SCORE}"))),
        }
    };
    match asked {
        Asked::All => clusters.ones().try_for_each(|id| put(id, scores.get(id as usize))),
        Asked::These(ids) if ids.len() == scores.len() => {
            ids.iter().zip(&scores).try_for_each(|(id, score)| put(*id, Some(score)))
        }
        Asked::These(ids) => {
            let (got, want) = (scores.len(), ids.len());
            Err(PluginError::Internal(format!("gave {got} scores for {want} clusters")))
        }
    }
}
