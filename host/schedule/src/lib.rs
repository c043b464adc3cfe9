//! Where a workload goes, and why: filter, score, select, assign. Pure: no IO, no clock, no cluster; plugins stand behind
//! the traits of [`plugin`], which the engine implements for components.

pub mod affinity;
pub mod amount;
pub mod binding;
pub mod bitmap;
pub mod capacity;
pub mod plugin;
pub mod records;
pub mod request;
pub mod table;

pub use binding::{BindingFields, BindingView, Peers, TargetView};
pub use bitmap::Bitmap;
pub use plugin::{
    Candidates, Demand, Estimate, Explanation, FailurePolicy, Filter, PluginError, Profile, Score, Stage,
};
pub use records::{ClusterFacts, ClusterId};
pub use request::Request;
pub use table::{Cluster, ClusterFields, ClusterTable, Delta};
