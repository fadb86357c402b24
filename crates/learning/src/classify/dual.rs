//! The linear learner: one-versus-rest squared-hinge machines, by coordinate descent on the dual.
//!
//! There is no learning rate to tune, and new samples continue from where the old ones stand: each sample keeps its
//! multipliers, and the weights are always the sum of what the samples hold.

use artifact::classify::{Vector, rows_of, touched};
use artifact::text::mix;
use serde::{Deserialize, Serialize};

/// How much a sample may push: the usual default of this kind of machine on vectors of length one.
const COST: f32 = 1.0;
/// A sample that moves less than this rests for a pass.
const CALM: f32 = 1e-3;

/// The multipliers of every sample that are not zero: label and value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dual {
    multipliers: Vec<Vec<(u32, f32)>>,
}

/// Weights by row, then by label.
pub(crate) struct Weights {
    labels: usize,
    pub(crate) all: Vec<f32>,
}

impl Weights {
    fn zero(features: usize, labels: usize) -> Self {
        Self { labels, all: vec![0.0; rows_of(features) * labels] }
    }

    fn rows(&self) -> usize {
        self.all.len().checked_div(self.labels).unwrap_or(0)
    }

    fn score(&self, vector: &Vector, scores: &mut [f32]) {
        scores.fill(0.0);
        for (row, value) in touched(vector, self.rows()) {
            for (score, weight) in
                scores.iter_mut().zip(&self.all[row * self.labels..(row + 1) * self.labels])
            {
                *score += value * weight;
            }
        }
    }

    /// Adds `vector`, times the change of each label that changes.
    fn push(&mut self, vector: &Vector, changes: &[(u32, f32)]) {
        let rows = self.rows();
        for (row, value) in touched(vector, rows) {
            let weights = &mut self.all[row * self.labels..(row + 1) * self.labels];
            for (label, change) in changes {
                weights[*label as usize] += value * change;
            }
        }
    }
}

impl Dual {
    /// Fits weights to those of `samples` that are `used`, in `passes` over all of them.
    pub(crate) fn fit(
        &mut self,
        samples: &[(Vector, u32)],
        used: impl Fn(usize) -> bool,
        (features, labels): (usize, usize),
        passes: usize,
    ) -> Weights {
        self.multipliers.resize_with(samples.len(), Vec::new);
        let mut weights = Weights::zero(features, labels);
        let side = |of: u32, label: u32| if of == label { 1.0 } else { -1.0 };
        let mut changes: Vec<(u32, f32)> = Vec::new();
        for ((vector, label), held) in samples.iter().zip(&self.multipliers) {
            changes.clear();
            changes.extend(held.iter().map(|(of, held)| (*of, held * side(*of, *label))));
            weights.push(vector, &changes);
        }
        let (mut scores, mut held) = (vec![0.0; labels], vec![0.0; labels]);
        let mut order: Vec<usize> = (0..samples.len()).filter(|index| used(*index)).collect();
        let mut rests = vec![false; samples.len()];
        for pass in 0..passes {
            shuffle(&mut order, pass as u64);
            for &index in &order {
                if std::mem::take(&mut rests[index]) {
                    continue;
                }
                let (vector, label) = &samples[index];
                weights.score(vector, &mut scores);
                let length: f32 = touched(vector, weights.rows()).map(|(_, value)| value * value).sum();
                let curve = length + 0.5 / COST;
                held.fill(0.0);
                for (of, value) in &self.multipliers[index] {
                    held[*of as usize] = *value;
                }
                changes.clear();
                let mut furthest = 0.0_f32;
                for (of, (score, held)) in (0_u32..).zip(scores.iter().zip(&mut held)) {
                    let slope = side(of, *label) * score - 1.0 + *held * 0.5 / COST;
                    if *held == 0.0 && slope >= 0.0 {
                        continue;
                    }
                    let next = (*held - slope / curve).max(0.0);
                    let change = next - *held;
                    furthest = furthest.max(change.abs());
                    changes.push((of, change * side(of, *label)));
                    *held = next;
                }
                rests[index] = furthest < CALM;
                if furthest > 0.0 {
                    weights.push(vector, &changes);
                    let kept = (0_u32..).zip(held.iter().copied()).filter(|(_, held)| *held > 0.0);
                    self.multipliers[index].clear();
                    self.multipliers[index].extend(kept);
                }
            }
        }
        weights
    }

    /// Another sample takes the place of sample `index`.
    pub(crate) fn forget(&mut self, index: usize) {
        if let Some(held) = self.multipliers.get_mut(index) {
            held.clear();
        }
    }
}

/// The same order for the same seed, on every machine.
pub(crate) fn shuffle(order: &mut [usize], seed: u64) {
    for at in (1..order.len()).rev() {
        let pick = mix(seed.wrapping_mul(0x1000_0001).wrapping_add(at as u64)) % (at as u64 + 1);
        order.swap(at, pick as usize);
    }
}
