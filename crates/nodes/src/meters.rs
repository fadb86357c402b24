//! Meters in Redis: the same promises as [`store::MeterStore`], without a lock in the database.
//!
//! The database is the truth: what was spent is written there, in the commit of the run ([`store::Commit::settled`]).
//! Redis holds reservations, and for each meter a counter, which is a copy of what the database says plus what was settled
//! since. Start at [`TenantMeters::reserve`]; `asking.rs` is how a script is sent.
//!
//! - Of whatever is going on, the reservation or the spending is counted. [`TenantMeters::settled`] comes after the commit
//!   and takes away the one as it adds the other; whoever dies in between leaves the reservation, which ends by itself.
//! - A counter lives for half a minute and is then read from the database anew, so what went wrong in it heals. What is
//!   settled while it is read is noted (`learn.lua`), and it is read again; so no node puts an old sum in place of a new one.
//! - Where it cannot be told whether something is counted already, it is counted twice, until the next reading.
//! - A Redis that lost its memory does not know of the calls that are under way. Until they settle, as much as they will
//!   come to can be reserved by others. Nothing else is lost: the database knows what was spent.
//! - What could not be told to Redis is told as soon as it answers again.

mod asking;
mod owed;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Script};
use schema::{TenantId, Timestamp};
use store::{Level, MeterKey, ReservationId, Reserved, Settlement, Store, Want};

use self::owed::{Debt, Owed};
use crate::error::{ConnectError, MeterError};

/// How long a counter is good for.
const COUNTED: Duration = Duration::from_secs(30);
/// How long a reading of the database may take: one that takes longer begins anew. Less than a counter lives.
const LOADING: Duration = Duration::from_secs(10);
/// How much longer than needed a reservation is kept, for clocks that differ. It does not count by then.
const SLACK: Duration = Duration::from_secs(60);
/// How long Redis has for an answer, and for a new connection.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often a counter is read until it is there, and how often of these until it need not be exact.
const TRIES: u32 = 12;
const EXACT_TRIES: u32 = 4;
/// The largest number that a script gets: sums of three are exact.
const MOST: u64 = 1 << 51;

/// The meters of an installation, in Redis.
pub struct RedisMeters {
    truth: Arc<dyn Store>,
    connection: ConnectionManager,
    scripts: Scripts,
    /// Tells the readings of this node from those of others, also after a restart.
    node: [u8; 16],
    readings: AtomicU64,
    owed: Owed,
}

struct Scripts {
    reserve: Script,
    levels: Script,
    learn: Script,
    settled: Script,
}

impl Scripts {
    fn new() -> Self {
        let script = |text| Script::new(&format!("{}{text}", include_str!("meters/standing.lua")));
        Self {
            reserve: script(include_str!("meters/reserve.lua")),
            levels: script(include_str!("meters/levels.lua")),
            learn: script(include_str!("meters/learn.lua")),
            settled: script(include_str!("meters/settled.lua")),
        }
    }
}

impl RedisMeters {
    /// Meters at `url`, whose truth is in `truth`. `node` is random. Nobody is connected to yet: Redis may come later.
    pub fn new(url: &str, truth: Arc<dyn Store>, node: [u8; 16]) -> Result<Self, ConnectError> {
        let client = Client::open(url).map_err(ConnectError::Url)?;
        // One attempt at a time: whoever comes while Redis is away is told so, and the next one tries again.
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let connection =
            ConnectionManager::new_lazy_with_config(client, config).map_err(ConnectError::Url)?;
        let (scripts, readings, owed) = (Scripts::new(), AtomicU64::new(0), Owed::default());
        Ok(Self { truth, connection, scripts, node, readings, owed })
    }

    /// Whether Redis answers at `url`, and lets us in.
    pub async fn answers(url: &str) -> Result<(), ConnectError> {
        let client = Client::open(url).map_err(ConnectError::Url)?;
        let config = redis::AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let connection = client.get_multiplexed_async_connection_with_config(&config).await;
        let mut connection = connection.map_err(ConnectError::Silent)?;
        redis::cmd("PING").query_async(&mut connection).await.map_err(ConnectError::Silent)
    }

    /// The meters of one tenant.
    pub fn tenant(&self, tenant: TenantId) -> TenantMeters<'_> {
        TenantMeters { shared: self, tenant }
    }
}

/// The meters of one tenant: the handle carries it.
pub struct TenantMeters<'m> {
    shared: &'m RedisMeters,
    tenant: TenantId,
}

impl TenantMeters<'_> {
    /// See [`store::MeterStore::reserve`]. After an error nothing is reserved, or will not be when Redis answers again: so
    /// whoever tries again then takes another id.
    pub async fn reserve(
        &self,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, MeterError> {
        self.pay().await;
        let meters = demands(wants);
        let keys: Vec<MeterKey> = meters.keys().copied().collect();
        let asked = self.loaded(&keys, now, |name| self.try_reserve(id, &meters, now, until, name)).await;
        let (held, stands) = match asked {
            Ok(answer) => answer,
            Err(error) => {
                // It may have been reserved, and nobody would ever settle it.
                self.shared.owed.add(Debt { tenant: self.tenant, id, spent: Vec::new() });
                return Err(error);
            }
        };
        let stands: BTreeMap<MeterKey, (u64, u64)> = keys.into_iter().zip(stands).collect();
        let levels = wants.iter().map(|want| {
            let (spent, reserved) = stands.get(&want.key).copied().unwrap_or_default();
            Level { key: want.key, limit: want.limit, spent, reserved, amount: want.amount }
        });
        let levels = levels.collect();
        Ok(if held { Reserved::Held(levels) } else { Reserved::Short(levels) })
    }

    /// See [`store::MeterStore::release`]. After an error it is given back when Redis answers again.
    pub async fn release(&self, id: ReservationId) -> Result<(), MeterError> {
        self.end(Debt { tenant: self.tenant, id, spent: Vec::new() }).await
    }

    /// Takes note of a settlement, which must have been committed to the database. After an error its reservation is
    /// counted in its place, until Redis answers again.
    pub async fn settled(&self, settlement: &Settlement) -> Result<(), MeterError> {
        let Settlement { id, spent } = settlement.clone();
        self.end(Debt { tenant: self.tenant, id, spent }).await
    }

    /// See [`store::MeterStore::levels`].
    pub async fn levels(&self, keys: &[MeterKey], now: Timestamp) -> Result<Vec<(u64, u64)>, MeterError> {
        self.pay().await;
        let (_, stands) = self.loaded(keys, now, |name| self.try_levels(keys, now, name)).await?;
        Ok(stands)
    }
}

/// What is wanted of one meter.
struct Demand {
    amount: u64,
    /// The tightest of the limits that are in the way.
    hard: Option<u64>,
}

/// What is wanted of each meter.
fn demands(wants: &[Want]) -> BTreeMap<MeterKey, Demand> {
    let mut demands = BTreeMap::new();
    for Want { key, limit, amount, hard } in wants {
        let demand = demands.entry(*key).or_insert(Demand { amount: 0, hard: None });
        demand.amount = demand.amount.saturating_add(*amount);
        if *hard {
            demand.hard = Some(demand.hard.map_or(*limit, |tightest| tightest.min(*limit)));
        }
    }
    demands
}

impl RedisMeters {
    /// A name for a reading of the database that no other has, on any node.
    fn reading(&self) -> String {
        let (node, count) = (u128::from_be_bytes(self.node), self.readings.fetch_add(1, Ordering::Relaxed));
        format!("{node:032x}-{count}")
    }
}
