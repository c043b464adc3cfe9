//! Signing in and permission: who is asking, and whether they may.

pub mod authorize;
pub mod impersonate;
pub mod jws;
pub mod service_account;
pub mod tokens;

pub use authorize::{Attributes, Authenticated, Authorizer, Decision, ResourceAttributes};
pub use jws::{Es256, TokenError, TokenIssuer};
