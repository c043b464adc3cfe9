//! What policies mean: which policy has a template, what its binding says, how each cluster's copy differs, which Works
//! follow, and what their statuses add up to. Pure functions over JSON values: no IO, no clock but the one handed in.

pub mod transform;

pub use transform::{ClusterFacts, Transform, TransformError};
