//! Going out, against real servers on this machine: who is reached, who is not, and what is told to whom.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod encrypted;
mod evasions;
mod hops;
mod limits;
mod server;
mod table;
mod world;
