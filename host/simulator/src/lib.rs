//! Simulated Kubernetes clusters: an API server in this process, and the few loops that make
//! workloads run on nodes that aren't there. For laptops, tests and measurements.
//!
//! A member is driven by changes of its store, never by polling; many fit into one process.
//! It knows Kubernetes' kinds only, and nothing of who manages it.

mod access;
mod faults;
mod index;
mod kinds;
mod member;
mod options;
mod plan;
mod steps;
mod world;

pub use faults::{Fault, Faults, UnknownFault};
pub use member::{Member, StartError};
pub use options::{Nodes, Options, Pods};
