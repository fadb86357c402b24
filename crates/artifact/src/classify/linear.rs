//! Linear scores: one weight per n-gram, per number of the meaning, and label.

use serde::{Deserialize, Serialize};

use super::features::Vector;
use crate::meaning::DIMENSIONS;

/// One linear score per label.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    /// How many labels.
    pub labels: usize,
    /// By row, then by label: a row for each place in the vocabulary, one for each number of the meaning, and the constant.
    pub weights: Vec<f32>,
}

impl Linear {
    /// All zero.
    #[must_use]
    pub fn zero(features: usize, labels: usize) -> Self {
        Self { labels, weights: vec![0.0; (features + DIMENSIONS + 1) * labels] }
    }

    /// The rows that `vector` touches, with what they are multiplied by. The constant comes last.
    pub fn rows<'a>(&self, vector: &'a Vector) -> impl Iterator<Item = (usize, f32)> + use<'a> {
        let rows = self.weights.len().checked_div(self.labels).unwrap_or(0);
        let features = rows.saturating_sub(DIMENSIONS + 1);
        let places = vector
            .entries
            .iter()
            .map(|(place, value)| (*place as usize, *value))
            .filter(move |(place, _)| *place < features);
        let meaning = vector
            .meaning
            .iter()
            .take(DIMENSIONS)
            .enumerate()
            .map(move |(at, value)| (features + at, *value));
        places.chain(meaning).chain([(rows.saturating_sub(1), 1.0)])
    }

    /// The scores of all labels into `scores`. Places outside the weights count nothing.
    pub fn score(&self, vector: &Vector, scores: &mut Vec<f32>) {
        scores.clear();
        scores.resize(self.labels, 0.0);
        for (row, value) in self.rows(vector) {
            let Some(weights) = self.weights.get(row * self.labels..(row + 1) * self.labels) else {
                continue;
            };
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score += value * weight;
            }
        }
    }

    /// By how much `first` is ahead of `second`: from words, from letters, from the meaning. `words` is where letters begin.
    #[must_use]
    pub fn parts(&self, vector: &Vector, words: usize, first: usize, second: usize) -> [f32; 3] {
        let features =
            (self.weights.len().checked_div(self.labels).unwrap_or(0)).saturating_sub(DIMENSIONS + 1);
        let mut parts = [0.0; 3];
        for (row, value) in self.rows(vector) {
            let of = |label: usize| self.weights.get(row * self.labels + label).copied().unwrap_or(0.0);
            let part = usize::from(row >= words) + usize::from(row >= features);
            parts[part] += value * (of(first) - of(second));
        }
        parts
    }
}
