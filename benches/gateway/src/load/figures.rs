//! What is told of a load. Pure.

use std::time::Duration;

use serde::Serialize;

use super::answer::Timing;

/// One load on one target, in figures. Times are microseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Figures {
    pub(crate) requests: usize,
    pub(crate) errors: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_error: Option<String>,
    pub(crate) per_second: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) first_byte_p50: f64,
    /// Over streams, of the largest gap in each; the one before the final frame alone is not among them.
    pub(crate) gap_p99: f64,
    pub(crate) final_gap_p50: f64,
    pub(crate) final_gap_p99: f64,
    /// Of the target's processes, for each request.
    pub(crate) cpu: Option<f64>,
    pub(crate) rss_mb: Option<f64>,
}

/// What the target used in the time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spent {
    pub(super) cpu: Duration,
    pub(super) rss_bytes: u64,
}

impl Figures {
    pub(super) fn of(
        timings: &[Timing],
        took: Duration,
        spent: Option<Spent>,
        errors: u64,
        first_error: Option<String>,
    ) -> Self {
        let sorted = |part: fn(&Timing) -> Duration| {
            let mut times: Vec<f64> = timings.iter().map(|timing| micros(part(timing))).collect();
            times.sort_by(f64::total_cmp);
            times
        };
        let (whole, final_gap) = (sorted(|timing| timing.whole), sorted(|timing| timing.final_gap));
        let requests = timings.len();
        Self {
            requests,
            errors,
            first_error,
            per_second: requests as f64 / took.as_secs_f64(),
            p50: percentile(&whole, 0.5),
            p99: percentile(&whole, 0.99),
            first_byte_p50: percentile(&sorted(|timing| timing.first_byte), 0.5),
            gap_p99: percentile(&sorted(|timing| timing.largest_gap), 0.99),
            final_gap_p50: percentile(&final_gap, 0.5),
            final_gap_p99: percentile(&final_gap, 0.99),
            cpu: spent.filter(|_| requests > 0).map(|spent| micros(spent.cpu) / requests as f64),
            rss_mb: spent.map(|spent| spent.rss_bytes as f64 / f64::from(1 << 20)),
        }
    }

    /// Whether anything can be said by it: answers came, and hardly any failed.
    pub(crate) fn is_sound(&self) -> bool {
        self.requests > 0 && self.errors * 100 <= self.requests as u64
    }
}

/// A time in microseconds.
pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The smallest of `sorted` that at least this share of them does not exceed; zero of nothing.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or_default()
}

/// The one in the middle, or the mean of the two that are; nothing of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&hundred, 0.5), 50.0);
        assert_eq!(percentile(&hundred, 0.99), 99.0);
        assert_eq!(percentile(&[7.0], 0.99), 7.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn a_median_of_two_lies_between_them() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([1.0, 2.0]), Some(1.5));
    }

    #[test]
    fn cpu_is_shared_among_the_requests_that_were_answered() {
        let timing = Timing { whole: Duration::from_micros(10), ..Timing::default() };
        let spent = Spent { cpu: Duration::from_micros(300), rss_bytes: 2 << 20 };
        let figures = Figures::of(&[timing; 3], Duration::from_secs(2), Some(spent), 0, None);
        assert_eq!((figures.cpu, figures.rss_mb, figures.per_second), (Some(100.0), Some(2.0), 1.5));
        assert!(figures.is_sound());
        assert!(!Figures::of(&[], Duration::from_secs(1), Some(spent), 0, None).is_sound());
    }

    proptest! {
        #[test]
        fn a_share_of_the_values_is_not_above_its_percentile(
            mut values in prop::collection::vec(0.0..1e6f64, 1..200), share in 0.01..1.0f64,
        ) {
            values.sort_by(f64::total_cmp);
            let limit = percentile(&values, share);
            let within = values.iter().filter(|value| **value <= limit).count() as f64;
            prop_assert!(within >= values.len() as f64 * share);
        }
    }
}
