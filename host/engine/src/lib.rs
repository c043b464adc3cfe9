//! Runs plugins: WebAssembly components behind the traits of the deciding crates.
//!
//! - [`Engine`] compiles components, each once by its digest, or takes what was compiled ahead.
//! - [`SchedulerPlugin`], [`InterpreterPlugin`] and [`TransformerPlugin`] are components in use; [`Plugins`] is a set of them.
//! - Every call has limits ([`limits`]); a trap, a loop or a hog costs one call. The instance is dropped and replaced, the
//!   call is counted ([`Snapshot`]), and the caller gets an error that says what happened.
//! - Calls are synchronous and may take as long as their deadline: callers on an async runtime move off it.
//!
//! What is absent: WASI, clocks, randomness, files, network. Plugins get `log` and nothing else.

mod component;
mod config;
mod counters;
mod engine;
mod error;
mod interpreter;
pub mod limits;
mod plugin;
mod plugins;
mod precompiled;
mod profile;
mod scheduler;
mod state;
mod transformer;
mod version;
mod worlds;

pub use component::Component;
pub use counters::Snapshot;
pub use engine::{Engine, digest, precompile};
pub use error::{CallError, EngineError, LoadError};
pub use interpreter::InterpreterPlugin;
pub use limits::Limits;
pub use plugin::{Options, Status};
pub use plugins::Plugins;
pub use scheduler::{SchedulerPlugin, SchedulerWorker};
pub use transformer::{TransformerPlugin, Transformers};
pub use version::{Version, World};
pub use worlds::{InterpreterDescription, SchedulerDescription, TransformerDescription};
