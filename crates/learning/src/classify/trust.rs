//! How far to trust an opinion, learned from what came of earlier ones: the evidence, then how the answer and its rival did beyond it.

use std::collections::BTreeMap;

use artifact::classify::{EVIDENCE, Evidence, weigh, with_standing};
use serde::{Deserialize, Serialize};

use super::logistic;

/// An opinion that was compared with live, as it was before live was heard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) evidence: Evidence,
    pub(crate) label: u32,
    pub(crate) rival: u32,
    pub(crate) agreed: bool,
    /// How much it counts.
    pub(crate) counts: f32,
}

/// What was learned about trust.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Trust {
    /// How the evidence is weighed; the constant comes last.
    pub(crate) weights: Vec<f32>,
    /// Per answer, and per answer with its rival: the logarithm of how much worse than its evidence it did.
    pub(crate) by_label: BTreeMap<u32, f32>,
    pub(crate) by_pair: BTreeMap<(u32, u32), f32>,
    /// The trust in what was seen, each judged as if it were not among the others.
    pub(crate) in_seen: Vec<f32>,
}

/// What an answer is supposed to have done before it did anything.
const PRIOR: f64 = 1.0;
const OWN: usize = EVIDENCE - 4;

/// Learns from `seen`.
pub(crate) fn learn(seen: &[Seen], start: &[f32]) -> Trust {
    let mut rows: Vec<([f32; EVIDENCE], bool, f32)> =
        seen.iter().map(|one| (with_standing(own(one), 0.0, 0.0), one.agreed, one.counts)).collect();
    let plain = logistic::fit(&rows, &[]);
    let mut by_label: BTreeMap<u32, Excess> = BTreeMap::new();
    let mut by_pair: BTreeMap<(u32, u32), Excess> = BTreeMap::new();
    let mut parts = Vec::with_capacity(seen.len());
    for (one, row) in seen.iter().zip(&rows) {
        let part = Excess::of(weigh(&plain, &row.0), one.agreed, one.counts);
        by_label.entry(one.label).or_default().add(part, 1.0);
        by_pair.entry((one.label, one.rival)).or_default().add(part, 1.0);
        parts.push(part);
    }
    for ((one, row), part) in seen.iter().zip(&mut rows).zip(parts) {
        let without = |all: Option<&Excess>| {
            let mut rest = all.copied().unwrap_or_default();
            rest.add(part, -1.0);
            rest.ln()
        };
        row.0 = with_standing(
            own(one),
            without(by_label.get(&one.label)),
            without(by_pair.get(&(one.label, one.rival))),
        );
    }
    let weights = logistic::fit(&rows, start);
    Trust {
        in_seen: rows.iter().map(|row| weigh(&weights, &row.0)).collect(),
        weights,
        by_label: by_label.into_iter().map(|(label, excess)| (label, excess.ln())).collect(),
        by_pair: by_pair.into_iter().map(|(pair, excess)| (pair, excess.ln())).collect(),
    }
}

fn own(seen: &Seen) -> [f32; OWN] {
    let mut own = [0.0; OWN];
    own.copy_from_slice(&seen.evidence[..OWN]);
    own
}

/// Disagreements seen and expected, among opinions that looked sure.
#[derive(Debug, Clone, Copy, Default)]
struct Excess {
    seen: f64,
    expected: f64,
}

impl Excess {
    fn of(trust: f32, agreed: bool, counts: f32) -> Self {
        let trust = f64::from(trust);
        let sure = f64::from(counts) / (1.0 + (1.5 - trust).exp());
        Self { seen: if agreed { 0.0 } else { sure }, expected: sure / (1.0 + trust.exp()) }
    }

    fn add(&mut self, other: Self, times: f64) {
        self.seen += other.seen * times;
        self.expected += other.expected * times;
    }

    fn ln(self) -> f32 {
        ((self.seen.max(0.0) + PRIOR) / (self.expected.max(0.0) + PRIOR)).ln() as f32
    }
}
