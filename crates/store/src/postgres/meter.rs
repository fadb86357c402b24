//! Meters: the rows of `meters`, and of `meter_reservations`.
//!
//! Whoever reserves first holds the rows of its meters, in their order, and then looks at what others have reserved: a
//! statement sees what was committed before it began, and nobody who holds one of those rows has anything left to commit.
//! A commit that settles changes the same rows, so it comes before or after, as a whole.
//!
//! A reservation takes two trips to the server, for the reason that `commit.rs` gives.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::Object;
use schema::Timestamp;
use tokio_postgres::Row;

use super::commit::{BEGIN, RETRIES, write};
use super::error::FromDriver as _;
use super::pipeline::{Ask, Begun, Parameter, send};
use super::row::{bigint, column, millis};
use super::{PostgresStore, Tenant, give_back};
use crate::error::StoreError;
use crate::meter::{MeterKey, MeterStore, ReservationId, Reserved, Settlement, Want, amounts, judge};

const MAKE: &str = "INSERT INTO meters (tenant, meter, since, spent)
    SELECT $1::bytea, n.meter, n.since, 0 FROM unnest($2::bytea[], $3::bigint[]) AS n(meter, since)
    ON CONFLICT (tenant, meter, since) DO NOTHING";
const LOCK: &str = "SELECT m.meter, m.since, m.spent
    FROM meters AS m JOIN unnest($2::bytea[], $3::bigint[]) AS n(meter, since)
        ON m.meter = n.meter AND m.since = n.since
    WHERE m.tenant = $1 ORDER BY m.meter, m.since FOR UPDATE OF m";
const RESERVED: &str =
    "SELECT r.meter, r.since, least(sum(r.amount), 9223372036854775807)::bigint AS reserved
    FROM meter_reservations AS r JOIN unnest($2::bytea[], $3::bigint[]) AS n(meter, since)
        ON r.meter = n.meter AND r.since = n.since
    WHERE r.tenant = $1 AND r.ends_at > $4 AND r.id <> $5 GROUP BY r.meter, r.since";
const LEVELS: &str = "SELECT n.meter, n.since,
        coalesce((SELECT m.spent FROM meters AS m
            WHERE m.tenant = $1 AND m.meter = n.meter AND m.since = n.since), 0) AS spent,
        (SELECT least(coalesce(sum(r.amount), 0), 9223372036854775807)::bigint FROM meter_reservations AS r
            WHERE r.tenant = $1 AND r.meter = n.meter AND r.since = n.since AND r.ends_at > $4) AS reserved
    FROM unnest($2::bytea[], $3::bigint[]) AS n(meter, since)";
const RELEASE: &str = "DELETE FROM meter_reservations WHERE tenant = $1 AND id = ANY($2)";
const HOLD: &str = "INSERT INTO meter_reservations (tenant, id, meter, since, amount, ends_at)
    SELECT $1::bytea, $2::bytea, n.meter, n.since, n.amount, $6::bigint
    FROM unnest($3::bytea[], $4::bigint[], $5::bigint[]) AS n(meter, since, amount)
    ON CONFLICT (tenant, id, meter, since) DO UPDATE SET amount = excluded.amount, ends_at = excluded.ends_at";
/// The sum stays within what a bigint holds.
const ADD: &str = "INSERT INTO meters (tenant, meter, since, spent)
    SELECT $1::bytea, n.meter, n.since, n.spent
    FROM unnest($2::bytea[], $3::bigint[], $4::bigint[]) AS n(meter, since, spent)
    ON CONFLICT (tenant, meter, since) DO UPDATE
        SET spent = least(meters.spent, 9223372036854775807 - excluded.spent) + excluded.spent";
/// What somebody has in hand is not over.
const FORGET: &str = "DELETE FROM meters AS m USING (
        SELECT tenant, meter, since FROM meters WHERE since < $1 AND since <> 0
        ORDER BY tenant, meter, since FOR UPDATE SKIP LOCKED) AS old
    WHERE m.tenant = old.tenant AND m.meter = old.meter AND m.since = old.since";
const FORGET_RESERVED: &str = "DELETE FROM meter_reservations AS r USING (
        SELECT tenant, id, meter, since FROM meter_reservations WHERE ends_at < $1
        ORDER BY tenant, id, meter, since FOR UPDATE SKIP LOCKED) AS old
    WHERE r.tenant = old.tenant AND r.id = old.id AND r.meter = old.meter AND r.since = old.since";

#[async_trait]
impl MeterStore for Tenant {
    async fn reserve(
        &self,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, StoreError> {
        if wants.is_empty() {
            self.release(id).await?;
            return Ok(Reserved::Held(Vec::new()));
        }
        let connection = self.store.connection().await?;
        let mut tried = 0;
        let reserved = loop {
            match self.try_reserve(&connection, id, wants, now, until).await {
                Ok(None) if tried < RETRIES => {}
                Err(error) if tried < RETRIES && error.gave_way() => {}
                Ok(None) => {
                    break Err(StoreError::unavailable("the meters are forgotten as fast as they are made"));
                }
                Ok(Some(reserved)) => break Ok(reserved),
                Err(error) => break Err(error),
            }
            tokio::time::sleep(Duration::from_millis(5 << tried)).await;
            tried += 1;
        };
        give_back(connection, reserved)
    }

    async fn release(&self, id: ReservationId) -> Result<(), StoreError> {
        self.store.execute(RELEASE, &[&self.key(), &vec![&id.0[..]]]).await.map(drop)
    }

    async fn levels(&self, keys: &[MeterKey], now: Timestamp) -> Result<Vec<(u64, u64)>, StoreError> {
        let (meters, windows) = columns(keys.iter());
        let rows = self.store.query(LEVELS, &[&self.key(), &meters, &windows, &millis(now)]).await?;
        let level = |row: &Row| -> Result<_, StoreError> {
            let number = |name| column(row, "meters", name).number::<u64>();
            Ok((key(row, "meters")?, (number("spent")?, number("reserved")?)))
        };
        let found: BTreeMap<MeterKey, (u64, u64)> = rows.iter().map(level).collect::<Result<_, _>>()?;
        Ok(keys.iter().map(|key| found.get(key).copied().unwrap_or_default()).collect())
    }
}

impl Tenant {
    /// Reserves in one transaction; `None` if a meter was taken away under its hands.
    async fn try_reserve(
        &self,
        connection: &Object,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Reserved>, StoreError> {
        let amounts = amounts(wants);
        let (meters, windows) = columns(amounts.keys());
        let places = || -> Vec<Parameter<'_>> {
            vec![Box::new(self.key()), Box::new(meters.clone()), Box::new(windows.clone())]
        };
        let make = Ask::new(connection, MAKE, places()).await?;
        let lock = Ask::new(connection, LOCK, places()).await?;
        let others: Vec<Parameter<'_>> = vec![Box::new(millis(now)), Box::new(&id.0[..])];
        let others = places().into_iter().chain(others).collect();
        let others = Ask::new(connection, RESERVED, others).await?;
        let held: Vec<i64> = amounts.values().map(|amount| bigint(*amount)).collect();
        let release: Vec<Parameter<'_>> = vec![Box::new(self.key()), Box::new(vec![&id.0[..]])];
        let hold: Vec<Parameter<'_>> = vec![
            Box::new(self.key()),
            Box::new(&id.0[..]),
            Box::new(meters.clone()),
            Box::new(windows.clone()),
            Box::new(held),
            Box::new(millis(until)),
        ];
        let asks = [
            Some(Ask::new(connection, RELEASE, release).await?),
            Some(Ask::new(connection, HOLD, hold).await?),
        ];

        let transaction = Begun::new(connection);
        let (begun, made, locked, others) = tokio::join!(
            biased;
            connection.batch_execute(BEGIN),
            send(connection, Some(&make)),
            send(connection, Some(&lock)),
            send(connection, Some(&others)),
        );
        begun?;
        made?;
        let spent = numbers(&locked?, "meters", "spent")?;
        let others = numbers(&others?, "meter_reservations", "reserved")?;
        if spent.len() < amounts.len() {
            return Ok(None);
        }
        let of = |numbers: &BTreeMap<MeterKey, u64>, key: &MeterKey| numbers.get(key).copied().unwrap_or(0);
        let reserved = judge(wants, |key| (of(&spent, key), of(&others, key)));
        if let Reserved::Held(_) = reserved {
            transaction.ends();
            write(connection, self, &asks, false).await?;
        }
        Ok(Some(reserved))
    }
}

/// The two columns that name meters.
fn columns<'a>(keys: impl Iterator<Item = &'a MeterKey>) -> (Vec<Vec<u8>>, Vec<i64>) {
    keys.map(|key| (key.meter.as_bytes().to_vec(), key.window)).unzip()
}

fn key(row: &Row, table: &'static str) -> Result<MeterKey, StoreError> {
    Ok(MeterKey {
        meter: column(row, table, "meter").digest()?,
        window: column(row, table, "since").number()?,
    })
}

fn numbers(
    rows: &[Row],
    table: &'static str,
    name: &'static str,
) -> Result<BTreeMap<MeterKey, u64>, StoreError> {
    rows.iter().map(|row| Ok((key(row, table)?, column(row, table, name).number()?))).collect()
}

/// Adds what was spent, as part of a commit.
pub(super) async fn add<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    settled: &[Settlement],
) -> Result<Option<Ask<'a>>, StoreError> {
    let added = Settlement::added(settled);
    if added.is_empty() {
        return Ok(None);
    }
    let (meters, windows) = columns(added.keys());
    let amounts: Vec<i64> = added.values().map(|amount| bigint(*amount)).collect();
    let parameters: Vec<Parameter<'_>> =
        vec![Box::new(tenant.key()), Box::new(meters), Box::new(windows), Box::new(amounts)];
    Ok(Some(Ask::new(connection, ADD, parameters).await?))
}

/// Ends what is settled, as part of a commit and after what was spent is added.
pub(super) async fn end<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    settled: &[Settlement],
) -> Result<Option<Ask<'a>>, StoreError> {
    if settled.is_empty() {
        return Ok(None);
    }
    let ids: Vec<Vec<u8>> = settled.iter().map(|settlement| settlement.id.0.to_vec()).collect();
    let parameters: Vec<Parameter<'_>> = vec![Box::new(tenant.key()), Box::new(ids)];
    Ok(Some(Ask::new(connection, RELEASE, parameters).await?))
}

/// Deletes the windows that began before then, and what was reserved by somebody who died before then.
pub(super) async fn forget(store: &PostgresStore, before: i64) -> Result<u64, StoreError> {
    store.execute(FORGET_RESERVED, &[&before]).await?;
    store.execute(FORGET, &[&before]).await
}
