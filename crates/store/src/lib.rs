//! Store: the durable home of the ledger.
//!
//! Today it has one adapter, the [`Journal`]: an append-only file of JSON lines, flushed to the disk before a caller is
//! told so, and checked from its first event when it is opened. It keeps an index of every run in memory, so it
//! suits a first installation and not a large one.
//!
//! Start at [`Journal::append`]; `line.rs` is the format on disk.
//!
//! - Acknowledged means committed: [`Journal::append`] returns after the bytes are on the disk.
//! - All of an append is there after a crash, or none of it (`every_cut_of_the_file_recovers_a_prefix_of_the_appends`).
//! - What is written verifies: an event that does not continue its chain is refused before it reaches the file.
//! - One process at a time: the file is locked while it is open.

mod check;
mod journal;
mod line;

pub use check::{Checked, check};
pub use journal::{Append, AppendError, Journal, OpenError, Recovered, RunProof, Settle};
