//! Learning a tagger: which words of a text live took for which field.
//!
//! `perceptron.rs` learns the tags, `learner.rs` keeps the samples and makes versions; trust and threshold are those of
//! everything else that abstains. `extractor.rs` learns whole answers: `align.rs` finds their values in the text, and an answer is
//! given only when nothing of it seems to be missing.

mod align;
mod extractor;
mod learner;
mod perceptron;

pub use extractor::Extractor;
pub use learner::{Gold, TagLearner};
