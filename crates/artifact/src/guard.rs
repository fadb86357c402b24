//! The guard of an artifact: whether an input belongs to what was proven. Outside it, there is no answer.

use serde::{Deserialize, Serialize};

use crate::program::{Abstention, Input, Limits, Outcome, Program, run};
use crate::text::{stable_hash, words};
use crate::token::Kind;

/// What inputs the proof was about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// Bytes of the longest input.
    pub longest: usize,
    /// Typed tokens that every input had.
    pub kinds: Vec<Kind>,
    /// Hashes of the words that were seen, sorted. Empty: words do not matter.
    pub known: Vec<u64>,
    /// The largest share of words that may be unknown.
    pub most_unknown: f32,
}

impl Guard {
    /// Whether `input` belongs.
    #[must_use]
    pub fn admits(&self, input: &Input) -> bool {
        if input.text().len() > self.longest {
            return false;
        }
        if !self.kinds.iter().all(|kind| input.tokens().any(|token| token.kind == Some(*kind))) {
            return false;
        }
        self.known.is_empty() || self.unknown(input.text()) <= self.most_unknown
    }

    /// The share of the words of `text` that were never seen; numbers do not count.
    #[must_use]
    pub fn unknown(&self, text: &str) -> f32 {
        let words: Vec<_> =
            words(text).into_iter().filter(|word| word.text.chars().all(char::is_alphabetic)).collect();
        let unknown =
            words.iter().filter(|word| self.known.binary_search(&word_hash(&word.text)).is_err()).count();
        if words.is_empty() { 0.0 } else { unknown as f32 / words.len() as f32 }
    }
}

/// The hash a word is known by.
#[must_use]
pub fn word_hash(word: &str) -> u64 {
    stable_hash(5, word.as_bytes())
}

/// A learned program with its guard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// What inputs it is for.
    pub guard: Guard,
    /// What it answers.
    pub program: Program,
}

impl Artifact {
    /// The answer to `input`, or why there is none.
    #[must_use]
    pub fn answer(&self, input: &Input) -> Outcome {
        if !self.guard.admits(input) {
            return Outcome::Abstain(Abstention::Unsupported);
        }
        run(&self.program, input, Limits::default())
    }
}
