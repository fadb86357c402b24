//! What agents did, in SQLite: rows that commits add to.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{Day, TenantId};

use super::SqliteTenant;
use super::due::Due;
use super::row::{Sql, damaged, unavailable};
use super::sums;
use crate::conduct::{ConductRow, ConductStore};
use crate::error::StoreError;
use crate::sums::Sums;
use crate::view::{Rebuilt, compare};

#[async_trait]
impl ConductStore for SqliteTenant {
    async fn conduct(&self, agent: &str, from: Day) -> Result<Vec<ConductRow>, StoreError> {
        let (tenant, agent) = (self.tenant, agent.to_owned());
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<ConductRow>> {
            let text = "SELECT row, tenant, agent, day FROM conduct_daily
                WHERE tenant = ? AND agent = ? AND day >= ? ORDER BY day";
            connection
                .prepare_cached(text)?
                .query_map(params![Sql(tenant), agent, from.number()], parse)?
                .collect()
        };
        self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await
    }
}

/// The rows that commits add to.
pub(super) type DueConduct = Due<(TenantId, Arc<str>, Day), ConductRow>;

/// Adds what a commit adds.
pub(super) fn add(
    connection: &Connection,
    rows: &mut DueConduct,
    tenant: TenantId,
    agent: Arc<str>,
    day: Day,
    more: [i64; 8],
) -> rusqlite::Result<()> {
    let find = |(_, agent, day): &(TenantId, Arc<str>, Day)| {
        let text =
            "SELECT row, tenant, agent, day FROM conduct_daily WHERE tenant = ? AND agent = ? AND day = ?";
        let mut select = connection.prepare_cached(text)?;
        select.query_row(params![Sql(tenant), agent, day.number()], parse).optional()
    };
    let name = agent.clone();
    let new = || ConductRow::from_numbers(name.to_string(), day, more);
    rows.add((tenant, agent, day), |row| row.add(more), new, find).map(drop)
}

pub(super) fn put(connection: &Connection, tenant: TenantId, row: &ConductRow) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO conduct_daily (tenant, agent, day, row) VALUES (?, ?, ?, ?)")?
        .execute(params![
            Sql(tenant),
            row.agent,
            row.day.number(),
            sums::text(tenant, row.agent.as_bytes(), row)
        ])
        .map(drop)
}

/// The row, if it is as it was written and where it was written.
pub(super) fn parse(row: &Row<'_>) -> rusqlite::Result<ConductRow> {
    let (agent, day): (String, u32) = (row.get(2)?, row.get(3)?);
    let found: ConductRow = sums::parse(row, agent.as_bytes())?;
    let is_here = found.agent == agent && found.day.number() == day;
    if is_here { Ok(found) } else { Err(damaged("what an agent did is in the wrong place")) }
}

/// Brings it to what is wanted.
pub(super) fn mend(connection: &Connection, tenant: TenantId, mut wanted: Sums) -> rusqlite::Result<Rebuilt> {
    let found = connection
        .prepare_cached("SELECT row, tenant, agent, day FROM conduct_daily WHERE tenant = ?")?
        .query_map([Sql(tenant)], |row| {
            let (agent, day): (String, u32) = (row.get(2)?, row.get(3)?);
            // A row that cannot be read is as wrong as one that says something else.
            Ok(((agent, Day::from_number(day).unwrap_or(Day::LAST)), parse(row).ok()))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let (rebuilt, wrong) = compare(found, &mut wanted.conduct);
    for (agent, day) in wrong {
        connection
            .prepare_cached("DELETE FROM conduct_daily WHERE tenant = ? AND agent = ? AND day = ?")?
            .execute(params![Sql(tenant), agent, day.number()])?;
    }
    wanted.conduct.values().try_for_each(|row| put(connection, tenant, row))?;
    Ok(rebuilt)
}
