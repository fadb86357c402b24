//! What an answer costs: the median of many, in microseconds.

use std::time::Instant;

/// The median time of `work` over `items`.
pub(crate) fn median<T>(items: &[T], mut work: impl FnMut(&T)) -> f64 {
    let mut times: Vec<f64> = items
        .iter()
        .map(|item| {
            let begun = Instant::now();
            work(item);
            begun.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}
