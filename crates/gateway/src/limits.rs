//! How often somebody may ask.
//!
//! Whoever shows a key is counted by the key, a person without one by who they are, everybody else by the address. Every
//! address is counted once more, whoever asks from it, and so is every person, whatever they show. `bucket.rs` is what a
//! bucket is, `table.rs` the buckets of this process, `together.rs` those of all nodes, `tally.rs` what answers say of it.
//!
//! - Where nodes share a Redis, each request is drawn from the buckets there. This node learns what Redis says: while that
//!   is nothing left, nobody is asked, so whoever is refused costs no trip.
//! - Whatever Redis says or forgets, a node lets no more through than it would alone. So there is always a limit, and
//!   without an answer nobody is refused for it: N nodes let through N times the limit at most, until Redis is back.
//! - Whoever is refused by one bucket takes nothing of the others that are asked with it. (Of this process's own table it may
//!   when two requests meet in the last moment of a bucket.)

mod bucket;
mod table;
mod tally;
mod together;

use std::net::IpAddr;
use std::sync::Arc;

use governor::clock::{Clock, DefaultClock};
use nodes::RedisLimits;
use schema::UserId;
use telemetry::metrics::Metrics;

pub(crate) use self::bucket::Who;
use self::bucket::{Bucket, Draw, How, Level, Rate, What};
use self::table::Table;
pub(crate) use self::tally::Tally;
use self::together::Together;
use crate::gate::Surface;

/// How many wrong credentials an address may show a minute.
const FAILURES: u32 = 30;
/// With more callers than this at once, those without a key share buckets by network.
const CROWD: usize = 100_000;

/// How many requests a minute callers have; 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// On REST.
    pub requests_per_minute: u32,
    /// On the model wires.
    pub chat_requests_per_minute: u32,
    /// Of one person, whatever they show.
    pub user_requests_per_minute: u32,
    /// From one address, whoever asks.
    pub ip_requests_per_minute: u32,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            requests_per_minute: 300,
            chat_requests_per_minute: 600,
            user_requests_per_minute: 0,
            ip_requests_per_minute: 6_000,
        }
    }
}

impl Rates {
    /// No limits.
    pub const NONE: Self = Self {
        requests_per_minute: 0,
        chat_requests_per_minute: 0,
        user_requests_per_minute: 0,
        ip_requests_per_minute: 0,
    };
}

/// Who asks for what, once that is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking {
    pub(crate) who: Who,
    /// The person behind it, if there is one.
    pub(crate) user: Option<UserId>,
    pub(crate) surface: Surface,
    /// What the key says for itself.
    pub(crate) own: Option<u32>,
    /// The address, if what was shown could have been guessed.
    pub(crate) guessed_from: Option<IpAddr>,
}

/// What came of counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// What was shown may be a lucky guess: too many wrong ones came from the address.
    Guessing(Tally),
    /// The request is counted, or refused. Nothing where there is no limit.
    Request(Option<Tally>),
}

/// The buckets of everybody.
pub(crate) struct Limits<C: Clock = DefaultClock> {
    rates: Rates,
    /// What this node let through.
    own: Table<C>,
    /// What Redis said of the buckets of all nodes, and what this node let through when Redis said nothing.
    learned: Table<C>,
    together: Option<Arc<Together>>,
}

impl Limits {
    /// Buckets of this process, or of all that share `redis`.
    pub(crate) fn new(rates: Rates, redis: Option<RedisLimits>, metrics: &Metrics) -> Self {
        let together = redis.map(|redis| {
            let help = "Requests counted by this node alone, because Redis did not answer";
            Together::new(redis, metrics.counter("punk_limits_alone", help, []))
        });
        let table = || Table::new(DefaultClock::default());
        Self { rates, own: table(), learned: table(), together }
    }

    /// Finds out who else counts, before anybody asks.
    pub(crate) async fn meet(&self) {
        if let Some(together) = &self.together {
            together.meet().await;
        }
    }
}

impl<C: Clock> Limits<C> {
    /// Counts one request of somebody.
    pub(crate) async fn count(&self, asking: Asking) -> Counted {
        let usual = match asking.surface {
            Surface::Model => self.rates.chat_requests_per_minute,
            Surface::Rest => self.rates.requests_per_minute,
        };
        let (who, person) = (asking.who, asking.user.map(Who::User));
        let draws = [
            asking.guessed_from.and_then(|from| self.failures(from, How::Look)),
            person.and_then(|who| self.wanted(who, What::Person, self.rates.user_requests_per_minute)),
            self.wanted(who, What::Requests(asking.surface), asking.own.unwrap_or(usual)),
        ];
        let drawn = self.draw(draws).await;
        match drawn {
            Drawn { refused_by: Some(What::Failures), tally: Some(tally) } => Counted::Guessing(tally),
            Drawn { tally, .. } => Counted::Request(tally),
        }
    }

    /// Counts one request of an address, before it is known who asks.
    pub(crate) async fn count_address(&self, address: IpAddr) -> Option<Tally> {
        let wanted = self.wanted(Who::Address(address), What::Address, self.rates.ip_requests_per_minute);
        self.draw([wanted]).await.tally
    }

    /// Counts one wrong credential.
    pub(crate) async fn count_failure(&self, address: IpAddr) -> Option<Tally> {
        self.draw([self.failures(address, How::Take)]).await.tally
    }

    fn failures(&self, address: IpAddr, how: How) -> Option<Draw> {
        self.wanted(Who::Address(address), What::Failures, FAILURES).map(|draw| Draw { how, ..draw })
    }

    fn wanted(&self, who: Who, what: What, limit: u32) -> Option<Draw> {
        let rate = Rate::new(limit)?;
        Some(Draw { bucket: Bucket { who: self.crowded(who), what }, rate, how: How::Take })
    }

    /// Draws from every bucket, or from none if one has no room.
    async fn draw<const N: usize>(&self, draws: [Option<Draw>; N]) -> Drawn {
        let Some(together) = &self.together else { return draw_from(&self.own, draws) };
        // What was gone for all is gone until it has flown in again, so nobody need be asked for it.
        if let Some(refused) = refused(&self.learned, &draws) {
            return refused;
        }
        // Whatever others say, this node lets no more through than it would alone.
        let own = draw_from(&self.own, draws);
        let wanted: Vec<Draw> = draws.into_iter().flatten().collect();
        if own.refused_by.is_some() || wanted.is_empty() {
            return own;
        }
        // Redis counts later than this: so what is learned is never more than what is missing there.
        let asked_at = self.learned.now();
        let Some(levels) = together.draw(&wanted).await else { return draw_from(&self.learned, draws) };
        let mut drawn = Drawn::default();
        for (draw, level) in wanted.iter().zip(levels) {
            self.learned.learn(&draw.bucket, asked_at, level.missing);
            drawn.add(draw, level);
        }
        if drawn.refused_by.is_some() {
            wanted.iter().for_each(|draw| self.own.give_back(draw));
        }
        drawn
    }

    /// In a crowd of addresses, the network stands for them: memory stays bounded, and one network cannot get round its
    /// limit by having many addresses.
    fn crowded(&self, who: Who) -> Who {
        let Who::Address(address) = who else { return who };
        Who::Address(match address.to_canonical() {
            // A household has one such network to itself; counting single addresses would count nothing.
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
            IpAddr::V4(address) if self.own.len() > CROWD => {
                IpAddr::V4((u32::from(address) >> 16 << 16).into())
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// Draws from every bucket of a table, or from none if one has no room.
fn draw_from<const N: usize, C: Clock>(table: &Table<C>, draws: [Option<Draw>; N]) -> Drawn {
    if N > 1
        && let Some(refused) = refused(table, &draws)
    {
        return refused;
    }
    let mut drawn = Drawn::default();
    for draw in draws.into_iter().flatten() {
        drawn.add(&draw, table.draw(&draw));
    }
    drawn
}

/// What the first bucket says that has no room.
fn refused<C: Clock>(table: &Table<C>, draws: &[Option<Draw>]) -> Option<Drawn> {
    draws.iter().flatten().find_map(|draw| {
        let level = table.draw(&Draw { how: How::Look, ..*draw });
        let mut drawn = Drawn::default();
        drawn.add(draw, level);
        (!level.fits).then_some(drawn)
    })
}

/// What came of drawing from several buckets.
#[derive(Debug, Default)]
struct Drawn {
    refused_by: Option<What>,
    /// Of the bucket that refused, or of the one with the least left.
    tally: Option<Tally>,
}

impl Drawn {
    fn add(&mut self, draw: &Draw, level: Level) {
        // The first one that refuses says when to come back.
        if self.refused_by.is_some() {
            return;
        }
        let tally = Tally::of(draw.rate, level);
        if tally.refused() {
            (self.refused_by, self.tally) = (Some(draw.bucket.what), Some(tally));
        } else if draw.how == How::Take && self.tally.is_none_or(|least| tally.remaining <= least.remaining) {
            self.tally = Some(tally);
        }
    }
}

#[cfg(test)]
mod tests;
