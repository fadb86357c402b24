//! What others are told, by real receivers on this machine, from a store in memory and one on disk.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod approvals;
mod documents;
mod receiver;
mod rewriting;
mod shipments;
mod sigv4;
mod webhooks;
mod world;
