//! Schemas of Kubernetes objects and what is done by them: structural validation,
//! pruning and defaulting, strategic merge, server-side apply, protobuf input,
//! printer columns, OpenAPI documents. No IO.

pub mod apply;
pub mod arena;
pub mod builtin;
pub mod canonical;
pub mod columns;
pub mod convert;
pub mod default;
pub mod duration;
pub mod field_error;
pub mod openapi;
pub mod proto;
pub mod strategic;
pub mod structural;
pub mod validate;
