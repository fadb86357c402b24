//! Linear scores: one weight per n-gram and label.

use serde::{Deserialize, Serialize};

use super::features::Vector;

/// One linear score per label.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    /// How many labels.
    pub labels: usize,
    /// By place in the vocabulary, then by label; the last row is the constant.
    pub weights: Vec<f32>,
}

impl Linear {
    /// All zero.
    #[must_use]
    pub fn zero(features: usize, labels: usize) -> Self {
        Self { labels, weights: vec![0.0; (features + 1) * labels] }
    }

    /// The scores of all labels into `scores`. Places outside the weights count nothing.
    pub fn score(&self, vector: &Vector, scores: &mut Vec<f32>) {
        scores.clear();
        scores.resize(self.labels, 0.0);
        for (place, value) in &vector.entries {
            self.add_row(*place as usize, *value, scores);
        }
        let rows = self.weights.len().checked_div(self.labels).unwrap_or(0);
        if let Some(last) = rows.checked_sub(1) {
            self.add_row(last, 1.0, scores);
        }
    }

    fn add_row(&self, row: usize, value: f32, scores: &mut [f32]) {
        let Some(weights) = self.weights.get(row * self.labels..(row + 1) * self.labels) else { return };
        for (score, weight) in scores.iter_mut().zip(weights) {
            *score += value * weight;
        }
    }
}
