//! How often somebody may ask.
//!
//! Whoever shows a key is counted by the key, whoever does not by the address; and every address is counted once more,
//! whoever asks from it. A bucket holds a minute's worth and fills
//! up evenly (GCRA), so there is no edge of a minute at which twice as much gets through. It is one atomic word a caller;
//! callers whose bucket is full again are forgotten.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use http::{HeaderMap, HeaderName, HeaderValue};
use schema::ApiKeyId;

use crate::gate::Surface;

/// A bucket holds this many drops and fills up within a minute, whatever the limit is; a request takes its share of them.
/// That way one table serves every limit. The number makes a drop 20 ns.
const DROPS: NonZeroU32 = NonZeroU32::new(3_000_000_000).unwrap();
const MINUTE: Duration = Duration::from_secs(60);
/// How many wrong credentials an address may show a minute.
const FAILURES: u32 = 30;
/// After so many requests callers with a full bucket are forgotten.
const SWEEP_EVERY: u64 = 4_096;
/// With more callers than this at once, those without a key share buckets by network.
const CROWD: usize = 100_000;

/// How many requests a minute callers have; 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// On REST.
    pub requests_per_minute: u32,
    /// On the model wires.
    pub chat_requests_per_minute: u32,
    /// From one address, whoever asks.
    pub ip_requests_per_minute: u32,
}

impl Default for Rates {
    fn default() -> Self {
        Self { requests_per_minute: 300, chat_requests_per_minute: 600, ip_requests_per_minute: 6_000 }
    }
}

impl Rates {
    /// No limits.
    pub const NONE: Self =
        Self { requests_per_minute: 0, chat_requests_per_minute: 0, ip_requests_per_minute: 0 };
}

/// Who is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Key(ApiKeyId),
    Address(IpAddr),
}

/// What a bucket is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Requests(Surface),
    Address,
    Failures,
}

type Bucket = (Who, What);
type Buckets<C> = RateLimiter<Bucket, DashMapStateStore<Bucket>, C, StateInformationMiddleware>;

/// The buckets of everybody.
pub(crate) struct Limits<C: Clock = DefaultClock> {
    rates: Rates,
    buckets: Buckets<C>,
    clock: C,
    counted: AtomicU64,
}

/// What was counted, for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    limit: u32,
    remaining: u32,
    /// Until the bucket is full again.
    reset: Duration,
    /// Until there is room for one more, if there was none.
    retry: Option<Duration>,
}

impl Limits {
    pub(crate) fn new(rates: Rates) -> Self {
        Self::with_clock(rates, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Limits<C> {
    fn with_clock(rates: Rates, clock: C) -> Self {
        let buckets = RateLimiter::new(Quota::per_minute(DROPS), DashMapStateStore::default(), clock.clone());
        Self { rates, buckets, clock, counted: AtomicU64::new(0) }
    }

    /// Counts one request. `own` is what the key says for itself. Nothing when there is no limit.
    pub(crate) fn count(&self, who: Who, surface: Surface, own: Option<u32>) -> Option<Tally> {
        let usual = match surface {
            Surface::Model => self.rates.chat_requests_per_minute,
            Surface::Rest => self.rates.requests_per_minute,
        };
        self.take((who, What::Requests(surface)), own.unwrap_or(usual))
    }

    /// Counts one request of an address, before it is known who asks.
    pub(crate) fn count_address(&self, address: IpAddr) -> Option<Tally> {
        self.take((Who::Address(address), What::Address), self.rates.ip_requests_per_minute)
    }

    /// Counts one wrong credential.
    pub(crate) fn count_failure(&self, address: IpAddr) -> Option<Tally> {
        self.take((Who::Address(address), What::Failures), FAILURES)
    }

    /// Until when the address has shown too many wrong credentials, if it has.
    pub(crate) fn guessing(&self, address: IpAddr) -> Option<Tally> {
        let bucket = (self.crowded(Who::Address(address)), What::Failures);
        let cost = DROPS.get() / FAILURES;
        // A look costs a drop, which is nothing: a failure costs a hundred million.
        let left = match self.buckets.check_key_n(&bucket, NonZeroU32::MIN) {
            Ok(Ok(state)) => state.remaining_burst_capacity(),
            Ok(Err(_)) | Err(_) => 0,
        };
        (left < cost).then(|| Tally {
            limit: FAILURES,
            remaining: 0,
            reset: to_fill(DROPS.get() - left),
            retry: Some(to_fill(cost - left)),
        })
    }

    fn take(&self, bucket: Bucket, limit: u32) -> Option<Tally> {
        let cost = NonZeroU32::new(DROPS.get().checked_div(limit)?)?;
        self.forget_some();
        let bucket = (self.crowded(bucket.0), bucket.1);
        match self.buckets.check_key_n(&bucket, cost) {
            Ok(Ok(state)) => {
                let left = state.remaining_burst_capacity();
                let remaining = (left / cost).min(limit.saturating_sub(1));
                Some(Tally { limit, remaining, reset: to_fill(DROPS.get() - left), retry: None })
            }
            Ok(Err(not_until)) => {
                let retry = not_until.wait_time_from(self.clock.now());
                // What is missing now is what is missing then, and what flows in until then.
                let reset = to_fill(DROPS.get() - cost.get()) + retry;
                Some(Tally { limit, remaining: 0, reset, retry: Some(retry) })
            }
            // A request that is dearer than a whole bucket: there is none, since no limit is below one.
            Err(_) => None,
        }
    }

    /// Forgets, now and then, whoever has not asked for a minute.
    fn forget_some(&self) {
        if self.counted.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.buckets.retain_recent();
        }
    }

    /// In a crowd of addresses, the network stands for them: memory stays bounded, and one network cannot get round its
    /// limit by having many addresses.
    fn crowded(&self, who: Who) -> Who {
        let Who::Address(address) = who else { return who };
        Who::Address(match address.to_canonical() {
            // A household has one such network to itself; counting single addresses would count nothing.
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
            IpAddr::V4(address) if self.buckets.len() > CROWD => {
                IpAddr::V4((u32::from(address) >> 16 << 16).into())
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// How long it takes until so many drops have flown in.
fn to_fill(drops: u32) -> Duration {
    MINUTE.mul_f64(f64::from(drops) / f64::from(DROPS.get()))
}

impl Tally {
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
fn ceil(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests;
