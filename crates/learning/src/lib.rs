//! Learning: how repeated work becomes a proven artifact, and how it is kept honest afterwards.
//!
//! Pure: runs, samples and comparisons come in, decisions come out. There is no IO, no clock and no randomness; which answers
//! are audited depends on a key and the run's own id. What is deliberately absent is any way to act: whoever serves an answer
//! or asks a model is outside.
//!
//! Start at `course/mod.rs`: it takes anything that answers (a program, a classifier, later a cached plan or a cheaper model) from
//! its first comparison with live to its promotion and, if need be, its demotion. `proof.rs` is the bound, `audit.rs` chooses
//! what is compared, `drift.rs` notices when it no longer holds, `inputs.rs` when requests change, `comparator.rs` says when two answers are the same.
//! `pattern.rs` is what is learned at all. What answers is made in `classify/`, `tag/` and `synthesis/`; `threshold.rs` says
//! where it stops. `docs/explanation/proof-of-artifacts.md` explains the promise.
//!
//! - Nothing is served before it is proven (`nothing_is_served_before_it_is_proven`), and a part of what is served goes on being compared.
//! - Only opinions from before the live answer was known are evidence.
//! - The same calls in the same order give the same state; state can be written and read (`tests/folding.rs`).
//! - Memory is bounded, and the work per sample does not grow with their number.
//!
//! To add something that answers: make it abstain by a trust, record each opinion before learning from it, and give it a course.

pub mod audit;
pub mod classify;
pub mod comparator;
pub mod course;
pub mod drift;
pub mod gate;
pub mod inputs;
pub mod pattern;
pub mod proof;
pub mod synthesis;
pub mod tag;
pub mod threshold;
