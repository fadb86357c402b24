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
            Self::Replay => 0.9,
        }
    }

    /// What a look at a replay of `compared` answers weighs, after one at a replay of `before`, so that all together weigh at most what the
    /// replay may use of the doubt. The first weighs most: it alone goes on with what it has won, and what it lacks has to be won in the shadow,
    /// one comparison after the other. The others weigh by how much has come since.
    fn weight_of_look(self, before: u64, compared: u64) -> f64 {
        let reached = |compared: u64| (compared.clamp(FIRST_LOOK, LAST_LOOK) as f64).ln();
        let all = reached(LAST_LOOK) - reached(FIRST_LOOK);
        let first = OF_FIRST_LOOK * self.replay();
        let later = self.replay() - first;
        match (before, compared) {
            (_, ..FIRST_LOOK) => 0.0,
            (..FIRST_LOOK, _) => first + later * (reached(compared) - reached(FIRST_LOOK)) / all,
            _ => later * (reached(compared) - reached(before)).max(0.0) / all,
        }
    }

    /// The part of the doubt that the `attempt`-th attempt of one pattern may use, from 1, so that all together use at most all of
    /// it. Where there is a replay, little is left to them: most of what can be proven is proven by the replay and what goes on from it.
    fn part(self, attempt: u32) -> f64 {
        let first = match self {
            Self::Shadow => 0.9,
            Self::Replay => 0.05,
        };
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
    /// probable it was that it would not. It proves nothing until it is looked at.
    #[must_use]
    pub fn replay(compared: impl Iterator<Item = (bool, f64)>, disagreement: f64) -> Self {
        let mut replay = Self::new(0, 0.0);
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

    /// What a stake of one has become: one at most on average, if `disagreement` is what differs.
    fn won(&self, disagreement: f64) -> f64 {
        (disagreement * self.staked - self.lost).exp()
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
    /// The replay that was looked at last. What was once found wanting is not proven by the past again.
    replay: Option<Attempt>,
    /// How much the largest replay that was looked at had compared, and what all looks have won, by their weights.
    #[serde(default)]
    looked: (u64, f64),
    is_anew: bool,
}

/// So many attempts are under way at most; the least promising gives way.
const MOST_ATTEMPTS: usize = 6;
/// Comparisons between the beginnings of two attempts.
const BETWEEN: u64 = 100;
/// Replays of fewer answers than this cannot prove anything yet, and those of more do not prove what these did not.
const FIRST_LOOK: u64 = 400;
const LAST_LOOK: u64 = 6400;
/// What the first look weighs of all looks at replays.
const OF_FIRST_LOOK: f64 = 0.9;

impl Proof {
    /// Nothing is proven yet.
    #[must_use]
    pub fn new(means: Means) -> Self {
        let attempts = vec![Attempt::new(1, means.part(1))];
        Self { means, attempts, begun: 1, replay: None, looked: (0, 0.0), is_anew: false }
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

    /// The version in force was replayed over what is recorded. Each look is another chance to be lucky, so each has a weight. The first
    /// goes on in the shadow, and proves with a chance of at most its weight times `δ`. What all others have won, by their weights, is at most
    /// their weights on average: it ever reaches `1/δ` with a chance of at most these times `δ`.
    pub fn replayed(&mut self, replay: Attempt, promise: &Promise) {
        if self.is_anew || self.means != Means::Replay {
            return;
        }
        let (before, won) = self.looked;
        let compared = replay.tally.compared;
        let weight = self.means.weight_of_look(before, compared);
        if before < FIRST_LOOK && weight > 0.0 {
            // An attempt of its own: what it has won goes on being staked on what comes, so no later look need win it again.
            self.looked.0 = compared;
            self.attempts.insert(0, Attempt { part: weight, ..replay });
            return;
        }
        self.looked = (before.max(compared), won + weight * replay.won(promise.disagreement).min(1e9));
        let missing = 1.0 - promise.doubt * won;
        let part = match self.replay {
            // Once enough was won, a version that does worse takes it back until one does better.
            Some(last) if missing <= 0.0 => last.part,
            // So much of the doubt that it is proven when this look and those before it have won enough together.
            _ if weight > 0.0 => weight / missing.max(promise.doubt),
            _ => return,
        };
        self.replay = Some(Attempt { part, ..replay });
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
            // The first has most of the doubt, or what a look has won, and stays.
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
            let looks: f64 = (0..200).map(|at| means.weight_of_look(at * 50, at * 50 + 50)).sum();
            assert!((looks - means.replay()).abs() < 1e-9, "{looks}");
            let all = means.replay() + (1..10_000).map(|attempt| means.part(attempt)).sum::<f64>();
            assert!(all <= 1.0 && all > 0.999, "{all}");
        }
    }

    /// As many versions as one likes, each judged by all that is recorded: the more versions, the more chances to be lucky.
    #[test]
    fn replaying_version_after_version_breaks_the_promise_in_fewer_streams_than_the_doubt() {
        let draw = |seed: u64| (mix(seed) >> 11) as f64 / (1_u64 << 53) as f64;
        let proves = |stream: u64, rate: f64| {
            let mut proof = Proof::new(Means::Replay);
            (1..160_u64).any(|version| {
                // Versions agree about most of what is recorded, and not about all.
                let row = |at: u64| {
                    let same = draw(mix(stream) ^ at ^ 0xabcd_0000) < 0.8;
                    let seed = if same { at } else { at ^ (version << 32) };
                    (draw(mix(stream) ^ seed) >= rate, 0.004)
                };
                proof.replayed(Attempt::replay((0..version * 25).map(row), PROMISE.disagreement), &PROMISE);
                proof.holds(&PROMISE)
            })
        };
        let broken = (0..400).filter(|stream| proves(*stream, 0.0105)).count();
        assert!(broken <= 20, "{broken} of 400");
        let proven = (0..100).filter(|stream| proves(*stream, 0.002)).count();
        assert!(proven >= 95, "{proven} of 100");
    }

    #[test]
    fn what_the_first_look_has_won_goes_on_in_the_shadow() {
        let proven_after = |replayed: u64| {
            let mut proof = Proof::new(Means::Replay);
            proof.replayed(Attempt::replay((0..replayed).map(|_| (true, 0.004)), 0.01), &PROMISE);
            (0..2000).find(|_| {
                proof.add(true, 0.004, &PROMISE);
                proof.holds(&PROMISE)
            })
        };
        let (with, without) = (proven_after(FIRST_LOOK), proven_after(FIRST_LOOK - 1));
        assert!(with.unwrap() + FIRST_LOOK < without.unwrap(), "{with:?} {without:?}");
    }

    /// A first look that is as lucky as it may be, and comparisons after it, looked at after each.
    #[test]
    fn going_on_from_a_look_breaks_the_promise_in_fewer_streams_than_the_doubt() {
        let draw = |seed: u64| (mix(seed) >> 11) as f64 / (1_u64 << 53) as f64;
        let broken = (0..400_u64)
            .filter(|stream| {
                let row = |at: u64| (draw(mix(*stream) ^ at) >= 0.0105, 0.004);
                let mut proof = Proof::new(Means::Replay);
                proof.replayed(Attempt::replay((0..FIRST_LOOK).map(row), 0.01), &PROMISE);
                (FIRST_LOOK..4000).any(|at| {
                    proof.add(row(at).0, row(at).1, &PROMISE);
                    proof.holds(&PROMISE)
                })
            })
            .count();
        assert!(broken <= 20, "{broken} of 400");
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
