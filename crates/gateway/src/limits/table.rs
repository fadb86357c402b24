//! The buckets that this process knows of: one atomic word each, and those that are full again are forgotten.

use std::sync::atomic::{AtomicU64, Ordering};

use governor::clock::{Clock, Reference as _};
use governor::nanos::Nanos;
use governor::state::StateStore as _;
use governor::state::keyed::{DashMapStateStore, ShrinkableKeyedStateStore as _};

use super::bucket::{Bucket, Draw, How, Level, drawn};

/// After so many requests callers with a full bucket are forgotten.
pub(super) const SWEEP_EVERY: u64 = 4_096;

/// A table of buckets. Of each it knows when it will be full, in nanoseconds since the start.
pub(super) struct Table<C: Clock> {
    full_at: DashMapStateStore<Bucket>,
    clock: C,
    start: C::Instant,
    counted: AtomicU64,
}

impl<C: Clock> Table<C> {
    pub(super) fn new(clock: C) -> Self {
        let start = clock.now();
        Self { full_at: DashMapStateStore::default(), clock, start, counted: AtomicU64::new(0) }
    }

    /// Nanoseconds since the start.
    pub(super) fn now(&self) -> u64 {
        self.clock.now().duration_since(self.start).as_u64()
    }

    /// How many buckets are not known to be full.
    pub(super) fn len(&self) -> usize {
        self.full_at.len()
    }

    /// Draws from a bucket of this table.
    pub(super) fn draw(&self, draw: &Draw) -> Level {
        let now = self.now();
        self.forget_some(now);
        let drawn = self.full_at.measure_and_replace(&draw.bucket, |full_at| {
            let before = full_at.map_or(0, Nanos::as_u64).saturating_sub(now);
            let level = drawn(draw.rate, draw.how, before);
            // What changes nothing is not written.
            if level.missing == before { Err(level) } else { Ok((level, Nanos::new(now + level.missing))) }
        });
        drawn.unwrap_or_else(|unchanged| unchanged)
    }

    /// Gives back what a draw took a moment ago.
    pub(super) fn give_back(&self, Draw { bucket, rate, how }: &Draw) {
        let taken = if *how == How::Take { rate.cost() } else { 0 };
        // Of a bucket that was forgotten meanwhile nothing is missing.
        let _ = self.full_at.measure_and_replace(bucket, |full_at| {
            let full_at = full_at.ok_or(())?.as_u64();
            Ok::<_, ()>(((), Nanos::new(full_at.saturating_sub(taken))))
        });
    }

    /// Takes note that at least so much of a bucket was missing at a moment.
    pub(super) fn learn(&self, bucket: &Bucket, at: u64, missing: u64) {
        let full = at + missing;
        // That it was known already is no error.
        let _ = self.full_at.measure_and_replace(bucket, |full_at| {
            let known = full_at.map_or(0, Nanos::as_u64);
            if known >= full { Err(()) } else { Ok(((), Nanos::new(full))) }
        });
    }

    /// Forgets, now and then, whoever has not asked for a minute.
    fn forget_some(&self, now: u64) {
        if self.counted.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.full_at.retain_recent(Nanos::new(now));
        }
    }
}
