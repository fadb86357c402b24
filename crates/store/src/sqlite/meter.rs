//! Meters in SQLite: what is spent is in the database, what is reserved is in memory, for one process owns both.
//!
//! What is spent is in memory too, for meters that were asked for, so that a reservation waits for no disk. Memory learns
//! of a settlement when its commit is acknowledged, and of the end of its reservation in the same step. What it does not know
//! it reads: only where nothing is reserved, so that what it reads has nothing to be out of step with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{Digest, Seq, TenantId, Timestamp};

use super::due::Due;
use super::event::Prepared;
use super::request::{Reply, Request};
use super::row::{Sql, damaged, unavailable};
use super::sum::sum;
use super::{SqliteStore, SqliteTenant};
use crate::error::StoreError;
use crate::meter::{MeterKey, MeterStore, Meters, ReservationId, Reserved, Settlement, Want, add};

/// Of how many meters of a tenant it stays known what is spent.
const KEPT: usize = 65_536;

#[async_trait]
impl MeterStore for SqliteTenant {
    async fn reserve(
        &self,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, StoreError> {
        self.store.inner.writable()?;
        let keys: Vec<MeterKey> = wants.iter().map(|want| want.key).collect();
        self.with(&keys, |meters| meters.reserve(id, wants, now, until)).await
    }

    async fn release(&self, id: ReservationId) -> Result<(), StoreError> {
        if let Some(known) = self.store.inner.meters.lock().get_mut(&self.tenant) {
            known.meters.release(id);
        }
        Ok(())
    }

    async fn levels(&self, keys: &[MeterKey], now: Timestamp) -> Result<Vec<(u64, u64)>, StoreError> {
        self.with(keys, |meters| meters.levels(keys, now)).await
    }
}

impl SqliteTenant {
    /// Acts when it is known what is spent of all of these.
    async fn with<T>(
        &self,
        keys: &[MeterKey],
        act: impl Fn(&mut Meters) -> T + Send,
    ) -> Result<T, StoreError> {
        let (tenant, inner) = (self.tenant, &self.store.inner);
        loop {
            let (unknown, forgotten) = {
                let mut tenants = inner.meters.lock();
                let Known { meters, forgotten } = tenants.entry(tenant).or_default();
                let unknown = meters.unknown(keys.iter().copied());
                if unknown.is_empty() {
                    return Ok(act(meters));
                }
                (unknown, *forgotten)
            };
            let read = move |connection: &Connection| -> rusqlite::Result<Vec<(MeterKey, u64)>> {
                unknown.into_iter().map(|key| Ok((key, spent(connection, tenant, key)?))).collect()
            };
            let found = inner.read(move |connection| read(connection).map_err(unavailable)).await?;
            let mut tenants = inner.meters.lock();
            let known = tenants.entry(tenant).or_default();
            // What was forgotten meanwhile may be what would have told that this is out of date.
            if known.forgotten == forgotten {
                known.learn(found);
            }
        }
    }
}

/// What one process knows of the meters of all tenants.
#[derive(Default)]
pub(super) struct AllMeters(Mutex<HashMap<TenantId, Known>>);

#[derive(Default)]
struct Known {
    meters: Meters,
    /// How often something was forgotten.
    forgotten: u64,
}

impl Known {
    fn learn(&mut self, found: Vec<(MeterKey, u64)>) {
        if self.meters.known() + found.len() > KEPT {
            self.meters.forget_idle();
            self.forgotten += 1;
        }
        found.into_iter().for_each(|(key, spent)| self.meters.learn(key, spent));
    }
}

/// What a commit settled: a tenant's reservation, and what is spent of its meters by then.
pub(super) type Settled = (TenantId, ReservationId, Vec<(MeterKey, u64)>);

impl AllMeters {
    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what was committed: for everybody else all of it happens at once.
    pub(super) fn settle(&self, settled: &mut Vec<Settled>) {
        if settled.is_empty() {
            return;
        }
        let mut tenants = self.lock();
        for (tenant, id, spent) in settled.drain(..) {
            tenants.entry(tenant).or_default().meters.settle(id, spent);
        }
    }

    /// Takes note of what is acknowledged while it is on its way into the database, in the same step as `tell` tells of it.
    /// A meter that is not known stays so: whoever reads it next finds all of it, and whoever is reading it reads it again.
    pub(super) fn acknowledge(&self, commits: &[Arc<Prepared>], tell: impl FnOnce()) {
        let mut tenants = self.lock();
        tell();
        for commit in commits {
            let Known { meters, forgotten } = tenants.entry(commit.tenant).or_default();
            for settlement in &commit.settled {
                *forgotten += u64::from(!meters.settle_known(settlement));
            }
        }
    }

    fn forget(&self, before: i64) {
        for known in self.lock().values_mut() {
            known.meters.forget(before);
            known.forgotten += 1;
        }
    }
}

impl SqliteStore {
    pub(super) async fn forget_windows(&self, before: i64) -> Result<u64, StoreError> {
        let reply = self.inner.write(Request::ForgetMeters { before }).await?;
        self.inner.meters.forget(before);
        if let Reply::Count(count) = reply { Ok(count) } else { Ok(0) }
    }
}

/// Deletes the windows that began before then.
pub(super) fn forget(connection: &Connection, before: i64) -> rusqlite::Result<u64> {
    let deleted =
        connection.prepare_cached("DELETE FROM meters WHERE since < ? AND since <> 0")?.execute([before])?;
    Ok(deleted as u64)
}

/// What is spent of the meters that commits settle.
pub(super) type DueMeters = Due<(TenantId, MeterKey), u64>;

/// Adds what was spent; says what is spent by now.
pub(super) fn settle(
    connection: &Connection,
    meters: &mut DueMeters,
    tenant: TenantId,
    settlement: &Settlement,
) -> rusqlite::Result<Settled> {
    let mut totals = Vec::with_capacity(settlement.spent.len());
    // One that occurs twice is told twice, and the later total is that of both.
    for (key, amount) in settlement.spent.iter().copied().filter(|(_, amount)| *amount > 0) {
        let read = |_: &_| spent(connection, tenant, key).map(Some);
        let total = meters.add((tenant, key), |total| *total = add(*total, amount), || amount, read)?;
        totals.push((key, *total));
    }
    Ok((tenant, settlement.id, totals))
}

/// Writes what is spent by now.
pub(super) fn put(
    connection: &Connection,
    tenant: TenantId,
    key: MeterKey,
    spent: u64,
) -> rusqlite::Result<()> {
    let sum = checksum(tenant, key, spent);
    // Most are there. To replace a row would write its entry in the index over windows again, too.
    let changed = connection
        .prepare_cached("UPDATE meters SET spent = ?, sum = ? WHERE tenant = ? AND meter = ? AND since = ?")?
        .execute(params![Sql(Seq(spent)), sum, Sql(tenant), Sql(key.meter), key.window])?;
    if changed == 0 {
        connection
            .prepare_cached("INSERT INTO meters (tenant, meter, since, spent, sum) VALUES (?, ?, ?, ?, ?)")?
            .execute(params![Sql(tenant), Sql(key.meter), key.window, Sql(Seq(spent)), sum])?;
    }
    Ok(())
}

fn spent(connection: &Connection, tenant: TenantId, key: MeterKey) -> rusqlite::Result<u64> {
    let text =
        "SELECT tenant, meter, since, spent, sum FROM meters WHERE tenant = ? AND meter = ? AND since = ?";
    let found = connection
        .prepare_cached(text)?
        .query_row(params![Sql(tenant), Sql(key.meter), key.window], parse)
        .optional()?;
    match found {
        Some(found) if (found.0, found.1) == (tenant, key) => Ok(found.2),
        Some(_) => Err(damaged("a meter is in another's place")),
        None => Ok(0),
    }
}

/// A meter, whose it is and what is spent of it, if it is as it was written.
pub(super) fn parse(row: &Row<'_>) -> rusqlite::Result<(TenantId, MeterKey, u64)> {
    let (Sql(tenant), Sql(meter)): (Sql<TenantId>, Sql<Digest>) = (row.get(0)?, row.get(1)?);
    let (window, Sql(Seq(spent)), written): (i64, Sql<Seq>, u32) = (row.get(2)?, row.get(3)?, row.get(4)?);
    let key = MeterKey { meter, window };
    if checksum(tenant, key, spent) != written {
        return Err(damaged(format!("meter {meter} is not as it was written")));
    }
    Ok((tenant, key, spent))
}

fn checksum(tenant: TenantId, key: MeterKey, spent: u64) -> u32 {
    sum(&[&tenant.as_bytes()[..], key.meter.as_bytes(), &key.window.to_be_bytes()], &spent.to_string())
}
