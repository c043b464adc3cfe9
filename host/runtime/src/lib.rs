//! What every process of Windlass stands on: clients over in-process services, informers, work queues, events,
//! the admin port, shutdown and metrics. It knows Kubernetes' API, but no Karmada kind and no decision.

pub mod admin;
pub mod client;
pub mod events;
pub mod informer;
pub mod metrics;
pub mod objects;
pub mod queue;
pub mod shutdown;

pub use informer::{Change, Handle, Informers, ObjectKey, Projection, Scope};
pub use objects::Objects;
pub use queue::{Action, Queue};
pub use shutdown::Shutdown;
