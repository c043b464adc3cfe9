//! Schemas of Kubernetes objects and what is done by them: structural validation,
//! pruning and defaulting, strategic merge, server-side apply, protobuf input,
//! printer columns, OpenAPI documents. No IO.

pub mod arena;
pub mod builtin;
pub mod field_error;
pub mod structural;
pub mod apply;
pub mod canonical;
pub mod default;
pub mod duration;
pub mod proto;
pub mod strategic;
pub mod columns;
pub mod openapi;
pub mod validate;
pub mod convert;
