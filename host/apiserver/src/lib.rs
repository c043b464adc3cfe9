//! A Kubernetes API server as a library: one generic handler over a table of kinds,
//! a store of revisions below, an in-process service above. It knows built-in kinds
//! and CRDs, and no product's own kinds.

pub mod admission;
pub mod auth;
pub mod builtin;
pub mod error;
pub mod front;
pub mod handler;
pub mod identity;
pub mod item;
pub mod limits;
pub mod registry;
pub mod server;
pub mod strategy;
pub mod tls;

mod accounts;
mod bootstrap;
mod cleanup;
mod commit;
mod convert;
mod crd;
mod create;
mod delete;
mod expiry;
mod gates;
mod gc;
mod get;
mod intake;
mod jobs;
mod kinds;
mod list;
mod meta_rules;
mod observer;
mod patch;
mod pods;
mod present;
mod scale;
mod selection;
mod services;
mod system;
mod update;
mod watch;
mod worker;
mod write;

pub use admission::{Admission, Denied, Operation, Review};
pub use identity::Identity;
pub use server::{Profile, Server, ServerOptions, StartError};
