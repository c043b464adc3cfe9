//! Where a workload goes, and why: filter, score, select, assign. Pure: no IO, no clock, no cluster; plugins stand behind
//! the traits of [`plugin`], which the engine implements for components.

pub mod affinity;
pub mod amount;
mod assign;
pub mod assumptions;
mod availability;
pub mod binding;
pub mod bitmap;
pub mod capacity;
pub mod decide;
pub mod driver;
pub mod estimate;
pub mod explain;
pub mod gates;
pub mod groups;
pub mod memory;
pub mod needs;
pub mod outcome;
pub mod pass;
pub mod pipeline;
pub mod plugin;
pub mod profile;
pub mod queue;
pub mod records;
pub mod request;
mod select;
pub mod table;
mod topology;
pub mod vectors;
pub mod webster;

pub use binding::{BindingFields, BindingView, Peers, TargetView};
pub use bitmap::Bitmap;
pub use memory::Memory;
pub use outcome::{Failure, Outcome, Trace};
pub use pipeline::{Input, Options, schedule};
pub use plugin::{
    Assumed, Candidates, Demand, Estimate, Explanation, FailurePolicy, Filter, Phase, PluginError, Profile,
    Query, Reads, Score, Stage,
};
pub use records::{ClusterFacts, ClusterId};
pub use request::{Request, Target};
pub use table::{Cluster, ClusterFields, ClusterTable, Delta};
