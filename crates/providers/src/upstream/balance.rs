//! Which target of a group is asked: by weight, and by how fast it has been.
//!
//! A target's share of the calls is its weight divided by its latency: twice as slow gets half as much. One draw decides.
//! A slow target keeps a tenth of what its weight alone would give it, so that its recovery is seen; a target that was
//! never asked counts as the fastest. Latency is what the target's model took to begin an answer, failures left out, or
//! an upstream that fails fast would be given everything.

use std::time::Duration;

/// What is known of a target when a choice is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) weight: u32,
    pub(super) latency: Option<Duration>,
}

/// Latencies below this are taken as equal: on a fast network the rest is noise.
const FASTEST: u64 = 1_000;
/// The slowest target is taken as at most this much slower than the fastest.
const SPREAD: u64 = 10;

/// The index of the chosen candidate, `random` being drawn from all u64s. Nothing, when there is no candidate.
///
/// A weight of zero is for targets that are asked only when no other is left.
pub(super) fn choose(candidates: &[Candidate], random: u64) -> Option<usize> {
    if candidates.len() < 2 {
        return (!candidates.is_empty()).then_some(0);
    }
    let micros = |latency: Duration| u64::try_from(latency.as_micros()).unwrap_or(u64::MAX).max(FASTEST);
    let best = candidates.iter().filter_map(|one| one.latency).map(micros).min().unwrap_or(FASTEST);
    let share = |one: &Candidate| {
        let own = one.latency.map_or(best, micros).min(best.saturating_mul(SPREAD));
        // Scaled so that the fastest has its weight times 2^16.
        u128::from(one.weight) * ((u128::from(best) << 16) / u128::from(own))
    };
    let total: u128 = candidates.iter().map(share).sum();
    let mut drawn = (u128::from(random).saturating_mul(total)) >> 64;
    for (index, candidate) in candidates.iter().enumerate() {
        let share = share(candidate);
        if drawn < share {
            return Some(index);
        }
        drawn -= share;
    }
    // All weights are zero: the first, as written in the configuration.
    Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How many of 10 000 evenly spread draws each candidate gets.
    fn draws(candidates: &[(u32, Option<u64>)]) -> Vec<u32> {
        let candidates: Vec<Candidate> = candidates
            .iter()
            .map(|&(weight, millis)| Candidate { weight, latency: millis.map(Duration::from_millis) })
            .collect();
        let mut counts = vec![0; candidates.len()];
        for draw in 0..10_000u64 {
            counts[choose(&candidates, draw * (u64::MAX / 10_000) + u64::MAX / 20_000).unwrap()] += 1;
        }
        counts
    }

    #[test]
    fn weights_are_kept_over_many_draws() {
        assert_eq!(draws(&[(3, None), (1, None)]), [7_500, 2_500]);
        assert_eq!(draws(&[(3, Some(400)), (1, Some(400))]), [7_500, 2_500]);
        assert_eq!(draws(&[(1, None), (0, None), (1, None)]), [5_000, 0, 5_000]);
    }

    #[test]
    fn a_slow_target_gets_less_and_never_nothing() {
        assert_eq!(draws(&[(1, Some(200)), (1, Some(600))]), [7_500, 2_500]);
        let counts = draws(&[(1, Some(100)), (1, Some(100_000))]);
        assert!((850..950).contains(&counts[1]), "{counts:?}");
    }

    #[test]
    fn a_target_that_was_never_asked_is_given_a_chance() {
        assert_eq!(draws(&[(1, Some(300)), (1, None)]), [5_000, 5_000]);
    }

    #[test]
    fn without_any_weight_the_first_is_asked() {
        assert_eq!(draws(&[(0, None), (0, None)]), [10_000, 0]);
        assert_eq!(choose(&[], 7), None);
    }

    proptest! {
        #[test]
        fn a_draw_always_falls_on_a_candidate_that_has_a_weight(
            candidates in prop::collection::vec((any::<u32>(), prop::option::of(any::<u64>())), 1..9), random: u64,
        ) {
            let candidates: Vec<Candidate> = candidates
                .into_iter()
                .map(|(weight, micros)| Candidate { weight, latency: micros.map(Duration::from_micros) })
                .collect();
            let chosen = choose(&candidates, random).unwrap();
            let any_weight = candidates.iter().any(|one| one.weight > 0);
            prop_assert!(candidates.len() == 1 || !any_weight || candidates[chosen].weight > 0);
        }
    }
}
