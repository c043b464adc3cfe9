//! Outside access: certificates, the listener, and the way from its paths to servers.

pub mod authority;
pub mod files;
pub mod kubeconfig;
pub mod peer;
pub mod routes;
pub mod serve;

pub use authority::{Authority, ClientCertificate, TlsError};
pub use kubeconfig::{Context, kubeconfig};
pub use routes::{Endpoint, Routes};
pub use serve::{Tls, serve};
