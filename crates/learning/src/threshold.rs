//! Where to stop answering: the lowest trust above which answers are expected to hold often enough.
//!
//! How often answers of some trust differ is estimated from the compared ones, in steps of trust; how many requests have that
//! trust, from all recent ones. Which served answers were audited depends on nothing but their trust, so no step is biased.
//! The choice proves nothing: it is made from the past, and [`crate::proof`] counts what comes of it afterwards.

use serde::{Deserialize, Serialize};

/// One opinion that was compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// Its trust, as log-odds of agreeing.
    pub trust: f32,
    /// Whether live said the same.
    pub agreed: bool,
    /// How much it counts; older ones may count less.
    pub counts: f32,
}

/// What the evidence says about where to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The lowest trust that may answer. `None`: nothing may.
    pub threshold: Option<f32>,
    /// The expected disagreement above it, or the lowest that any threshold reaches.
    pub expected: f64,
    /// The share of recent requests above it.
    pub share: f64,
}

/// Steps of trust that recent requests are divided into.
const STEPS: usize = 48;
/// How many comparisons the expectation of the trust itself is worth in a step.
const PRIOR: f64 = 30.0;
/// Added to what the trust expects: log-odds have no floor, and live answers do.
const FLOOR: f64 = 0.001;

/// What a threshold is for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// To prove as soon as possible that disagreement is at most this: neither so low that errors delay the proof, nor so
    /// high that there is little to compare.
    Prove(f64),
    /// To answer as much as possible while disagreement stays at most this.
    Serve(f64),
}

impl Aim {
    /// How good it is to answer `share` of all requests with `rate` of them different. `None`: not at all.
    fn worth(self, rate: f64, share: f64) -> Option<f64> {
        match self {
            // Comparisons needed are about `ln(1/δ)` over this divergence; requests needed, that over the share.
            Self::Prove(most) => {
                (rate < 0.95 * most).then(|| share * (most - rate - rate * (most / rate.max(1e-9)).ln()))
            }
            Self::Serve(most) => (rate <= most).then_some(share),
        }
    }
}

/// The threshold that serves `aim` best, if disagreement is `inflation` times what the comparisons say.
#[must_use]
pub fn choose(compared: &[Compared], mut recent: Vec<f32>, aim: Aim, inflation: f64) -> Choice {
    recent.retain(|trust| trust.is_finite());
    recent.sort_by(|a, b| b.total_cmp(a));
    let mut edges: Vec<f32> =
        recent.chunks((recent.len() / STEPS).max(1)).map(|step| step[step.len() - 1]).collect();
    edges.dedup();
    let step_of = |trust: f32| edges.partition_point(|edge| *edge > trust);
    let mut steps = vec![Step::default(); edges.len()];
    for one in compared {
        if let Some(step) = steps.get_mut(step_of(one.trust)) {
            let counts = f64::from(one.counts);
            step.compared += counts;
            step.disagreed += if one.agreed { 0.0 } else { counts };
        }
    }
    for trust in &recent {
        if let Some(step) = steps.get_mut(step_of(*trust)) {
            step.recent += 1.0;
            step.expected += FLOOR + 1.0 / (1.0 + f64::from(*trust).exp());
        }
    }
    let mut choice = Choice { threshold: None, expected: 1.0, share: 0.0 };
    let mut best = 0.0;
    let (mut mass, mut bad) = (0.0, 0.0);
    for (step, edge) in steps.iter().zip(&edges) {
        let prior = step.expected / step.recent.max(1.0);
        mass += step.recent;
        bad += step.recent * (step.disagreed + PRIOR * prior) / (step.compared + PRIOR);
        let here = Choice { threshold: Some(*edge), expected: bad / mass, share: mass / recent.len() as f64 };
        match aim.worth(here.expected * inflation, here.share) {
            Some(worth) if worth >= best => (choice, best) = (here, worth),
            None if choice.threshold.is_none() && here.expected < choice.expected => {
                choice = Choice { threshold: None, ..here }
            }
            _ => {}
        }
    }
    choice
}

/// What came of earlier choices: if answers above the threshold differed more often than expected, the next choice expects more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Steering {
    expected: f64,
    seen: f64,
}

impl Steering {
    /// An answer above the threshold of `choice` was compared. What is long past counts little.
    pub fn compared(&mut self, choice: &Choice, agreed: bool) {
        const FADING: f64 = 0.998;
        self.expected = self.expected * FADING + choice.expected;
        self.seen = self.seen * FADING + if agreed { 0.0 } else { 1.0 };
    }

    /// How many times more often than expected answers differed.
    #[must_use]
    pub fn inflation(&self) -> f64 {
        ((self.seen + 1.0) / (self.expected + 1.0)).clamp(1.0, 4.0)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Step {
    compared: f64,
    disagreed: f64,
    recent: f64,
    expected: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(pairs: &[(f32, usize, usize)]) -> Vec<Compared> {
        let one = |trust, agreed| Compared { trust, agreed, counts: 1.0 };
        pairs
            .iter()
            .flat_map(|(trust, good, bad)| {
                std::iter::repeat_n(one(*trust, true), *good)
                    .chain(std::iter::repeat_n(one(*trust, false), *bad))
            })
            .collect()
    }

    #[test]
    fn what_holds_is_served_and_what_does_not_is_left() {
        let seen = compared(&[(6.0, 1000, 0), (2.0, 100, 100)]);
        let recent = seen.iter().map(|one| one.trust).collect();
        assert_eq!(choose(&seen, recent, Aim::Serve(0.01), 1.0).threshold, Some(6.0));
    }

    #[test]
    fn where_nothing_holds_the_best_that_was_seen_is_told() {
        let seen = compared(&[(3.0, 950, 50), (1.0, 500, 500)]);
        let recent = seen.iter().map(|one| one.trust).collect();
        let choice = choose(&seen, recent, Aim::Serve(0.01), 1.0);
        assert_eq!(choice.threshold, None);
        assert!((choice.expected - 0.05).abs() < 0.01, "{choice:?}");
    }

    #[test]
    fn nothing_seen_means_nothing_chosen() {
        assert_eq!(choose(&[], Vec::new(), Aim::Prove(0.01), 1.0).threshold, None);
    }
}
