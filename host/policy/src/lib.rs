//! What policies mean: which policy has a template, what its binding says, how each cluster's copy differs, which Works
//! follow, and what their statuses add up to. Pure functions over JSON values: no IO, no clock but the one handed in.

pub mod binding;
pub mod change;
pub mod claim;
pub mod dependencies;
pub mod detect;
pub mod matching;
pub mod overrides;
pub mod patch;
pub mod status;
pub mod transform;
pub mod work;

pub use claim::{Claim, Scope};
pub use detect::{Catalog, Detection, detect};
pub use patch::Patch;
pub use transform::{ClusterFacts, Transform, TransformError};
