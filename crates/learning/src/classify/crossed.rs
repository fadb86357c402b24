//! Crossed fitting: some learners that each have never seen a part of the samples, and their mean, which has seen all.
//!
//! What a learner says of a sample it has learned proves nothing. Each sample is judged by the learner that left it out, so the
//! trust in the newest version, and its threshold, rest on everything that was ever learned and not only on what came lately.
//! The mean answers: it is as sure of a text as they are, where one learner over all samples would be surer than trust knows.

use artifact::classify::{Linear, Vector, rows_of};
use artifact::text::mix;
use serde::{Deserialize, Serialize};

use super::dual::Dual;

/// How many parts there are. Each is judged by what was learned from the others: the more parts, the nearer that is to all.
const PARTS: usize = 4;

/// The learners, and where each stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Crossed {
    without: [Dual; PARTS],
}

/// What was fitted.
pub(crate) struct Fitted {
    /// The mean of all.
    pub(crate) all: Linear,
    without: Vec<Linear>,
}

impl Fitted {
    /// Fitted to everything but the part of sample `index`.
    pub(crate) fn without(&self, index: usize) -> &Linear {
        &self.without[part(index)]
    }
}

fn part(index: usize) -> usize {
    (mix(index as u64) % PARTS as u64) as usize
}

impl Crossed {
    /// Fits all learners, each going on from where it stands.
    pub(crate) fn fit(
        &mut self,
        samples: &[(Vector, u32)],
        (features, labels): (usize, usize),
        passes: usize,
    ) -> Fitted {
        let mut mean = vec![0.0_f32; rows_of(features) * labels];
        let mut without = Vec::with_capacity(PARTS);
        for (left_out, dual) in self.without.iter_mut().enumerate() {
            let weights = dual.fit(samples, |index| part(index) != left_out, (features, labels), passes);
            for (mean, weight) in mean.iter_mut().zip(&weights.all) {
                *mean += weight / PARTS as f32;
            }
            without.push(Linear::of(labels, &weights.all));
        }
        Fitted { all: Linear::of(labels, &mean), without }
    }

    /// Another sample takes the place of sample `index`.
    pub(crate) fn forget(&mut self, index: usize) {
        self.without.iter_mut().for_each(|dual| dual.forget(index));
    }
}
