//! The guests: their compiler, their build, and what makes components of them.

mod build;
mod component;
mod debian;
mod toolchain;

pub(crate) use build::{build, test};
pub(crate) use toolchain::setup;
