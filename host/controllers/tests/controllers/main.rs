//! Whole control planes in this process, and what their users see: when all goes well, and when plugins, members or
//! input are bad. Each test asserts on conditions, events and statuses, that nothing is lost, and that the rest goes on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]
#![allow(clippy::large_futures, reason = "a test's future is made once")]

mod interpreters;
mod members;
mod meter;
mod overriding;
mod path;
mod plugins;
mod policies;
mod profiles;
mod scheduling;
mod support;
mod writes;
