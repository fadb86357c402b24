//! Numbers by which states know people.
//!
//! `written.rs` finds those that their own spelling or checksum tells; `labels.rs` those that only a word before them tells,
//! such as a passport, a driving licence or nine bare digits.

mod labels;
mod written;

pub(super) use labels::LABELLED;
pub(super) use written::WRITTEN;
