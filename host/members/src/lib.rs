//! Connections to member clusters: from a Cluster object to a client and its informers. A simulated
//! member in this process and a real one over the network look the same from here on.
//! Knows no policies.

mod connector;
pub mod discovery;
mod network;

pub use connector::{ConnectError, Connector, Member};
pub use discovery::{ApiTable, ServedResource, discover};
