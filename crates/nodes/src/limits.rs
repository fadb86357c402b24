//! Requests per minute in Redis: buckets that every node draws from.
//!
//! A bucket holds a minute and fills up evenly (GCRA); a request takes its share of the minute. `limits/draw.lua` draws
//! from several buckets in one trip, by the clock of Redis, so the nodes' own clocks do not matter.
//!
//! - What all nodes let through together is what one node alone would let through: Redis takes one step at a time.
//! - A bucket is forgotten as soon as it is full again, within a minute at the latest. Its name is a digest.
//! - Nobody waits for long: what is not answered within the patience is an error, and may have been counted or not.

use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Script};
use schema::Digest;
use tokio::time::timeout;

use crate::error::{ConnectError, LimitError};

/// How long a new connection may take, and Redis to show that it is there. A request does not wait for so long.
const CONNECTING: Duration = Duration::from_secs(1);

/// What is wanted of one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// Which.
    pub bucket: Digest,
    /// What one request takes: how long it takes until that has flown in again. Not zero.
    pub cost: Duration,
    /// How many requests a full bucket holds.
    pub limit: u32,
    /// How many requests to take at most; 0 is a look.
    pub at_most: u32,
}

/// What came of a [`Draw`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// How many requests were taken.
    pub taken: u32,
    /// How long it takes from now until the bucket is full.
    pub missing: Duration,
}

/// The buckets of an installation, in Redis.
pub struct RedisLimits {
    connection: ConnectionManager,
    draw: Script,
    patience: Duration,
}

impl RedisLimits {
    /// Buckets at `url`, which answers within `patience` or is given up on. Nobody is connected to yet.
    pub fn new(url: &str, patience: Duration) -> Result<Self, ConnectError> {
        let client = Client::open(url).map_err(ConnectError::Url)?;
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(CONNECTING))
            .set_response_timeout(Some(CONNECTING));
        let connection =
            ConnectionManager::new_lazy_with_config(client, config).map_err(ConnectError::Url)?;
        let draw = concat!(include_str!("limits/now.lua"), include_str!("limits/draw.lua"));
        Ok(Self { connection, draw: Script::new(draw), patience })
    }

    /// Draws from every bucket, or from none if one of them has no room for a single request. Which one that is shows what
    /// is missing in it.
    ///
    /// # Errors
    /// Redis did not answer in time. It may have counted nonetheless.
    pub async fn draw(&self, draws: &[Draw]) -> Result<Vec<Drawn>, LimitError> {
        self.ask(draws, self.patience).await
    }

    /// Whether Redis counts. It has a second for that, since it may have to be connected to.
    ///
    /// # Errors
    /// It does not.
    pub async fn answers(&self) -> Result<(), LimitError> {
        // A bucket of nobody's. That it is written to shows that this Redis takes writes.
        let bucket = Digest::from_bytes([0; 32]);
        let draw = Draw { bucket, cost: Duration::from_micros(1), limit: 1_000, at_most: 1 };
        self.ask(&[draw], CONNECTING).await.map(|_| ())
    }

    async fn ask(&self, draws: &[Draw], patience: Duration) -> Result<Vec<Drawn>, LimitError> {
        let mut script = self.draw.prepare_invoke();
        for Draw { bucket, cost, limit, at_most } in draws {
            let (cost, limit) = (nanos(*cost), u64::from(*limit));
            script
                .key(format!("punk:limit:{bucket}"))
                .arg(cost)
                .arg(cost.saturating_mul(limit))
                .arg(*at_most);
        }
        let mut connection = self.connection.clone();
        let asked = timeout(patience, script.invoke_async::<Vec<u64>>(&mut connection));
        let answer = asked.await.map_err(|_| LimitError::Late)?.map_err(LimitError::Unavailable)?;
        let drawn = answer.chunks_exact(2).map(|pair| Drawn {
            taken: u32::try_from(pair[0]).unwrap_or(u32::MAX),
            missing: Duration::from_nanos(pair[1]),
        });
        Ok(drawn.collect())
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
