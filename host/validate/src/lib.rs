//! What is changed and what is refused when our kinds are written, beyond what schemas say: defaults, permanent
//! ids, finalizers, rules between fields. Pure functions over JSON: in embedded mode the API server calls them in
//! process, in production a webhook server does.
//!
//! Changes are surgical: a field that isn't named here is never touched, so that newer fields survive.
//! Objects are expected with their schema's defaults applied; where that is not so, absent means the default.

mod admit;
mod affinity;
mod binding;
mod cluster;
mod denied;
mod failover;
mod fields;
mod models;
mod multi_cluster_service;
mod overriders;
mod overrides;
mod permanent_id;
mod placement;
mod propagation;
mod protection;
mod taint_policy;
mod work;

pub use admit::{Gates, Operation, admit, admit_with};
pub use cluster::check_name as check_cluster_name;
pub use denied::{Denied, Warning};
