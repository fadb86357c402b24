//! What agents did: the rows of `conduct_daily`, which commits add to.

use async_trait::async_trait;
use deadpool_postgres::Object;
use schema::{Day, TenantId};
use tokio_postgres::Row;

use super::pipeline::{Ask, Parameter};
use super::row::column;
use super::sums::{borrowed, slot};
use super::{PostgresStore, Tenant};
use crate::conduct::{ConductRow, ConductStore};
use crate::error::StoreError;
use crate::sums::Sums;
use crate::view::{Rebuilt, compare};

/// Whoever else adds at the same time, nothing is lost: what is there is added to under its lock.
const ADD: &str = "INSERT INTO conduct_daily (tenant, slot, day, agent,
        allowed, asked, denied, executed, blocked, failed, praised, corrected)
    SELECT $1::bytea, n.* FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bigint[],
        $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[]) AS n
    ON CONFLICT (tenant, slot, day) DO UPDATE SET
        allowed = conduct_daily.allowed + excluded.allowed,
        asked = conduct_daily.asked + excluded.asked,
        denied = conduct_daily.denied + excluded.denied,
        executed = conduct_daily.executed + excluded.executed,
        blocked = conduct_daily.blocked + excluded.blocked,
        failed = conduct_daily.failed + excluded.failed,
        praised = conduct_daily.praised + excluded.praised,
        corrected = conduct_daily.corrected + excluded.corrected";
const CONDUCT: &str =
    "SELECT * FROM conduct_daily WHERE tenant = $1 AND slot = $2 AND day >= $3 ORDER BY day";
const ALL: &str = "SELECT * FROM conduct_daily WHERE tenant = $1";
const DROP: &str = "DELETE FROM conduct_daily WHERE tenant = $1 AND slot = $2 AND day = $3";

/// The columns of the numbers, in the order of [`ConductRow::numbers`].
const NUMBERS: [&str; 8] =
    ["allowed", "asked", "denied", "executed", "blocked", "failed", "praised", "corrected"];

#[async_trait]
impl ConductStore for Tenant {
    async fn conduct(&self, agent: &str, from: Day) -> Result<Vec<ConductRow>, StoreError> {
        let (slot, from) = (slot(agent), i64::from(from.number()));
        let rows = self.store.query(CONDUCT, &[&self.key(), &&slot.as_bytes()[..], &from]).await?;
        rows.iter().map(read).collect()
    }
}

fn read(row: &Row) -> Result<ConductRow, StoreError> {
    let column = |name| column(row, "conduct_daily", name);
    let day = Day::from_number(column("day").number()?).map_err(|_| column("day").damaged("is no day"))?;
    let mut numbers = [0; 8];
    for (number, name) in numbers.iter_mut().zip(NUMBERS) {
        *number = row.try_get(name)?;
    }
    Ok(ConductRow::from_numbers(column("agent").text()?, day, numbers))
}

/// Adds to it, as part of a commit.
pub(super) async fn add<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    sums: &'a Sums,
) -> Result<Option<Ask<'a>>, StoreError> {
    if sums.conduct.is_empty() {
        return Ok(None);
    }
    Ok(Some(Ask::new(connection, ADD, columns(tenant, sums)).await?))
}

fn columns<'a>(tenant: &'a Tenant, sums: &'a Sums) -> Vec<Parameter<'a>> {
    // In the order of their places, for the sake of the locks.
    let mut rows: Vec<(Vec<u8>, &ConductRow)> =
        sums.conduct.values().map(|row| (slot(&row.agent).as_bytes().to_vec(), row)).collect();
    rows.sort_by(|(one, this), (other, that)| (one, this.day).cmp(&(other, that.day)));
    let (slots, rows): (Vec<Vec<u8>>, Vec<&ConductRow>) = rows.into_iter().unzip();
    let days: Vec<i64> = rows.iter().map(|row| row.day.number().into()).collect();
    let agents: Vec<&[u8]> = rows.iter().map(|row| row.agent.as_bytes()).collect();
    let mut parameters: Vec<Parameter<'_>> =
        vec![Box::new(tenant.key()), Box::new(slots), Box::new(days), Box::new(agents)];
    for place in 0..NUMBERS.len() {
        let numbers: Vec<i64> = rows.iter().map(|row| row.numbers()[place]).collect();
        parameters.push(Box::new(numbers));
    }
    parameters
}

/// Brings it to what is wanted.
pub(super) async fn mend(
    store: &PostgresStore,
    tenant: TenantId,
    mut wanted: Sums,
) -> Result<Rebuilt, StoreError> {
    let tenant = Tenant { store: store.clone(), tenant };
    let rows = store.query(ALL, &[&tenant.key()]).await?;
    let place = |row: &Row| -> Result<_, StoreError> {
        let column = |name| column(row, "conduct_daily", name);
        let day = Day::from_number(column("day").number()?).unwrap_or(Day::LAST);
        Ok(((column("agent").text()?, day), read(row).ok()))
    };
    let found = rows.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let (rebuilt, wrong) = compare(found, &mut wanted.conduct);
    for (agent, day) in wrong {
        let (slot, day) = (slot(&agent), i64::from(day.number()));
        store.execute(DROP, &[&tenant.key(), &&slot.as_bytes()[..], &day]).await?;
    }
    store.execute(ADD, &borrowed(&columns(&tenant, &wanted))).await?;
    Ok(rebuilt)
}
