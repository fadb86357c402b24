//! Counting for all nodes, in Redis, as long as it answers.
//!
//! Whoever gets no answer counts alone from then on, and nobody waits for Redis until it is seen to answer again: a Redis
//! that is away costs those who were asking it just then their patience, and nobody else anything.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use nodes::RedisLimits;
use telemetry::metrics::Counter;

use super::bucket::{Draw, How, Level};

/// How often it is tried whether Redis answers again.
const TRY_EVERY: Duration = Duration::from_millis(250);

/// The buckets of all nodes.
pub(super) struct Together {
    redis: RedisLimits,
    answers: AtomicBool,
    /// How often somebody was counted by this node alone.
    alone: Counter<0>,
}

impl Together {
    pub(super) fn new(redis: RedisLimits, alone: Counter<0>) -> Arc<Self> {
        Arc::new(Self { redis, answers: AtomicBool::new(true), alone })
    }

    /// Finds out whether Redis answers, which may take a second.
    pub(super) async fn meet(self: &Arc<Self>) {
        if let Err(error) = self.redis.answers().await {
            self.lost(&error);
        }
    }

    /// Draws for all nodes, from every bucket or from none. Nothing if Redis does not answer.
    pub(super) async fn draw(self: &Arc<Self>, draws: &[Draw]) -> Option<Vec<Level>> {
        if self.answers.load(Ordering::Relaxed) {
            let wanted: Vec<nodes::Draw> = draws.iter().map(wanted).collect();
            match self.redis.draw(&wanted).await {
                Ok(drawn) => return Some(draws.iter().zip(drawn).map(level).collect()),
                Err(error) => self.lost(&error),
            }
        }
        self.alone.increment([]);
        None
    }

    /// From now on this node counts alone. Told once, however many notice.
    fn lost(self: &Arc<Self>, error: &nodes::LimitError) {
        if self.answers.swap(false, Ordering::Relaxed) {
            let error = error as &dyn std::error::Error;
            tracing::warn!(error, "requests per minute are counted by this node alone, until Redis answers");
            tokio::spawn(until_found(Arc::downgrade(self)));
        }
    }
}

/// Tries until Redis answers, or nobody wants to know.
async fn until_found(together: Weak<Together>) {
    loop {
        tokio::time::sleep(TRY_EVERY).await;
        let Some(together) = together.upgrade() else { return };
        if together.redis.answers().await.is_ok() {
            together.answers.store(true, Ordering::Relaxed);
            tracing::info!("requests per minute are counted for all nodes again");
            return;
        }
    }
}

fn wanted(Draw { bucket, rate, how }: &Draw) -> nodes::Draw {
    nodes::Draw {
        bucket: bucket.name(),
        cost: Duration::from_nanos(rate.cost()),
        limit: rate.limit(),
        at_most: u32::from(*how == How::Take),
    }
}

fn level((draw, drawn): (&Draw, nodes::Drawn)) -> Level {
    let missing = u64::try_from(drawn.missing.as_nanos()).unwrap_or(u64::MAX);
    Level { fits: drawn.taken > 0 || draw.rate.fits(missing) > 0, missing }
}
