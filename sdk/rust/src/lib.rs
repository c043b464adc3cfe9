//! Write Windlass plugins in Rust: scheduler filters and scores, resource interpreters, override transformers.
//!
//! A plugin is a library crate of type `cdylib`, built for `wasm32-unknown-unknown` and turned into a component
//! (`cargo xtask guests` does both for every crate of the `plugins` workspace). It picks one feature of this crate
//! (`scheduler`, `interpreter` or `transformer`), implements the trait of that name, and exports it by one macro.
//! Everything works in native code too, so `cargo test` needs no Wasm engine; [`scheduler::Instance`],
//! [`interpreter::Instance`] and [`transformer::Instance`] are what the macros export, and what tests may drive.
//!
//! A whole filter:
//!
//! ```
//! # #[cfg(feature = "scheduler")] mod example {
//! use windlass_sdk::{Value, scheduler::*};
//!
//! /// Lets only clusters of one provider pass: the one in the plugin's configuration, `{"provider": "acme"}`.
//! pub struct OneProvider {
//!     provider: String,
//! }
//!
//! impl SchedulerPlugin for OneProvider {
//!     // What to remember of a cluster, made once when the cluster changes: any type with `From<Cluster>`.
//!     type Cluster = Cluster;
//!     // What to work out once per binding, before clusters are looked at.
//!     type Prepared = ();
//!
//!     fn describe() -> Description {
//!         Description::filter("OneProvider", "0.1.0", ClusterFields::LOCATION, BindingFields::empty())
//!     }
//!
//!     fn new(config: &Value) -> Result<Self, Error> {
//!         let provider = config["provider"].as_str().ok_or("configuration: `provider` must be a text")?;
//!         Ok(Self { provider: provider.to_owned() })
//!     }
//!
//!     fn prepare(&self, _: Binding) -> Result<(), Error> {
//!         Ok(())
//!     }
//!
//!     fn passes<'a>(&self, _: &'a (), cluster: &'a Cluster) -> Result<(), Reason<'a>> {
//!         if cluster.provider == self.provider { Ok(()) } else { Err(Reason::text("cluster(s) are of another provider")) }
//!     }
//! }
//!
//! windlass_sdk::export_scheduler!(OneProvider);
//! # }
//! # fn main() {}
//! ```
//!
//! The rules that plugins live by: no clock, no randomness, no network, no files; an answer depends on what was
//! declared in `describe` and on nothing else, for the host remembers answers. A panic costs the call and the instance.

pub mod bindings;
#[cfg(feature = "interpreter")]
pub mod interpreter;
mod labels;
mod log;
pub mod patch;
#[cfg(feature = "scheduler")]
pub mod scheduler;
mod selector;
#[cfg(feature = "transformer")]
pub mod transformer;

pub use bindings::shared::windlass::types::types::{
    ClusterAffinity, LabelSelector, Level, ObjectReference, Pair, Requirement, Taint, Toleration,
};
pub use labels::Labels;
pub use log::{debug, error, info, log, warn};
pub use serde_json::{self, Map, Value, json};
pub use wit_bindgen;
