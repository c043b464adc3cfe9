//! Reasons for refusals: asked for only when they are shown, and remembered like the refusals themselves.

use std::sync::Arc;

use super::ask::{Part, parts, question};
use super::book::Weighed;
use super::{Answers, Column};
use crate::binding::BindingView;
use crate::bitmap::Bitmap;
use crate::plugin::{Candidates, Explanation, Filter};
use crate::records::ClusterId;
use crate::table::{ClusterFields, ClusterTable};

/// Distinct reasons that are kept for one question; a plugin that has more to say, as by naming each cluster, is asked anew.
const MAX_TEXTS: usize = 256;

/// Stands for a cluster that the plugin gave no reason for.
const UNNAMED: u16 = u16::MAX;

/// What a plugin said of clusters that it refused: by id a number into the texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reasons {
    numbers: Column<u16>,
    texts: Vec<Arc<str>>,
}

impl Weighed for Reasons {
    fn bytes(&self) -> usize {
        self.numbers.bytes() + self.texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

impl Reasons {
    fn learn(&mut self, asked: &Bitmap, told: &Explanation) {
        let texts: Vec<u16> = told.reasons.iter().map(|text| self.number(text)).collect();
        for id in asked.ones() {
            self.numbers.learn(id, UNNAMED);
        }
        for (id, text) in told.refused.iter().filter(|(id, _)| asked.get(*id as usize)) {
            if let Some(number) = texts.get(*text as usize) {
                self.numbers.learn(*id, *number);
            }
        }
    }

    fn number(&mut self, text: &str) -> u16 {
        let known = self.texts.iter().position(|known| **known == *text);
        let place = known.unwrap_or_else(|| {
            self.texts.push(text.into());
            self.texts.len() - 1
        });
        u16::try_from(place).unwrap_or(UNNAMED)
    }
}

impl Answers {
    /// Why a filter refused these clusters; nothing where it doesn't say.
    pub(crate) fn explain(
        &mut self,
        plugin: &mut dyn Filter,
        table: &ClusterTable,
        view: &BindingView,
        refused: &Bitmap,
        on: bool,
    ) -> Vec<(ClusterId, Option<Arc<str>>)> {
        let Some(reads) = plugin.reads().filter(|_| on) else {
            let mut reasons = Reasons::default();
            reasons.numbers.refresh(table, ClusterFields::NONE);
            reasons.learn(refused, &ask(plugin, table, view, refused).unwrap_or_default());
            return reasons.of(refused).collect();
        };
        let (first, second) = parts(reads.binding, view, refused);
        let mut all = Vec::with_capacity(refused.count());
        for Part { fields, clusters } in [Some(first), second].into_iter().flatten() {
            let digest = view.digest(fields);
            let found = self.reasons.take(digest, |question| question.is(view, fields));
            let (question, mut reasons) =
                found.unwrap_or_else(|| (question(view, fields), Reasons::default()));
            if reasons.texts.len() > MAX_TEXTS {
                reasons = Reasons::default();
            }
            reasons.numbers.refresh(table, reads.clusters);
            let unknown = reasons.numbers.unknown(&clusters);
            let told =
                if unknown.is_clear() { None } else { Some(ask(plugin, table, &question.view, &unknown)) };
            let failed = matches!(told, Some(None));
            reasons.learn(&unknown, &told.flatten().unwrap_or_default());
            all.extend(reasons.of(&clusters));
            if !failed {
                self.reasons.put(digest, (question, reasons));
            }
        }
        all
    }
}

impl Reasons {
    fn of<'a>(&'a self, clusters: &'a Bitmap) -> impl Iterator<Item = (ClusterId, Option<Arc<str>>)> + 'a {
        clusters.ones().map(|id| {
            let number = self.numbers.values().get(id as usize);
            (id, number.and_then(|number| self.texts.get(usize::from(*number))).cloned())
        })
    }
}

/// What the plugin says; nothing if it fails, and then its clusters are shown as refused without a reason.
fn ask(
    plugin: &mut dyn Filter,
    table: &ClusterTable,
    view: &BindingView,
    clusters: &Bitmap,
) -> Option<Explanation> {
    let ids: Vec<ClusterId> = clusters.ones().collect();
    plugin.explain(table, view, Candidates::These(&ids)).ok()
}
