//! How a worker works.

use std::num::NonZeroU32;
use std::time::Duration;

/// How a worker works. The defaults suit a worker inside the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many jobs it runs at once.
    pub concurrency: NonZeroU32,
    /// How long a job is its own without a sign of life; a third of it passes between two signs. After a crash others
    /// wait this long.
    pub lease: Duration,
    /// It looks for work no more often than this while it finds none.
    pub poll_min: Duration,
    /// It looks for work at least this often, whatever the store says: a clock may jump, a notification get lost.
    pub poll_max: Duration,
    /// After a stop, running jobs have this long to finish.
    pub grace: Duration,
}

/// Why a worker cannot work like that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// There would be no time to renew it.
    #[error("a lease of {0:?} is too short; at least 1 s is needed to renew it in time")]
    Lease(Duration),
    /// The bounds are the wrong way round, or the store would be asked without a pause.
    #[error("poll bounds {min:?} to {max:?} do not fit; expected 1 ms <= min <= max")]
    Poll {
        /// The lower bound.
        min: Duration,
        /// The upper bound.
        max: Duration,
    },
}

impl Default for Options {
    fn default() -> Self {
        Self {
            concurrency: NonZeroU32::MIN.saturating_add(3),
            lease: Duration::from_secs(30),
            poll_min: Duration::from_millis(50),
            poll_max: Duration::from_secs(10),
            grace: Duration::from_secs(10),
        }
    }
}

impl Options {
    /// Whether a worker can work like that.
    pub fn check(&self) -> Result<(), OptionsError> {
        if self.lease < Duration::from_secs(1) {
            return Err(OptionsError::Lease(self.lease));
        }
        if self.poll_min < Duration::from_millis(1) || self.poll_max < self.poll_min {
            return Err(OptionsError::Poll { min: self.poll_min, max: self.poll_max });
        }
        Ok(())
    }

    /// How long after a sign of life the next one is sent.
    pub(crate) fn beat(&self) -> Duration {
        self.lease / 3
    }

    /// How long after a sign of life that the store did not answer the next one is sent.
    pub(crate) fn beat_again(&self) -> Duration {
        self.lease / 12
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_cannot_work_are_refused_by_name() {
        assert_eq!(Options::default().check(), Ok(()));
        let short = Options { lease: Duration::from_millis(10), ..Options::default() };
        assert_eq!(short.check(), Err(OptionsError::Lease(Duration::from_millis(10))));
        for (min, max) in [(0, 10), (20, 10)] {
            let (min, max) = (Duration::from_millis(min), Duration::from_millis(max));
            let refused = Options { poll_min: min, poll_max: max, ..Options::default() }.check();
            assert_eq!(refused, Err(OptionsError::Poll { min, max }));
        }
    }
}
