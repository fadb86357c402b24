//! How long an upstream takes to begin its answer: a moving average, overall and for each model.
//!
//! Models differ by orders of magnitude, so targets are compared by what they took for the model in question. The
//! number of models is bounded, for a name may come from a caller; models past the bound are not told apart.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// The weight of a new sample is one in this many.
const SMOOTHING: u64 = 5;
/// How many models are told apart.
const MODELS: usize = 64;

/// The moving averages of one upstream.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    overall: Average,
    models: RwLock<HashMap<Box<str>, Average>>,
}

impl Latencies {
    /// Takes in that `model` began its answer after `took`.
    pub(super) fn observe(&self, model: &str, took: Duration) {
        self.overall.add(took);
        let models = self.models.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(average) = models.get(model) {
            return average.add(took);
        }
        drop(models);
        let mut models = self.models.write().unwrap_or_else(PoisonError::into_inner);
        if models.len() < MODELS || models.contains_key(model) {
            models.entry(model.into()).or_default().add(took);
        }
    }

    /// What `model` takes, if it was ever asked.
    pub(super) fn of(&self, model: &str) -> Option<Duration> {
        self.models.read().unwrap_or_else(PoisonError::into_inner).get(model).and_then(Average::get)
    }

    /// What an answer takes here, whatever the model.
    pub(super) fn overall(&self) -> Option<Duration> {
        self.overall.get()
    }
}

/// Microseconds; zero is "never". Two samples at the same moment may lose one of them, which an average does not mind.
#[derive(Debug, Default)]
struct Average(AtomicU64);

impl Average {
    fn add(&self, took: Duration) {
        let sample = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).clamp(1, u64::MAX / SMOOTHING);
        let new = match self.0.load(Ordering::Relaxed) {
            0 => sample,
            old => (old.saturating_mul(SMOOTHING - 1).saturating_add(sample) / SMOOTHING).max(1),
        };
        self.0.store(new, Ordering::Relaxed);
    }

    fn get(&self) -> Option<Duration> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&micros| micros > 0).map(Duration::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_average_follows_the_samples_of_its_own_model() {
        let latencies = Latencies::default();
        assert_eq!(latencies.of("small"), None);
        for _ in 0..40 {
            latencies.observe("small", ms(100));
            latencies.observe("large", ms(5_000));
        }
        assert_eq!(latencies.of("small"), Some(ms(100)));
        latencies.observe("small", ms(600));
        assert_eq!(latencies.of("small"), Some(ms(200)));
        assert_eq!(latencies.of("large"), Some(ms(5_000)));
    }

    #[test]
    fn made_up_model_names_do_not_fill_the_memory() {
        let latencies = Latencies::default();
        for number in 0..10_000 {
            latencies.observe(&format!("made-up-{number}"), ms(1));
        }
        assert_eq!(latencies.models.read().unwrap().len(), MODELS);
        assert_eq!(latencies.overall(), Some(ms(1)));
    }
}
