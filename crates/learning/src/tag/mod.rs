//! Learning a tagger: which words of a text live took for which field.
//!
//! `perceptron.rs` learns the tags, `learner.rs` keeps the samples and makes versions; trust and threshold are those of
//! everything else that abstains.

mod learner;
mod perceptron;

pub use learner::{Gold, TagLearner};
