//! How long to wait before the same upstream is asked again.

use std::time::Duration;

/// The longest first wait.
const BASE: Duration = Duration::from_millis(250);
/// The longest wait of all.
const CAP: Duration = Duration::from_secs(5);

/// The wait before the `n`th repetition, from 1: anything from nothing to `250 ms * 2^(n - 1)`, at most 5 s.
///
/// The whole range is drawn from (full jitter), so that calls which failed together do not come back together.
pub(super) fn backoff(repetition: u32, random: u64) -> Duration {
    share(ceiling(repetition), random)
}

/// The wait that an upstream asked for, and up to 250 ms more: everybody was told the same time.
pub(super) fn as_told(wait: Duration, random: u64) -> Duration {
    wait + share(BASE, random)
}

fn ceiling(repetition: u32) -> Duration {
    // 2^5 * 250 ms is above the cap already.
    BASE.saturating_mul(1 << repetition.saturating_sub(1).min(5)).min(CAP)
}

/// `random` out of all u64s, scaled to `0..=ceiling` in microseconds.
fn share(ceiling: Duration, random: u64) -> Duration {
    let micros = (u128::from(random) * (ceiling.as_micros() + 1)) >> 64;
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ceiling_doubles_from_a_quarter_second_to_five() {
        let ceilings = [0, 1, 2, 3, 5, 6, u32::MAX].map(|n| ceiling(n).as_millis());
        assert_eq!(ceilings, [250, 250, 500, 1_000, 4_000, 5_000, 5_000]);
    }

    #[test]
    fn both_ends_of_the_range_are_reached() {
        assert_eq!(backoff(3, 0), Duration::ZERO);
        assert_eq!(backoff(3, u64::MAX), Duration::from_secs(1));
    }

    proptest! {
        #[test]
        fn a_wait_stays_below_its_ceiling(repetition: u32, random: u64) {
            prop_assert!(backoff(repetition, random) <= ceiling(repetition));
        }

        #[test]
        fn what_the_upstream_asked_for_is_never_undercut(millis in 0u64..100_000, random: u64) {
            let told = Duration::from_millis(millis);
            let wait = as_told(told, random);
            prop_assert!(wait >= told && wait <= told + BASE);
        }
    }
}
