//! What was counted, and how answers tell it.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::bucket::{Level, Rate};

/// What was counted, for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(super) limit: u32,
    pub(super) remaining: u32,
    /// Until the bucket is full again.
    pub(super) reset: Duration,
    /// Until there is room for one more, if there was none.
    retry: Option<Duration>,
}

impl Tally {
    pub(super) fn of(rate: Rate, Level { fits, missing }: Level) -> Self {
        Self {
            limit: rate.limit(),
            remaining: if fits { rate.fits(missing) } else { 0 },
            reset: Duration::from_nanos(missing),
            retry: (!fits).then(|| rate.wait(missing)),
        }
    }

    pub(crate) fn refused(&self) -> bool {
        self.retry.is_some()
    }

    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    /// Whole seconds to wait, at least one.
    pub(crate) fn retry_after(&self) -> u64 {
        self.retry.map_or(0, |retry| ceil(retry).max(1))
    }

    /// Says so in the headers of the IETF draft, and in those that the vendors' clients read.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let Self { limit, remaining, reset, .. } = *self;
        let seconds = ceil(reset);
        let mut put = |name: &'static str, text: String| {
            if let Ok(value) = HeaderValue::try_from(text) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        put("ratelimit-policy", format!("\"requests\";q={limit};w=60"));
        put("ratelimit", format!("\"requests\";r={remaining};t={seconds}"));
        put("x-ratelimit-limit-requests", limit.to_string());
        put("x-ratelimit-remaining-requests", remaining.to_string());
        put("x-ratelimit-reset-requests", format!("{seconds}s"));
        if self.refused() {
            put("retry-after", self.retry_after().to_string());
        }
    }
}

/// Seconds, rounded up.
pub(super) fn ceil(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}
