//! The linear learner: one-versus-rest squared-hinge machines, by coordinate descent on the dual.
//!
//! There is no learning rate to tune, and new samples continue from where the old ones stand: each sample keeps its
//! multipliers, and the weights are always the sum of what the samples hold.

use artifact::classify::{Linear, Vector};
use artifact::text::mix;
use serde::{Deserialize, Serialize};

/// How much a sample may push: the usual default of this kind of machine on vectors of length one.
const COST: f32 = 1.0;

/// The multipliers of every sample, by label.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dual {
    multipliers: Vec<Vec<f32>>,
}

impl Dual {
    /// Fits weights to `samples`, in `passes` over all of them.
    pub(crate) fn fit(
        &mut self,
        samples: &[(Vector, u32)],
        features: usize,
        labels: usize,
        passes: usize,
    ) -> Linear {
        self.multipliers.resize_with(samples.len(), Vec::new);
        let mut linear = Linear::zero(features, labels);
        let mut change = Vec::new();
        for ((vector, label), held) in samples.iter().zip(&mut self.multipliers) {
            held.resize(labels, 0.0);
            change.clear();
            change.extend(
                held.iter().enumerate().map(|(at, held)| if at as u32 == *label { *held } else { -*held }),
            );
            push(&mut linear, vector, &change);
        }
        let mut scores = Vec::new();
        let mut order: Vec<usize> = (0..samples.len()).collect();
        for pass in 0..passes {
            shuffle(&mut order, pass as u64);
            for &index in &order {
                let (vector, label) = &samples[index];
                linear.score(vector, &mut scores);
                let length: f32 = linear.rows(vector).map(|(_, value)| value * value).sum();
                let curve = length + 0.5 / COST;
                let held = &mut self.multipliers[index];
                change.clear();
                change.resize(labels, 0.0);
                let mut moved = false;
                for (at, (score, held)) in scores.iter().zip(held.iter_mut()).enumerate() {
                    let side = if at as u32 == *label { 1.0 } else { -1.0 };
                    let slope = side * score - 1.0 + *held * 0.5 / COST;
                    if *held == 0.0 && slope >= 0.0 {
                        continue;
                    }
                    let next = (*held - slope / curve).max(0.0);
                    change[at] = (next - *held) * side;
                    *held = next;
                    moved = true;
                }
                if moved {
                    push(&mut linear, vector, &change);
                }
            }
        }
        linear
    }

    /// Another sample takes the place of sample `index`.
    pub(crate) fn forget(&mut self, index: usize) {
        if let Some(held) = self.multipliers.get_mut(index) {
            held.clear();
        }
    }
}

fn push(linear: &mut Linear, vector: &Vector, change: &[f32]) {
    let labels = linear.labels;
    for (row, value) in linear.rows(vector) {
        for (weight, change) in linear.weights[row * labels..(row + 1) * labels].iter_mut().zip(change) {
            *weight += value * change;
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
