//! The object model: names of kinds, metadata, quantities, selectors, paths, patches and conditions over plain JSON values.
//! It knows no particular kind, does no IO and holds no client.

pub mod condition;
pub mod gvk;
pub mod handover;
pub mod hash;
pub mod label;
pub mod meta;
pub mod patch;
pub mod path;
pub mod quantity;
pub mod selector;
pub mod slim;
pub mod time;

pub use gvk::{Gvk, Gvr};
pub use meta::Meta;
pub use path::JsonPath;
pub use quantity::Quantity;
pub use selector::{FieldSelector, LabelSelector};
