//! The clock of the process: the one place that asks what time it is.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use schema::Timestamp;

/// The wall clock. Before 1970 and after 9999 it stands still at the nearest moment a ledger can name.
#[expect(clippy::disallowed_methods, reason = "this is the clock that the rest of the process is given")]
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    Timestamp::from_millis(millis).unwrap_or(Timestamp::LAST)
}

/// A stopwatch that no change of the wall clock disturbs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that the rest of the process is given")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn millis(self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
