//! The bound on disagreement: valid at any moment, however often one looks, and however the artifact changes meanwhile.
//!
//! With `k` disagreements in `n` comparisons, whose chances given the past were `p₁ … pₙ`, the process
//! `M(θ) = θᵏ · exp((1 − θ) · Σpᵢ)` is a supermartingale for every `θ` in (0, 1). Averaged over `θ` with density `a·θᵃ⁻¹` it
//! is `a · Σⱼ μʲ / (s · (s+1) ⋯ (s+j))` with `s = k + a` and `μ = Σpᵢ`. By Ville's inequality it ever reaches `1/δ` with a
//! chance of at most `δ`; so the largest `μ` below that, divided by `n`, bounds the mean disagreement for all `n` at once.
//! `docs/explanation/proof-of-artifacts.md` says it in plain words.

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

/// Comparisons of one attempt to prove.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many answers were compared with live.
    pub compared: u64,
    /// How many of them differed.
    pub disagreed: u64,
}

/// Small: the fewest clean comparisons until the first promise, at a price when there are disagreements.
const SHAPE: f64 = 0.25;

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

    /// Whether the mean disagreement is at most `most`, but for a chance of `doubt`: [`bound`](Self::bound) in one step.
    #[must_use]
    pub fn proves(&self, most: f64, doubt: f64) -> bool {
        let total = most * self.compared as f64;
        let seen = self.disagreed as f64;
        // No mixture of bets wins more than the best of them, which is cheap to know.
        let best = if seen > 0.0 { total - seen - seen * (total / seen).ln() } else { total };
        total > seen && best >= -doubt.ln() && ln_wealth(seen + SHAPE, total) >= -doubt.ln()
    }

    /// The most that the mean disagreement can be, but for a chance of `doubt`. One while nothing was compared.
    #[must_use]
    pub fn bound(&self, doubt: f64) -> f64 {
        if self.compared == 0 {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, self.disagreed as f64 * 2.0 + 64.0);
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if ln_wealth(self.disagreed as f64 + SHAPE, middle) < -doubt.ln() {
                low = middle;
            } else {
                high = middle;
            }
        }
        (high / self.compared as f64).min(1.0)
    }
}

/// The logarithm of the averaged process.
fn ln_wealth(start: f64, total: f64) -> f64 {
    // Terms grow until `start + j` passes `total`; scaling by the largest so far keeps them finite.
    let (mut ln_term, mut ln_largest, mut sum) = (-start.ln(), f64::MIN, 0.0_f64);
    let mut at = 0.0;
    loop {
        if ln_term > ln_largest {
            sum = sum * (ln_largest - ln_term).exp() + 1.0;
            ln_largest = ln_term;
        } else {
            let part = (ln_term - ln_largest).exp();
            sum += part;
            if part < 1e-12 {
                break;
            }
        }
        at += 1.0;
        if total <= 0.0 {
            break;
        }
        ln_term += total.ln() - (start + at).ln();
    }
    SHAPE.ln() + ln_largest + sum.ln()
}

/// The doubt that the `attempt`-th attempt of one pattern may use (from 1), so that all attempts together use at most all of it.
#[must_use]
pub fn spend(doubt: f64, attempt: u32) -> f64 {
    if attempt <= 1 {
        return FIRST * doubt;
    }
    let later = f64::from(attempt - 1);
    (1.0 - FIRST) * doubt * 6.0 / (std::f64::consts::PI.powi(2) * later * later)
}

/// What the first attempt may use: most of it, because most of what can be proven is proven at once.
const FIRST: f64 = 0.65;

/// One run of comparisons that may prove the promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The how-manieth of its pattern, from 1.
    pub number: u32,
    /// What it saw.
    pub tally: Tally,
}

/// The attempts to prove one promise. A disagreement begins another attempt beside those under way; each has its own part of
/// the doubt, so whichever succeeds first has proven it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    attempts: Vec<Attempt>,
    begun: u32,
}

/// So many attempts are under way at most; the least promising gives way.
const MOST_ATTEMPTS: usize = 6;
/// Comparisons between the beginnings of two attempts.
const BETWEEN: u64 = 100;

impl Default for Proof {
    fn default() -> Self {
        Self { attempts: vec![Attempt { number: 1, tally: Tally::default() }], begun: 1 }
    }
}

impl Proof {
    /// Counts one comparison.
    pub fn add(&mut self, agreed: bool) {
        for attempt in &mut self.attempts {
            attempt.tally.add(agreed);
        }
        // Not after every one: each new attempt has less of the doubt.
        if !agreed && self.attempts.last().is_none_or(|youngest| youngest.tally.compared >= BETWEEN) {
            self.begin();
        }
    }

    /// Begins anew: what was compared so far does not count any more.
    pub fn start_over(&mut self) {
        self.begun += 1;
        self.attempts = vec![Attempt { number: self.begun, tally: Tally::default() }];
    }

    /// Whether an attempt has proven `promise`.
    #[must_use]
    pub fn holds(&self, promise: &Promise) -> bool {
        let Promise { disagreement, doubt } = *promise;
        self.attempts.iter().any(|attempt| attempt.tally.proves(disagreement, spend(doubt, attempt.number)))
    }

    /// The attempt with the lowest bound, and that bound.
    #[must_use]
    pub fn best(&self, doubt: f64) -> (Attempt, f64) {
        let nothing = Attempt { number: self.begun, tally: Tally::default() };
        let bounds =
            self.attempts.iter().map(|attempt| (*attempt, attempt.tally.bound(spend(doubt, attempt.number))));
        bounds.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((nothing, 1.0))
    }

    fn begin(&mut self) {
        if self.attempts.len() >= MOST_ATTEMPTS {
            let rate = |at: &usize| self.attempts[*at].tally.rate();
            if let Some(worst) = (0..self.attempts.len()).max_by(|a, b| rate(a).total_cmp(&rate(b))) {
                self.attempts.remove(worst);
            }
        }
        self.begun += 1;
        self.attempts.push(Attempt { number: self.begun, tally: Tally::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use artifact::text::mix;

    #[test]
    fn under_four_hundred_clean_comparisons_prove_one_per_cent() {
        let needed =
            (1..).find(|n| Tally { compared: *n, disagreed: 0 }.bound(spend(0.05, 1)) <= 0.01).unwrap();
        assert!((330..420).contains(&needed), "{needed}");
    }

    #[test]
    fn a_disagreement_makes_the_bound_larger_and_an_agreement_smaller() {
        let one = Tally { compared: 500, disagreed: 1 };
        assert!(one.bound(0.05) > Tally { compared: 500, disagreed: 0 }.bound(0.05));
        assert!(one.bound(0.05) > Tally { compared: 501, disagreed: 1 }.bound(0.05));
    }

    #[test]
    fn proving_and_the_bound_say_the_same() {
        for (compared, disagreed) in
            (300..1500).step_by(7).flat_map(|compared| (0..6).map(move |disagreed| (compared, disagreed)))
        {
            let tally = Tally { compared, disagreed };
            assert_eq!(tally.proves(0.01, 0.03), tally.bound(0.03) <= 0.01, "{tally:?}");
        }
    }

    #[test]
    fn all_attempts_together_spend_no_more_than_the_doubt() {
        let all: f64 = (1..10_000).map(|attempt| spend(0.05, attempt)).sum();
        assert!(all <= 0.05 && all > 0.0499, "{all}");
    }

    /// Looks after every comparison, which breaks an ordinary confidence bound.
    #[test]
    fn looking_all_the_time_breaks_the_promise_in_fewer_streams_than_the_doubt() {
        let chance = 0.011;
        let broken = (0..400_u64)
            .filter(|stream| {
                let mut tally = Tally::default();
                (0..4000_u64).any(|at| {
                    let draw = (mix(mix(*stream) ^ at) >> 11) as f64 / (1_u64 << 53) as f64;
                    tally.add(draw >= chance);
                    tally.proves(0.01, 0.05)
                })
            })
            .count();
        assert!(broken <= 20, "{broken} of 400");
    }

    #[test]
    fn many_comparisons_neither_overflow_nor_take_long() {
        let bound = Tally { compared: 10_000_000, disagreed: 50_000 }.bound(0.05);
        assert!((0.005..0.0053).contains(&bound), "{bound}");
    }
}
