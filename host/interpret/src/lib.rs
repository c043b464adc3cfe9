//! What a resource means: the contract of interpreters, the order in which they are asked, the checks on their
//! answers; and the one rule that needs no interpreter: generic retention.
//!
//! Nothing here knows a kind's replicas, status or health; that is in `interpreters/` and in customizations.
//! No IO: interpreters that need it (webhooks) bring it along.

mod chain;
mod dependency;
mod error;
mod operation;
mod patch;
pub mod retention;

pub use chain::Chain;
pub use dependency::{check as check_dependencies, normalize as normalize_dependencies};
pub use error::{Cause, Error};
pub use operation::{Change, Interpreter, Operation, Replica};
