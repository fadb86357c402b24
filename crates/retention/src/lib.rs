//! Retention: how long things are kept, and how they are forgotten, on record.
//!
//! [`Keeper::erase`] forgets a person: the key that seals what is about them is destroyed in the same commit as the event
//! that says so, and a job has every view forget too. [`Keeper::sweep`] gives up the events of runs that are old enough, a
//! batch at a time, each in one commit with the event that names its runs.
//!
//! - Nothing is forgotten without a record of it: a run of the kind `audit`, with a leaf, an evidence packet and all.
//! - The records themselves are never given up: they are how a reader tells retention from loss.
//! - Both can be repeated after a crash at any point, and then do what is left.
//!
//! `record.rs` makes the records; `handler.rs` is both as jobs.

mod erase;
mod handler;
mod keeper;
mod record;
mod sweep;

pub use erase::{EraseError, Erasure};
pub use handler::{ErasureSweep, RetentionSweep};
pub use keeper::{Actor, Clock, Keeper};
pub use sweep::Swept;
