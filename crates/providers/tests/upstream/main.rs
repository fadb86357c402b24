//! The way out to the providers, against real servers on this machine: what is sent, what comes back, and what happens
//! when it does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod cancel;
mod docs;
mod encrypted;
mod kept;
mod privacy;
mod retry;
mod server;
mod streams;
mod world;
