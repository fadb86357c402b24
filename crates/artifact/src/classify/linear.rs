//! Linear scores: one weight per n-gram, per number of the meaning, and label; each row of weights in steps of its own size.

use serde::{Deserialize, Serialize};

use super::features::Vector;
use crate::meaning::DIMENSIONS;
use crate::packed;

/// One linear score per label.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    /// How many labels.
    labels: usize,
    /// The size of a step, row by row: a row for each place in the vocabulary, one for each number of the meaning, and the constant.
    #[serde(with = "packed::fractions")]
    steps: Vec<f32>,
    /// By row, then by label, in steps.
    #[serde(with = "packed::small")]
    weights: Vec<i8>,
}

/// How many rows there are for `features` places in the vocabulary.
#[must_use]
pub const fn rows_of(features: usize) -> usize {
    features + DIMENSIONS + 1
}

/// How long a meaning is beside words and letters, which together have length one: it says more than they do.
const MEANING: f32 = 1.5;

/// The rows of `rows` that `vector` touches, with what they are multiplied by. The constant comes last.
pub fn touched(vector: &Vector, rows: usize) -> impl Iterator<Item = (usize, f32)> + use<'_> {
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
        .map(move |(at, value)| (features + at, MEANING * *value));
    places.chain(meaning).chain([(rows.saturating_sub(1), 1.0)])
}

impl Linear {
    /// The nearest to these weights, which are by row, then by label.
    #[must_use]
    pub fn of(labels: usize, weights: &[f32]) -> Self {
        let rows = weights.chunks_exact(labels.max(1));
        let mut steps = Vec::with_capacity(rows.len());
        let mut packed = Vec::with_capacity(weights.len());
        for row in rows {
            let step = row.iter().fold(0.0_f32, |most, weight| most.max(weight.abs())) / f32::from(i8::MAX);
            steps.push(step);
            packed
                .extend(row.iter().map(|weight| if step > 0.0 { (weight / step).round() as i8 } else { 0 }));
        }
        Self { labels, steps, weights: packed }
    }

    /// How many labels there are.
    #[must_use]
    pub const fn labels(&self) -> usize {
        self.labels
    }

    /// How many bytes its weights take.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.weights.len() + self.steps.len() * size_of::<f32>()
    }

    /// The scores of all labels into `scores`. Places outside the weights count nothing.
    pub fn score(&self, vector: &Vector, scores: &mut Vec<f32>) {
        scores.clear();
        // Whoever claims more labels than there are weights has none.
        scores.resize(if self.labels <= self.weights.len() { self.labels } else { 0 }, 0.0);
        for (row, value) in touched(vector, self.steps.len()) {
            let Some((step, weights)) = self.row(row) else { continue };
            let value = value * step;
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score += value * f32::from(*weight);
            }
        }
    }

    /// By how much `first` is ahead of `second` by words, by letters and by the meaning (`words` is where letters begin); and how
    /// much of the words speaks for `first` at all, from none (0) to everything (1).
    #[must_use]
    pub fn parts(&self, vector: &Vector, words: usize, first: usize, second: usize) -> ([f32; 3], f32) {
        let features = self.steps.len().saturating_sub(DIMENSIONS + 1);
        let (mut parts, mut backing) = ([0.0; 3], 0.0);
        for (row, value) in touched(vector, self.steps.len()) {
            let Some((step, weights)) = self.row(row) else { continue };
            let of = |label: usize| weights.get(label).map_or(0.0, |weight| f32::from(*weight) * step);
            let part = usize::from(row >= words) + usize::from(row >= features);
            parts[part] += value * (of(first) - of(second));
            if part == 0 && of(first) > 0.0 {
                // Words have half of the length.
                backing += 2.0 * value * value;
            }
        }
        (parts, backing)
    }

    fn row(&self, row: usize) -> Option<(f32, &[i8])> {
        let from = row.checked_mul(self.labels)?;
        Some((*self.steps.get(row)?, self.weights.get(from..from.checked_add(self.labels)?)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_in_steps_is_within_half_a_step_of_what_was_learned() {
        let weights: Vec<f32> = (0..3 * rows_of(2)).map(|at| (at as f32 * 0.37).sin() * 0.4).collect();
        let linear = Linear::of(3, &weights);
        let vector = Vector { entries: vec![(1, 1.0)], meaning: Vec::new(), unknown: 0.0 };
        let mut scores = Vec::new();
        linear.score(&vector, &mut scores);
        let constant = &weights[weights.len() - 3..];
        for (at, score) in scores.iter().enumerate() {
            assert!((score - (weights[3 + at] + constant[at])).abs() <= 0.4 / 127.0, "{scores:?}");
        }
    }

    #[test]
    fn weights_that_do_not_fit_their_labels_count_nothing() {
        let linear: Linear =
            serde_json::from_str(r#"{"labels":99999999999,"steps":"AACAPw","weights":"AQ"}"#).unwrap();
        assert_eq!(linear.row(0), None);
        let mut scores = vec![1.0];
        linear.score(&Vector { entries: vec![(0, 1.0)], ..Vector::default() }, &mut scores);
        assert!(scores.is_empty());
    }
}
