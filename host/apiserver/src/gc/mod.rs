//! Garbage collection: objects go with their owners. The [`Graph`] is fed by every event
//! of the store and knows who depends on whom; the rest acts on what the store holds now.

mod act;
mod graph;

pub(crate) use act::{collect, foreground, orphan};
pub(crate) use graph::Graph;
