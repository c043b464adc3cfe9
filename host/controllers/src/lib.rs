//! The controllers of the control plane. One folder each: `mod.rs` says what it watches and what it
//! owns, `plan.rs` decides and is pure, `apply.rs` writes.
//!
//! A controller is handed a [`Context`] and cannot tell whether the API servers behind it are in this
//! process or not. It speaks no HTTP and holds no rules of scheduling or policy: those are in the
//! deciding crates.
//!
//! ```text
//! template ─► detector ─► binding ─► scheduler ─► binding ─► binding controller ─► works
//!                                                                                   │
//! template ◄─ binding_status ◄─ work.status ◄─────────── execution ◄────────────────┘
//!                                                            │ ▲
//!                                                          member
//! ```

mod ahead;
mod apis;
pub mod binding;
pub mod binding_status;
pub mod cluster;
pub mod cluster_status;
mod context;
mod dependencies;
pub mod detector;
pub mod execution;
mod finalizers;
mod kinds;
pub mod namespace;
mod patches;
pub mod scheduler;
mod start;
mod status;
mod unanswered;

pub use apis::Apis;
pub use context::{Context, Options};
pub use kinds::Kinds;
pub use start::{Running, start, start_schedulers};
