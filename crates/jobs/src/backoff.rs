//! How long to wait before trying again.

use std::time::Duration;

const BASE_MILLIS: u64 = 1_000;
const CAP_MILLIS: u64 = 3_600_000;

/// The wait after `attempts` failed attempts: anything from nothing to `1 s * 2^(attempts - 1)`, at most an hour.
///
/// The whole range is drawn from (full jitter), so that jobs which failed together do not come back together. The
/// same `random` gives the same wait.
#[must_use]
pub fn backoff(attempts: u32, random: u64) -> Duration {
    share(ceiling(attempts), random)
}

/// The longest wait after `attempts` failed attempts.
fn ceiling(attempts: u32) -> u64 {
    // 2^12 s is more than an hour already.
    let doublings = attempts.saturating_sub(1).min(12);
    (BASE_MILLIS << doublings).min(CAP_MILLIS)
}

/// `random` out of all u64s, scaled to `0..=ceiling` milliseconds.
fn share(ceiling: u64, random: u64) -> Duration {
    Duration::from_millis(((u128::from(random) * u128::from(ceiling + 1)) >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ceiling_doubles_from_a_second_to_an_hour() {
        let ceilings: Vec<u64> = [0, 1, 2, 3, 4, 12, 13, 14, u32::MAX].map(|n| ceiling(n) / 1_000).into();
        assert_eq!(ceilings, [1, 1, 2, 4, 8, 2_048, 3_600, 3_600, 3_600]);
    }

    #[test]
    fn the_ends_of_the_range_are_reached() {
        assert_eq!(backoff(3, 0), Duration::ZERO);
        assert_eq!(backoff(3, u64::MAX), Duration::from_secs(4));
    }

    proptest! {
        #[test]
        fn a_wait_stays_between_nothing_and_its_ceiling(attempts: u32, random: u64) {
            let wait = backoff(attempts, random);
            prop_assert!(wait <= Duration::from_millis(ceiling(attempts)));
            prop_assert!(wait <= Duration::from_secs(3_600));
        }

        #[test]
        fn another_attempt_never_waits_less_with_the_same_draw(attempts in 0..u32::MAX, random: u64) {
            prop_assert!(backoff(attempts, random) <= backoff(attempts + 1, random));
        }

        #[test]
        fn a_higher_draw_never_waits_less(attempts: u32, one: u64, other: u64) {
            prop_assert!(backoff(attempts, one.min(other)) <= backoff(attempts, one.max(other)));
        }
    }
}
