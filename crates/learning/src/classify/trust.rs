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
    /// Whether it is known only because the version that was serving then was not sure of it.
    #[serde(default)]
    pub(crate) was_unsure: bool,
}

/// What was learned about trust.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Trust {
    /// How the evidence is weighed; the constant comes last.
    pub(crate) weights: Vec<f32>,
    /// Per answer, and per answer with its rival: the logarithm of how much worse than its evidence it did.
    pub(crate) by_label: BTreeMap<u32, f32>,
    pub(crate) by_pair: BTreeMap<(u32, u32), f32>,
    /// The trust in what was seen, the crossed ones first, each judged by what came before it.
    pub(crate) in_seen: Vec<f32>,
}

/// What an answer is supposed to have done before it did anything.
const PRIOR: f64 = 1.0;
const OWN: usize = EVIDENCE - 4;

/// What is fitted beside the evidence and no part of any answer: that a sample is there because it was doubted, alone and by its margin.
const DOUBTED: usize = 2;
/// Where [`Evidence`] has the margin.
const MARGIN: usize = 1;

/// One opinion to fit to: its evidence and doubt, whether it agreed, and how much it counts.
type Row = ([f32; EVIDENCE + DOUBTED], bool, f32);

/// Learns from what the version in force says of every sample (`crossed`), and from what versions said before (`former`).
///
/// While a version serves, what it is sure of is known by audits only, and what it doubts always. Where a later version is sure of what was
/// doubted, it is wrong more often than its evidence says: others found reason for doubt. Such rows therefore say by a weight of their own how
/// much worse they are, and trust is told without it, because nobody has doubted the next request before.
///
/// How an answer did is told to each row from the rows before it only. Told from all others, whoever was wrong would be known by
/// the one mistake that is missing from the rest: trust would then seem to know noise, and the threshold would believe it.
pub(crate) fn learn(crossed: &[Seen], former: &[Seen], start: &[f32]) -> Trust {
    let all = || crossed.iter().chain(former);
    let mut rows: Vec<Row> = all().map(|one| (row(one, 0.0, 0.0), one.agreed, 1.0)).collect();
    let plain = fit(&rows, &[]);
    let (ours, theirs) = rows.split_at_mut(crossed.len());
    // The same requests are in both, so neither may tell the other.
    let records = told(crossed, ours, &plain);
    told(former, theirs, &plain);
    let weights = fit(&rows, start);
    Trust {
        in_seen: rows.iter().map(|row| weigh(&weights, &row.0[..EVIDENCE])).collect(),
        weights,
        by_label: records.by_label.into_iter().map(|(label, excess)| (label, excess.ln())).collect(),
        by_pair: records.by_pair.into_iter().map(|(pair, excess)| (pair, excess.ln())).collect(),
    }
}

/// What the evidence weighs, once what was doubted is accounted for.
fn fit(rows: &[Row], start: &[f32]) -> Vec<f32> {
    let mut start = start.to_vec();
    if start.len() > EVIDENCE {
        start.splice(EVIDENCE..EVIDENCE, [0.0; DOUBTED]);
    }
    let mut weights = logistic::fit(rows, &start);
    weights.drain(EVIDENCE..EVIDENCE + DOUBTED);
    weights
}

/// The row of an opinion, given how its answer and its pair did.
fn row(seen: &Seen, excess: f32, rivalry: f32) -> [f32; EVIDENCE + DOUBTED] {
    let mut own = [0.0; OWN];
    own.copy_from_slice(&seen.evidence[..OWN]);
    let mut row = [0.0; EVIDENCE + DOUBTED];
    row[..EVIDENCE].copy_from_slice(&with_standing(own, excess, rivalry));
    if seen.was_unsure {
        row[EVIDENCE..].copy_from_slice(&[1.0, own[MARGIN]]);
    }
    row
}

/// How each answer, and each with its rival, did.
#[derive(Default)]
struct Records {
    by_label: BTreeMap<u32, Excess>,
    by_pair: BTreeMap<(u32, u32), Excess>,
}

/// Tells each row how its answer and its pair did in the rows before it.
fn told(seen: &[Seen], rows: &mut [Row], plain: &[f32]) -> Records {
    let mut records = Records::default();
    for (one, of) in seen.iter().zip(rows) {
        let part = Excess::of(weigh(plain, &of.0[..EVIDENCE]), one.agreed);
        let label = records.by_label.entry(one.label).or_default();
        let pair = records.by_pair.entry((one.label, one.rival)).or_default();
        of.0 = row(one, label.ln(), pair.ln());
        label.add(part);
        pair.add(part);
    }
    records
}

/// Disagreements seen and expected, among opinions that looked sure.
#[derive(Debug, Clone, Copy, Default)]
struct Excess {
    seen: f64,
    expected: f64,
}

impl Excess {
    fn of(trust: f32, agreed: bool) -> Self {
        let trust = f64::from(trust);
        let sure = 1.0 / (1.0 + (1.5 - trust).exp());
        Self { seen: if agreed { 0.0 } else { sure }, expected: sure / (1.0 + trust.exp()) }
    }

    fn add(&mut self, other: Self) {
        self.seen += other.seen;
        self.expected += other.expected;
    }

    fn ln(self) -> f32 {
        ((self.seen + PRIOR) / (self.expected + PRIOR)).ln() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use artifact::text::mix;

    #[test]
    fn noise_that_nothing_foretells_is_not_taken_for_knowledge() {
        let row = |at: u64| {
            let mut evidence = [0.0; EVIDENCE];
            evidence[0] = 1.0 + (mix(at ^ 0x77) % 100) as f32 / 100.0;
            evidence[1] = evidence[0] / 2.0;
            let (label, agreed) = ((mix(at) % 3) as u32, !mix(at ^ 0xabc).is_multiple_of(50));
            Seen { evidence, label, rival: (label + 1) % 3, agreed, was_unsure: false }
        };
        let seen: Vec<Seen> = (0..3000).map(row).collect();
        let trust = learn(&seen, &[], &[]);
        let mut order: Vec<usize> = (0..seen.len()).collect();
        order.sort_by(|a, b| trust.in_seen[*b].total_cmp(&trust.in_seen[*a]));
        let wrong = order[..1500].iter().filter(|at| !seen[**at].agreed).count();
        let all = seen.iter().filter(|one| !one.agreed).count();
        assert!(wrong * 3 >= all, "{wrong} of {all} disagreements are among the surer half");
    }

    #[test]
    fn what_is_known_because_it_was_doubted_does_not_speak_for_the_rest() {
        let row = |at: u64| {
            let mut evidence = [0.0; EVIDENCE];
            evidence[0] = 1.0 + (mix(at ^ 0x77) % 100) as f32 / 100.0;
            evidence[1] = evidence[0] / 2.0;
            let was_unsure = at >= 1000;
            let agreed = !mix(at).is_multiple_of(if was_unsure { 10 } else { 100 });
            Seen { evidence, label: (at % 3) as u32, rival: 3, agreed, was_unsure }
        };
        let seen: Vec<Seen> = (0..3000).map(row).collect();
        let expected = |seen: &[Seen]| {
            let trust = learn(seen, &[], &[]);
            trust.in_seen[..1000].iter().map(|trust| 1.0 / (1.0 + trust.exp())).sum::<f32>()
        };
        let differed = seen[..1000].iter().filter(|one| !one.agreed).count() as f32;
        let told = expected(&seen);
        assert!((told - differed).abs() < 0.5 * differed, "{told} of {differed}");
        let hidden: Vec<Seen> = seen.iter().map(|one| Seen { was_unsure: false, ..one.clone() }).collect();
        let untold = expected(&hidden);
        assert!(untold > 4.0 * differed, "{untold} of {differed}");
    }
}
