//! A Kubernetes API server as a library: one generic handler over a table of kinds,
//! a store of revisions below, an in-process service above. It knows built-in kinds
//! and CRDs, and no product's own kinds.

pub mod auth;
pub mod error;
pub mod front;
pub mod handler;
pub mod identity;
pub mod item;
pub mod registry;
pub mod server;
pub mod tls;

mod create;
mod delete;
mod get;
mod list;
mod patch;
mod update;
mod watch;
