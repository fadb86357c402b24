//! The bound on disagreement: valid at any moment, however often one looks, and however the artifact changes meanwhile.
//!
//! Before each comparison a stake `s` between 0 and 1 is put on agreement: the less disagreement is expected, the more. If the
//! chance of disagreement, given the past, is `p`, then `(1 − s)` in case of disagreement, else 1, times `exp(s·p)` is at most 1 on
//! average; so the product over all comparisons is a supermartingale, and by Ville's inequality it ever reaches `1/δ` with a
//! chance of at most `δ`. Therefore, for all moments at once, the mean of `p`, weighed by the stakes, is at most
//! `(ln(1/δ) + Σ ln(1/(1 − s)) over disagreements) / Σ s`. `docs/explanation/proof-of-artifacts.md` says it in plain words.

use serde::{Deserialize, Serialize};

/// What is promised: disagreement with live of at most `disagreement`, at confidence `1 - doubt`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// ε: the share of answers that may differ from live.
    pub disagreement: f64,
    /// δ: the chance that the proof is wrong.
    pub doubt: f64,
}

impl Default for Promise {
    fn default() -> Self {
        Self { disagreement: 0.01, doubt: 0.05 }
    }
}

/// How many answers were compared with live, and how many of them differed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Compared.
    pub compared: u64,
    /// Of them, different.
    pub disagreed: u64,
}

impl Tally {
    /// Counts one comparison.
    pub const fn add(&mut self, agreed: bool) {
        self.compared += 1;
        if !agreed {
            self.disagreed += 1;
        }
    }

    /// What was seen, as a share.
    #[must_use]
    pub fn rate(&self) -> f64 {
        if self.compared == 0 { 0.0 } else { self.disagreed as f64 / self.compared as f64 }
    }
}

/// The least and the most that is staked on one comparison. Less than all: what is expected can be wrong.
const STAKES: (f64, f64) = (0.05, 0.95);

/// What is staked on an answer that is expected to differ with chance `expected`, if `most` is promised. This wins soonest when
/// the expectation is right, and is as sound when it is not.
fn stake(expected: f64, most: f64) -> f64 {
    (1.0 - expected / most.max(1e-9)).clamp(STAKES.0, STAKES.1)
}

/// How a promise is to be proven, said before anything is compared: each way is given its part of the doubt beforehand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// By comparisons in the shadow alone.
    #[default]
    Shadow,
    /// By what a version says of recorded requests that it has not learned, and by the shadow if that takes too long.
    Replay,
}

impl Means {
    /// The part of the doubt that the replay may use.
    const fn replay(self) -> f64 {
        match self {
            Self::Shadow => 0.0,
            Self::Replay => 0.8,
        }
    }

    /// The part of the doubt that the `attempt`-th attempt of one pattern may use, from 1, so that all together use at most all of
    /// it. The first has most of what the replay leaves: most of what can be proven is proven by one of the two.
    fn part(self, attempt: u32) -> f64 {
        let first = 0.9 - self.replay();
        if attempt <= 1 {
            return first;
        }
        let later = f64::from(attempt - 1);
        (1.0 - self.replay() - first) * 6.0 / (std::f64::consts::PI.powi(2) * later * later)
    }
}

/// One run of comparisons that may prove the promise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The how-manieth of its pattern, from 1; the replay is 0.
    pub number: u32,
    /// What it saw.
    pub tally: Tally,
    /// Its part of the doubt. One that was kept without proves nothing.
    #[serde(default)]
    part: f64,
    staked: f64,
    lost: f64,
}

impl Attempt {
    /// A replay: what one version, made without them, says of recorded requests. Each is told with whether it agreed and how
    /// probable it was that it would not.
    #[must_use]
    pub fn replay(compared: impl Iterator<Item = (bool, f64)>, disagreement: f64) -> Self {
        let mut replay = Self::new(0, Means::Replay.replay());
        for (agreed, expected) in compared {
            replay.add(agreed, stake(expected, disagreement));
        }
        replay
    }

    const fn new(number: u32, part: f64) -> Self {
        Self { number, tally: Tally { compared: 0, disagreed: 0 }, part, staked: 0.0, lost: 0.0 }
    }

    fn add(&mut self, agreed: bool, stake: f64) {
        self.tally.add(agreed);
        self.staked += stake;
        if !agreed {
            self.lost -= (1.0 - stake).ln();
        }
    }

    /// The most that the mean disagreement can be, but for this attempt's part of `doubt`. One while little was compared.
    #[must_use]
    pub fn bound(&self, doubt: f64) -> f64 {
        ((self.lost - (self.part * doubt).ln()) / self.staked.max(1e-9)).min(1.0)
    }
}

/// The attempts to prove one promise. A disagreement begins another attempt beside those under way; each has its own part of
/// the doubt, so whichever succeeds first has proven it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    #[serde(default)]
    means: Means,
    attempts: Vec<Attempt>,
    begun: u32,
    /// The newest replay. What was once found wanting is not proven by the past again.
    replay: Option<Attempt>,
    is_anew: bool,
}

/// So many attempts are under way at most; the least promising gives way.
const MOST_ATTEMPTS: usize = 6;
/// Comparisons between the beginnings of two attempts.
const BETWEEN: u64 = 100;

impl Proof {
    /// Nothing is proven yet.
    #[must_use]
    pub fn new(means: Means) -> Self {
        Self { means, attempts: vec![Attempt::new(1, means.part(1))], begun: 1, replay: None, is_anew: false }
    }

    /// Counts one comparison, of an answer that was expected to differ with chance `expected` if `promise` is kept.
    pub fn add(&mut self, agreed: bool, expected: f64, promise: &Promise) {
        let stake = stake(expected, promise.disagreement);
        for attempt in &mut self.attempts {
            attempt.add(agreed, stake);
        }
        // Not after every one: each new attempt has less of the doubt.
        if !agreed && self.attempts.last().is_none_or(|youngest| youngest.tally.compared >= BETWEEN) {
            self.begin();
        }
    }

    /// The version in force was replayed over what is recorded.
    pub const fn replayed(&mut self, replay: Attempt) {
        if !self.is_anew && matches!(self.means, Means::Replay) {
            self.replay = Some(replay);
        }
    }

    /// Begins anew: what was compared so far does not count any more.
    pub fn start_over(&mut self) {
        (self.replay, self.is_anew) = (None, true);
        self.begun += 1;
        self.attempts = vec![Attempt::new(self.begun, self.means.part(self.begun))];
    }

    /// Whether an attempt has proven `promise`.
    #[must_use]
    pub fn holds(&self, promise: &Promise) -> bool {
        self.under_way().any(|attempt| attempt.bound(promise.doubt) <= promise.disagreement)
    }

    /// The attempt with the lowest bound, and that bound.
    #[must_use]
    pub fn best(&self, doubt: f64) -> (Attempt, f64) {
        let bounds = self.under_way().map(|attempt| (*attempt, attempt.bound(doubt)));
        bounds.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((Attempt::new(self.begun, 0.0), 1.0))
    }

    fn under_way(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().chain(&self.replay)
    }

    fn begin(&mut self) {
        if self.attempts.len() >= MOST_ATTEMPTS {
            // The first has most of the doubt, and stays.
            let bound = |at: &usize| self.attempts[*at].bound(1.0);
            if let Some(worst) = (1..self.attempts.len()).max_by(|a, b| bound(a).total_cmp(&bound(b))) {
                self.attempts.remove(worst);
            }
        }
        self.begun += 1;
        self.attempts.push(Attempt::new(self.begun, self.means.part(self.begun)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use artifact::text::mix;

    const PROMISE: Promise = Promise { disagreement: 0.01, doubt: 0.05 };

    fn after(compared: u64, disagreed: u64, expected: f64) -> Attempt {
        let mut attempt = Attempt::new(1, Means::Shadow.part(1));
        (0..compared).for_each(|at| attempt.add(at >= disagreed, stake(expected, 0.01)));
        attempt
    }

    #[test]
    fn some_three_hundred_clean_comparisons_prove_one_per_cent() {
        let needed = (1..).find(|n| after(*n, 0, 0.0).bound(0.05) <= 0.01).unwrap();
        assert!((320..335).contains(&needed), "{needed}");
    }

    #[test]
    fn who_expects_disagreements_bears_them_better() {
        let needed = |expected| (10..).find(|n| after(*n, 4, expected).bound(0.05) <= 0.01).unwrap();
        assert!(needed(0.003) < needed(0.0), "{} {}", needed(0.003), needed(0.0));
    }

    #[test]
    fn a_disagreement_makes_the_bound_larger_and_an_agreement_smaller() {
        let one = after(500, 1, 0.001);
        assert!(one.bound(0.05) > after(500, 0, 0.001).bound(0.05));
        assert!(one.bound(0.05) > after(501, 1, 0.001).bound(0.05));
    }

    #[test]
    fn all_attempts_together_spend_no_more_than_the_doubt() {
        for means in [Means::Shadow, Means::Replay] {
            let all = means.replay() + (1..10_000).map(|attempt| means.part(attempt)).sum::<f64>();
            assert!(all <= 1.0 && all > 0.999, "{all}");
        }
    }

    /// Looks after every comparison, which breaks an ordinary confidence bound; and expects far too little or anything at all.
    #[test]
    fn looking_all_the_time_breaks_the_promise_in_fewer_streams_than_the_doubt() {
        let draw = |seed: u64| (mix(seed) >> 11) as f64 / (1_u64 << 53) as f64;
        for guess in [0.0, 0.002, 0.02] {
            let broken = (0..400_u64)
                .filter(|stream| {
                    let mut proof = Proof::new(Means::Shadow);
                    (0..4000_u64).any(|at| {
                        let seed = mix(*stream) ^ at;
                        proof.add(draw(seed) >= 0.011, guess * draw(seed ^ 0xf00d_0000), &PROMISE);
                        proof.holds(&PROMISE)
                    })
                })
                .count();
            assert!(broken <= 20, "{broken} of 400");
        }
    }
}
