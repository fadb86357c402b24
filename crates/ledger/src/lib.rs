//! The ledger: what happened, in a form that a stranger can check without us.
//!
//! Pure: no clock, no storage, no randomness, no network. Times, salts and keys come in as arguments. The format
//! is defined in `docs/reference/evidence-packet.md`; this crate is one of two implementations of that page, and
//! where the two disagree the page decides.
//!
//! Start at [`Chain`], which turns what happened into hash-chained [`Event`]s; [`Log`] holds the Merkle log of a
//! tenant's run heads; [`packet`] builds and verifies the one file that carries the proof; [`audit`] checks a whole
//! ledger.
//!
//! - Nothing is hashed but canonical JSON (`canonical.rs`), and what is canonical reads back as the same value.
//! - A field can be withheld by an explicit marker, and everything else still verifies.
//! - Verification never panics and never trusts a row: it re-derives and compares, and names the first breach.
//!
//! To add a check: a [`packet::Reason`], the rule in the page's table, a mutation in `tests/mutations.rs`, and the
//! same rule in the second verifier.

pub mod audit;
pub mod canonical;
mod chain;
mod checkpoint;
mod deed;
mod field;
mod hash;
mod log;
mod log_key;
pub mod note;
pub mod packet;
mod payload;
mod proof;
mod recorded;
mod said;
mod statement;
mod transcript;
pub mod trust;

pub use chain::{Chain, ChainError, Event};
pub use checkpoint::{Checkpoint, origin};
pub use deed::Deed;
pub use field::{Field, Salt};
pub use hash::sha256;
pub use log::{Leaf, Log, LoggedLeaf, verify_consistency, verify_inclusion};
pub use log_key::LogKey;
pub use payload::{Name, Payload};
pub use proof::{Proof, ProofError};
pub use recorded::{Recorded, Recorder};
pub use said::Said;
pub use transcript::{Spot, Transcript};
