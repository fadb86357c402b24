//! Usage and agents in SQLite: rows that commits add to.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{Day, Digest, TenantId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::due::Due;
use super::memory::Memory;
use super::row::{Sql, damaged, unavailable};
use super::run::{Added, Begun};
use super::sum::{with_sum, without_sum};
use super::{SqliteTenant, conduct};
use crate::agent::{AgentRow, AgentStore};
use crate::error::StoreError;
use crate::sums::Sums;
use crate::usage::{UsageRow, UsageStore};
use crate::view::{Rebuilt, compare};

#[async_trait]
impl UsageStore for SqliteTenant {
    async fn usage(&self, from: Day, to: Day) -> Result<Vec<UsageRow>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<UsageRow>> {
            let text =
                "SELECT row, tenant, day, slot FROM usage_daily WHERE tenant = ? AND day BETWEEN ? AND ?";
            connection
                .prepare_cached(text)?
                .query_map(params![Sql(tenant), from.number(), to.number()], parse_usage)?
                .collect()
        };
        let mut rows = self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await?;
        UsageRow::sort(&mut rows);
        Ok(rows)
    }
}

#[async_trait]
impl AgentStore for SqliteTenant {
    async fn agents(&self, after: Option<&str>, limit: NonZeroU32) -> Result<Vec<AgentRow>, StoreError> {
        let (tenant, after) = (self.tenant, after.map(str::to_owned));
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<AgentRow>> {
            let text = "SELECT row, tenant, name FROM agents
                WHERE tenant = ?1 AND (?2 IS NULL OR name > ?2) ORDER BY name LIMIT ?3";
            connection
                .prepare_cached(text)?
                .query_map(params![Sql(tenant), after, limit.get()], parse_agent)?
                .collect()
        };
        self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await
    }

    async fn agent(&self, name: &str) -> Result<Option<AgentRow>, StoreError> {
        let (tenant, name) = (self.tenant, name.to_owned());
        let read = move |connection: &Connection| find_agent(connection, tenant, &name);
        self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await
    }
}

/// Where a row of the usage is.
type UsagePlace = (TenantId, Day, Digest);
/// The usage that commits add to.
pub(super) type DueUsage = Due<UsagePlace, UsageRow>;
/// The agents that commits add to.
pub(super) type DueAgents = Due<(TenantId, Arc<str>), AgentRow>;

/// Adds what a commit adds.
pub(super) fn add(
    connection: &Connection,
    memory: &mut Memory,
    tenant: TenantId,
    sums: Sums,
) -> rusqlite::Result<()> {
    let Sums { usage, agents, conduct } = sums;
    for ((day, slot), more) in usage {
        let join = |row: &mut UsageRow| row.sums += more.sums;
        memory.usage.add((tenant, day, slot), join, || more.clone(), |at| find_usage(connection, *at))?;
    }
    for (name, more) in agents {
        let find = |(tenant, name): &(TenantId, Arc<str>)| find_agent(connection, *tenant, name);
        memory.agents.add((tenant, name.into()), |row| row.join(&more), || more.clone(), find)?;
    }
    conduct.into_values().try_for_each(|more| {
        let (agent, day, numbers) = (more.agent.as_str().into(), more.day, more.numbers());
        conduct::add(connection, &mut memory.conduct, tenant, agent, day, numbers)
    })
}

/// Adds what a run adds that begins.
pub(super) fn add_begun(
    connection: &Connection,
    memory: &mut Memory,
    tenant: TenantId,
    begun: &Begun,
) -> rusqlite::Result<()> {
    let (likeness, adds) = match &begun.adds {
        Added::Alike(adds) => (&begun.likeness, adds),
        Added::Any(sums) => return add(connection, memory, tenant, Sums::clone(sums)),
    };
    if let Some((day, more)) = adds.usage {
        let (place, new) = ((tenant, day, likeness.usage), || likeness.used(day, more));
        memory.usage.add(place, |row| row.sums += more, new, |at| find_usage(connection, *at))?;
    }
    if let Some(at) = adds.agent {
        let more = || AgentRow::at(&likeness.agent, at);
        let find = |(tenant, name): &(TenantId, Arc<str>)| find_agent(connection, *tenant, name);
        memory.agents.add((tenant, likeness.agent.clone()), |row| row.seen(at), more, find)?;
    }
    adds.conduct.iter().try_for_each(|(day, numbers)| {
        conduct::add(connection, &mut memory.conduct, tenant, likeness.agent.clone(), *day, *numbers)
    })
}

fn find_usage(
    connection: &Connection,
    (tenant, day, slot): UsagePlace,
) -> rusqlite::Result<Option<UsageRow>> {
    connection
        .prepare_cached(
            "SELECT row, tenant, day, slot FROM usage_daily WHERE tenant = ? AND day = ? AND slot = ?",
        )?
        .query_row(params![Sql(tenant), day.number(), Sql(slot)], parse_usage)
        .optional()
}

pub(super) fn put_usage(
    connection: &Connection,
    (tenant, day, slot): UsagePlace,
    row: &UsageRow,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO usage_daily (tenant, day, slot, row) VALUES (?, ?, ?, ?)")?
        .execute(params![Sql(tenant), day.number(), Sql(slot), text(tenant, slot.as_bytes(), row)])
        .map(drop)
}

pub(super) fn put_agent(connection: &Connection, tenant: TenantId, row: &AgentRow) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO agents (tenant, name, row) VALUES (?, ?, ?)")?
        .execute(params![Sql(tenant), row.name, text(tenant, row.name.as_bytes(), row)])
        .map(drop)
}

fn find_agent(connection: &Connection, tenant: TenantId, name: &str) -> rusqlite::Result<Option<AgentRow>> {
    connection
        .prepare_cached("SELECT row, tenant, name FROM agents WHERE tenant = ? AND name = ?")?
        .query_row(params![Sql(tenant), name], parse_agent)
        .optional()
}

/// A row as it is kept. It is JSON already; writing it out cannot fail.
pub(super) fn text(tenant: TenantId, key: &[u8], row: &impl Serialize) -> String {
    with_sum(&[&tenant.as_bytes()[..], key], serde_json::to_string(row).unwrap_or_default())
}

/// A row, if it is as it was written.
pub(super) fn parse<T: DeserializeOwned>(row: &Row<'_>, key: &[u8]) -> rusqlite::Result<T> {
    let Sql(tenant) = row.get::<_, Sql<TenantId>>(1)?;
    let text = without_sum(&[&tenant.as_bytes()[..], key], row.get_ref(0)?.as_str()?);
    serde_json::from_str(text.ok_or_else(|| damaged("a sum over runs is not as it was written"))?)
        .map_err(damaged)
}

/// The usage, if it is as it was written and where it was written.
pub(super) fn parse_usage(row: &Row<'_>) -> rusqlite::Result<UsageRow> {
    let (day, Sql(slot)): (u32, Sql<Digest>) = (row.get(2)?, row.get(3)?);
    let found: UsageRow = parse(row, slot.as_bytes())?;
    let is_here = found.day.number() == day && found.place().1 == slot;
    if is_here { Ok(found) } else { Err(damaged("a row of the usage is in the wrong place")) }
}

/// The agent, if it is as it was written and where it was written.
pub(super) fn parse_agent(row: &Row<'_>) -> rusqlite::Result<AgentRow> {
    let name: String = row.get(2)?;
    let found: AgentRow = parse(row, name.as_bytes())?;
    if found.name == name { Ok(found) } else { Err(damaged("an agent is in the wrong place")) }
}

/// Brings the usage to what is wanted.
pub(super) fn mend_usage(
    connection: &Connection,
    tenant: TenantId,
    mut wanted: Sums,
) -> rusqlite::Result<Rebuilt> {
    let found = connection
        .prepare_cached("SELECT row, tenant, day, slot FROM usage_daily WHERE tenant = ?")?
        .query_map([Sql(tenant)], |row| {
            let (day, Sql(slot)): (u32, Sql<Digest>) = (row.get(2)?, row.get(3)?);
            // A row that cannot be read is as wrong as one that says something else.
            Ok(((Day::from_number(day).unwrap_or(Day::LAST), slot), parse_usage(row).ok()))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let (rebuilt, wrong) = compare(found, &mut wanted.usage);
    for (day, slot) in wrong {
        connection
            .prepare_cached("DELETE FROM usage_daily WHERE tenant = ? AND day = ? AND slot = ?")?
            .execute(params![Sql(tenant), day.number(), Sql(slot)])?;
    }
    let put = |(&(day, slot), row)| put_usage(connection, (tenant, day, slot), row);
    wanted.usage.iter().try_for_each(put)?;
    Ok(rebuilt)
}

/// Brings the agents to what is wanted.
pub(super) fn mend_agents(
    connection: &Connection,
    tenant: TenantId,
    mut wanted: Sums,
) -> rusqlite::Result<Rebuilt> {
    let found = connection
        .prepare_cached("SELECT row, tenant, name FROM agents WHERE tenant = ?")?
        .query_map([Sql(tenant)], |row| Ok((row.get::<_, String>(2)?, parse_agent(row).ok())))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let (rebuilt, wrong) = compare(found, &mut wanted.agents);
    for name in wrong {
        connection
            .prepare_cached("DELETE FROM agents WHERE tenant = ? AND name = ?")?
            .execute(params![Sql(tenant), name])?;
    }
    wanted.agents.values().try_for_each(|row| put_agent(connection, tenant, row))?;
    Ok(rebuilt)
}
