//! Artifact: learned programs as data, the interpreter that runs them within bounds, and the fingerprints of what they answer.
//!
//! An [`Artifact`] is a guard and a [`Program`](program::Program). It answers an input that belongs to what was proven, and
//! abstains from every other. Nothing is compiled and nothing is called: no IO, no clock, no randomness. How programs come
//! about is the business of `learning`.
//!
//! Start at `program/mod.rs` for the language and `program/run.rs` for the interpreter; `classify/` and `tag/` are its learned
//! forms, `meaning/` knows what texts are about, `normal.rs` reads numbers, money and dates, `fingerprint/` says which requests are
//! alike.
//!
//! - Programs are total and deterministic, within bounds of steps, depth and bytes (`tests/properties.rs`, `fuzz/fuzz_targets/artifact.rs`).
//! - What was written and read again is the same program and gives the same answers.
//!
//! To add a form of program: see `program/mod.rs`.

pub mod classify;
pub mod fingerprint;
mod guard;
pub mod meaning;
pub mod normal;
pub mod packed;
pub mod program;
pub mod tag;
pub mod text;
pub mod token;

pub use guard::{Artifact, Guard, word_hash};
