//! Two clocks: the one everybody shares, and the one that never goes back.

use std::time::Duration;

use schema::Timestamp;

/// When something happens to a worker.
///
/// Leases and due times are agreed on in wall time, which may jump. How long a worker has waited is told by `elapsed`
/// alone: a clock that is put back must not make it hold on to a lease that has long run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// What the wall clock says.
    pub wall: Timestamp,
    /// How long the worker has been running.
    pub elapsed: Duration,
}

impl Moment {
    /// The wall clock after `wait`; the last moment there is if that lies beyond it.
    #[must_use]
    pub fn wall_after(self, wait: Duration) -> Timestamp {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Timestamp::from_millis(self.wall.as_millis().saturating_add(millis)).unwrap_or(Timestamp::LAST)
    }

    /// How long until the wall clock says `at`; zero if it has.
    #[must_use]
    pub fn until(self, at: Timestamp) -> Duration {
        Duration::from_millis(at.as_millis().saturating_sub(self.wall.as_millis()))
    }
}
