//! Drift of inputs: evidence that requests have become stranger than they were when an artifact began to serve.
//!
//! Whoever answers says of each request how strange it is, from 0 to 1: the share of words it does not know, or 1 where its guard
//! abstains. The first requests say what is usual. After that the Shiryaev–Roberts process of [`crate::drift`], with the factor
//! `1 + λ(x − m)` of a bet that the mean of `x` is above `m`, sums the evidence for a rise at every earlier moment; while the mean
//! is at most `m` it is `n` on average after `n` requests, whatever the distribution is.
//!
//! Strange requests prove nothing against the answers: an alarm is a reason to compare, not to demote.

use serde::{Deserialize, Serialize};

/// A watch over how strange requests are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// How many requests have said what is usual, and the sum of their strangeness.
    met: u32,
    sum: f64,
    /// One for a small rise, one for a jump.
    evidence: [f64; 2],
}

/// So many requests say what is usual.
const USUAL: u32 = 256;
/// How far the mean of so many may be below the truth, but for a chance of one in a hundred (Hoeffding): √(ln 100 / 2·256).
const MARGIN: f64 = 0.095;
/// A false alarm has a chance of at most [`FALSE_ALARM`] in so many requests.
const HORIZON: f64 = 10_000.0;
const FALSE_ALARM: f64 = 0.05;

impl Inputs {
    /// A request with this strangeness came. Says whether that is an alarm; what is usual is then learned anew.
    pub fn met(&mut self, strangeness: f64) -> bool {
        let strangeness = if strangeness.is_finite() { strangeness.clamp(0.0, 1.0) } else { 1.0 };
        if self.met < USUAL {
            self.met += 1;
            self.sum += strangeness;
            return false;
        }
        let usual = self.allowed();
        for (evidence, bet) in self.evidence.iter_mut().zip([1.0, 0.9 / usual]) {
            *evidence = (1.0 + *evidence) * (1.0 + bet * (strangeness - usual));
        }
        let is_alarm = self.evidence.iter().any(|sum| *sum >= 2.0 * HORIZON / FALSE_ALARM);
        if is_alarm {
            *self = Self::default();
        }
        is_alarm
    }

    /// What the mean strangeness may be.
    fn allowed(&self) -> f64 {
        (self.sum / f64::from(self.met.max(1)) + MARGIN).clamp(MARGIN, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use artifact::text::mix;

    fn draw(stream: u64, at: u64) -> f64 {
        (mix(mix(stream) ^ at) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// When the alarm comes in a stream whose strangeness is `before`, and `after` from request 1,000 on.
    fn alarm(stream: u64, before: fn(f64) -> f64, after: fn(f64) -> f64) -> Option<u64> {
        let mut inputs = Inputs::default();
        (0..11_000_u64).find(|at| {
            let strange = if *at < 1000 { before } else { after };
            inputs.met(strange(draw(stream, *at)))
        })
    }

    #[test]
    fn requests_that_stay_as_they_are_raise_no_alarm() {
        for kind in [|draw: f64| draw * 0.4, |draw: f64| f64::from(u8::from(draw < 0.3)), |_| 0.0] {
            let alarms = (0..100).filter(|stream| alarm(*stream, kind, kind).is_some()).count();
            assert!(alarms <= 5, "{alarms}");
        }
    }

    #[test]
    fn a_rise_by_a_third_of_the_range_is_seen_within_two_hundred_requests() {
        for stream in 0..100 {
            let seen = alarm(stream, |draw| draw * 0.4, |draw| 0.3 + draw * 0.5);
            assert!(seen.is_some_and(|at| (1000..1200).contains(&at)), "{seen:?}");
        }
    }

    #[test]
    fn fewer_strange_requests_are_no_alarm() {
        assert_eq!(alarm(1, |draw| 0.3 + draw * 0.3, |draw| draw * 0.1), None);
    }

    #[test]
    fn what_is_no_number_is_strange() {
        let mut inputs = Inputs::default();
        (0..300).for_each(|_| assert!(!inputs.met(0.0)));
        assert!((0..20).any(|_| inputs.met(f64::NAN)));
    }
}
