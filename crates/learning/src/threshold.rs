//! Where to stop answering: the lowest trust above which answers are expected to hold often enough.
//!
//! How often answers above some trust differ is what the trust itself says, corrected by what came of the compared ones above it;
//! how many requests have that trust is known from all recent ones.
//! The choice proves nothing: it is made from the past, and [`crate::proof`] counts what comes of it afterwards.

use artifact::classify::weigh;
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

impl Compared {
    /// Rows of evidence, whether each agreed and how much it counts, with the trust that these weights say.
    pub(crate) fn weighed<const N: usize>(rows: &[([f32; N], bool, f32)], trust: &[f32]) -> Vec<Self> {
        let weighed = rows.iter().map(|(evidence, agreed, counts)| Self {
            trust: weigh(trust, evidence),
            agreed: *agreed,
            counts: *counts,
        });
        weighed.collect()
    }
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
    /// How far off the trust was for what was compared above it: the factor on what a trust says of itself.
    pub off: f64,
}

impl Choice {
    /// The disagreement that is expected of an answer with this trust.
    #[must_use]
    pub fn expects(&self, trust: f32) -> f64 {
        (expected(trust) * self.off).min(1.0)
    }
}

/// Thresholds that are tried, so many requests apart.
const STEPS: usize = 96;
/// What the trust expects is worth one disagreement for so many that it was learned from, within these bounds: where hardly
/// anything ever differed, it knows no more than its few rows.
const LEARNED_FROM: f64 = 50.0;
const WORTH_OF_TRUST: (f64, f64) = (0.5, 10.0);
/// Added to what the trust expects: log-odds have no floor, and live answers do.
const FLOOR: f64 = 0.001;

/// In standard deviations, how far from what is expected the truth is supposed to be while serving.
const CAUTION: f64 = 1.6;

/// What a threshold is for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// To prove as soon as possible that disagreement is at most this: whatever helps the proof is compared.
    Prove(f64),
    /// To answer as much as possible while disagreement stays at most this.
    Serve(f64),
}

impl Aim {
    /// The same, using only this part of the promise while serving.
    #[must_use]
    pub const fn within(self, room: f64) -> Self {
        match self {
            Self::Prove(most) => Self::Prove(most),
            Self::Serve(most) => Self::Serve(most * room),
        }
    }

    /// Whether a threshold is low enough no more: above it answers differ with chance `rate`, just above it with chance `edge`.
    fn allows(self, rate: f64, edge: f64) -> bool {
        match self {
            // Every comparison is staked for itself, so all help that are expected to win anything.
            Self::Prove(most) => rate < most && edge < WORTH * most,
            Self::Serve(most) => rate <= most,
        }
    }
}

/// Comparisons that are expected to differ more often than this part of what is promised prove next to nothing.
const WORTH: f64 = 0.9;

/// The threshold that serves `aim` best, if disagreement is `inflation` times what the comparisons say.
///
/// What is expected above a threshold is what the trust itself says, times how far off that was for all that was compared above
/// it. One disagreement among the surest therefore counts against all of them, and not against its nearest neighbours alone.
#[must_use]
pub fn choose(compared: &[Compared], mut recent: Vec<f32>, aim: Aim, inflation: f64) -> Choice {
    // While everything is compared, what came of earlier choices is among the comparisons already.
    let (inflation, doubted): (f64, fn(f64) -> f64) = match aim {
        Aim::Prove(_) => (1.0, |_| 1.0),
        Aim::Serve(_) => (inflation, doubted),
    };
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
            step.foreseen += counts * expected(one.trust);
            step.squared += counts * counts * expected(one.trust);
            step.disagreed += if one.agreed { 0.0 } else { counts };
        }
    }
    for trust in &recent {
        if let Some(step) = steps.get_mut(step_of(*trust)) {
            step.recent += 1.0;
            step.expected += expected(*trust);
        }
    }
    let differed = compared.iter().filter(|one| !one.agreed).count();
    let prior = (differed as f64 / LEARNED_FROM).clamp(WORTH_OF_TRUST.0, WORTH_OF_TRUST.1);
    let mut choice = Choice { threshold: None, expected: 1.0, share: 0.0, off: 1.0 };
    let mut above = Step::default();
    for (step, edge) in steps.iter().zip(&edges) {
        above.add(step);
        // Comparisons that stand for many are fewer than they count.
        let (disagreed, foreseen) = (above.disagreed * above.worth(), above.foreseen * above.worth());
        let off = (disagreed + prior) / (foreseen + prior);
        // Few comparisons leave much doubt, and many leave little: that, and no fixed part of the promise, is the room.
        let doubted = inflation * doubted(disagreed + prior);
        let here = Choice {
            threshold: Some(*edge),
            expected: above.expected / above.recent * off,
            share: above.recent / recent.len() as f64,
            off: off * inflation,
        };
        let edge_rate = step.expected / step.recent.max(1.0) * off;
        if aim.allows(here.expected * doubted, edge_rate) {
            choice = here;
        } else if choice.threshold.is_none() && here.expected < choice.expected {
            choice = Choice { threshold: None, ..here };
        }
    }
    choice
}

/// The disagreement that a trust says of itself.
fn expected(trust: f32) -> f64 {
    FLOOR + 1.0 / (1.0 + f64::from(trust).exp())
}

/// How far above what `count` events say their mean may well be: the quantile of a gamma distribution at [`CAUTION`], after
/// Wilson and Hilferty, as a factor.
fn doubted(count: f64) -> f64 {
    (1.0 - 1.0 / (9.0 * count) + CAUTION / (3.0 * count.sqrt())).powi(3)
}

/// So many disagreements as expected are supposed to have been seen already: two audits that differ in a row are often chance.
const SLOWNESS: f64 = 12.0;

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
        ((self.seen + SLOWNESS) / (self.expected + SLOWNESS)).clamp(0.5, 4.0)
    }
}

/// What lies between two thresholds, or above one: comparisons with what was foreseen of them, requests with what is expected.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    disagreed: f64,
    foreseen: f64,
    squared: f64,
    recent: f64,
    expected: f64,
}

impl Step {
    /// How many comparisons there are for what they count.
    fn worth(&self) -> f64 {
        if self.squared > 0.0 { self.foreseen / self.squared } else { 1.0 }
    }

    fn add(&mut self, other: &Self) {
        self.disagreed += other.disagreed;
        self.foreseen += other.foreseen;
        self.squared += other.squared;
        self.recent += other.recent;
        self.expected += other.expected;
    }
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
    fn the_same_rate_is_served_after_many_comparisons_and_not_after_few() {
        let served = |times: usize| {
            let seen = compared(&[(4.9, 993 * times / 10, 7 * times / 10)]);
            let recent = seen.iter().map(|one| one.trust).collect();
            choose(&seen, recent, Aim::Serve(0.01), 1.0).threshold.is_some()
        };
        assert_eq!((served(10), served(100)), (false, true));
    }

    #[test]
    fn an_audit_that_stands_for_others_counts_for_them_but_is_no_more_certain() {
        let one = |agreed, counts| Compared { trust: 4.0, agreed, counts };
        let choice = |seen: Vec<Compared>| choose(&seen, vec![4.0; 100], Aim::Prove(1.0), 1.0).expected;
        let (plain, standing): (Vec<_>, Vec<_>) =
            (0..400).map(|at| (one(at >= 20, 1.0), one(at >= 20, 4.0))).unzip();
        assert!((choice(plain) - choice(standing)).abs() < 1e-9);
    }

    #[test]
    fn nothing_seen_means_nothing_chosen() {
        assert_eq!(choose(&[], Vec::new(), Aim::Prove(0.01), 1.0).threshold, None);
    }
}
