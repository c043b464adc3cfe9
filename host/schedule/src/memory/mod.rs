//! What is remembered of plugins' answers. Filters, raw scores, affinities and the general estimate are pointwise in the
//! cluster, so an answer holds for every binding that is equal in what was declared to be read, and until the cluster
//! changes in what was declared: the next question is about clusters that are not known yet, and mostly there are none.

mod answers;
mod ask;
mod book;
mod column;
mod reasons;

use std::sync::Arc;

use crate::binding::{BindingFields, BindingView};
use crate::records::ClusterAffinity;
use crate::topology::Topologies;

pub(crate) use book::Book;
pub(crate) use column::{Column, Marks};

/// What one plugin is asked about a binding: the groups that it reads of it, and what they hold.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    fields: BindingFields,
    view: BindingView,
}

impl Question {
    fn is(&self, view: &BindingView, fields: BindingFields) -> bool {
        self.fields == fields && self.view.same(view, fields)
    }
}

/// What one plugin answered.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// As a filter.
    passes: Book<Question, Marks>,
    /// As a score.
    scores: Book<Question, Column<u8>>,
    /// As a filter, why clusters didn't pass.
    reasons: Book<Question, reasons::Reasons>,
}

impl Answers {
    /// What is remembered takes so many bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.passes.bytes() + self.scores.bytes() + self.reasons.bytes()
    }
}

/// How often plugins had to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recall {
    /// Clusters about which a filter or score was asked.
    pub asked: u64,
    /// Clusters whose answer was known.
    pub known: u64,
}

/// What one scheduling worker remembers beside the plugins' answers, which lie with their [`Stage`](crate::Stage)s.
/// Like those it follows one cluster table.
#[derive(Debug)]
pub struct Memory {
    on: bool,
    recall: Recall,
    affinities: Book<Arc<ClusterAffinity>, Marks>,
    estimates: Book<answers::DemandKey, Column<i32>>,
    pub(crate) topologies: Topologies,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            on: true,
            recall: Recall::default(),
            affinities: Book::default(),
            estimates: Book::default(),
            topologies: Topologies::default(),
        }
    }
}

impl Memory {
    /// A memory that keeps nothing: every question is asked.
    pub fn off() -> Self {
        Self { on: false, ..Self::default() }
    }

    /// Whether answers are kept.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether answers are kept, and where to count.
    pub(crate) fn recall_mut(&mut self) -> (bool, &mut Recall) {
        (self.on, &mut self.recall)
    }

    /// What is remembered beside plugins' answers takes so many bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.affinities.bytes() + self.estimates.bytes()
    }

    /// How often plugins had to be asked.
    pub fn recall(&self) -> Recall {
        self.recall
    }
}
