//! Usage and agents: the rows of `usage_daily` and `agents`, which commits add to.

use std::num::NonZeroU32;

use async_trait::async_trait;
use deadpool_postgres::Object;
use ledger::sha256;
use schema::{Day, Digest, TenantId};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::pipeline::{Ask, Parameter};
use super::row::{bigint, column, millis};
use super::{PostgresStore, Tenant};
use crate::agent::{AgentRow, AgentStore};
use crate::error::StoreError;
use crate::sums::Sums;
use crate::usage::{UsageRow, UsageStore, UsageSums};
use crate::view::{Rebuilt, compare};

/// Whoever else adds at the same time, nothing is lost: what is there is added to under its lock.
const ADD_USAGE: &str = "INSERT INTO usage_daily (tenant, day, slot, kind, app, model, route, status,
        runs, unpriced_runs, input_tokens, output_tokens, cache_read_tokens, reasoning_tokens,
        cost_micro_usd, saved_micro_usd, ghost_saved_micro_usd, saved_ms, latency_ms)
    SELECT $1::bytea, n.* FROM unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[],
        $8::bytea[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
        $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[]) AS n
    ON CONFLICT (tenant, day, slot) DO UPDATE SET
        runs = usage_daily.runs + excluded.runs,
        unpriced_runs = usage_daily.unpriced_runs + excluded.unpriced_runs,
        input_tokens = usage_daily.input_tokens + excluded.input_tokens,
        output_tokens = usage_daily.output_tokens + excluded.output_tokens,
        cache_read_tokens = usage_daily.cache_read_tokens + excluded.cache_read_tokens,
        reasoning_tokens = usage_daily.reasoning_tokens + excluded.reasoning_tokens,
        cost_micro_usd = usage_daily.cost_micro_usd + excluded.cost_micro_usd,
        saved_micro_usd = usage_daily.saved_micro_usd + excluded.saved_micro_usd,
        ghost_saved_micro_usd = usage_daily.ghost_saved_micro_usd + excluded.ghost_saved_micro_usd,
        saved_ms = usage_daily.saved_ms + excluded.saved_ms,
        latency_ms = usage_daily.latency_ms + excluded.latency_ms";
const USAGE: &str = "SELECT * FROM usage_daily WHERE tenant = $1 AND day BETWEEN $2 AND $3";
const DROP_USAGE: &str = "DELETE FROM usage_daily WHERE tenant = $1 AND day = $2 AND slot = $3";
const ADD_AGENTS: &str = "INSERT INTO agents (tenant, slot, name, first_seen_at, last_seen_at, runs)
    SELECT $1::bytea, n.* FROM unnest($2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[]) AS n
    ON CONFLICT (tenant, slot) DO UPDATE SET runs = agents.runs + excluded.runs,
        first_seen_at = least(agents.first_seen_at, excluded.first_seen_at),
        last_seen_at = greatest(agents.last_seen_at, excluded.last_seen_at)";
const AGENTS: &str = "SELECT * FROM agents WHERE tenant = $1 AND name > $2 ORDER BY name LIMIT $3";
const FIRST_AGENTS: &str = "SELECT * FROM agents WHERE tenant = $1 ORDER BY name LIMIT $2";
const AGENT: &str = "SELECT * FROM agents WHERE tenant = $1 AND slot = $2";
const DROP_AGENT: &str = "DELETE FROM agents WHERE tenant = $1 AND slot = $2";

/// The columns of the sums, in the order of [`UsageSums::numbers`].
const SUMS: [&str; 11] = [
    "runs",
    "unpriced_runs",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "reasoning_tokens",
    "cost_micro_usd",
    "saved_micro_usd",
    "ghost_saved_micro_usd",
    "saved_ms",
    "latency_ms",
];

#[async_trait]
impl UsageStore for Tenant {
    async fn usage(&self, from: Day, to: Day) -> Result<Vec<UsageRow>, StoreError> {
        let days: [i64; 2] = [from.number().into(), to.number().into()];
        let rows = self.store.query(USAGE, &[&self.key(), &days[0], &days[1]]).await?;
        let mut rows = rows.iter().map(read_usage).collect::<Result<Vec<_>, _>>()?;
        UsageRow::sort(&mut rows);
        Ok(rows)
    }
}

#[async_trait]
impl AgentStore for Tenant {
    async fn agents(&self, after: Option<&str>, limit: NonZeroU32) -> Result<Vec<AgentRow>, StoreError> {
        let limit = i64::from(limit.get());
        let rows = match after {
            Some(after) => self.store.query(AGENTS, &[&self.key(), &after.as_bytes(), &limit]).await?,
            None => self.store.query(FIRST_AGENTS, &[&self.key(), &limit]).await?,
        };
        rows.iter().map(read_agent).collect()
    }

    async fn agent(&self, name: &str) -> Result<Option<AgentRow>, StoreError> {
        let slot = slot(name);
        let rows = self.store.query(AGENT, &[&self.key(), &&slot.as_bytes()[..]]).await?;
        rows.first().map(read_agent).transpose()
    }
}

/// Which row an agent has. A digest, for an index entry has a size limit and a name has none.
pub(super) fn slot(name: &str) -> Digest {
    sha256(name.as_bytes())
}

fn read_usage(row: &Row) -> Result<UsageRow, StoreError> {
    let column = |name| column(row, "usage_daily", name);
    let day = Day::from_number(column("day").number()?).map_err(|_| column("day").damaged("is no day"))?;
    let mut numbers = [0; 11];
    for (number, name) in numbers.iter_mut().zip(SUMS) {
        *number = row.try_get(name)?;
    }
    Ok(UsageRow {
        day,
        kind: column("kind").text()?,
        app: column("app").text()?,
        model: column("model").text()?,
        route: column("route").text()?,
        status: column("status").text()?,
        sums: UsageSums::from_numbers(numbers),
    })
}

fn read_agent(row: &Row) -> Result<AgentRow, StoreError> {
    let column = |name| column(row, "agents", name);
    Ok(AgentRow {
        name: column("name").text()?,
        first_seen_at: column("first_seen_at").time()?,
        last_seen_at: column("last_seen_at").time()?,
        runs: column("runs").number()?,
    })
}

/// Adds to the usage, as part of a commit.
pub(super) async fn add_usage<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    sums: &'a Sums,
) -> Result<Option<Ask<'a>>, StoreError> {
    if sums.usage.is_empty() {
        return Ok(None);
    }
    Ok(Some(Ask::new(connection, ADD_USAGE, usage_columns(tenant, sums)).await?))
}

fn usage_columns<'a>(tenant: &'a Tenant, sums: &'a Sums) -> Vec<Parameter<'a>> {
    let days: Vec<i64> = sums.usage.keys().map(|(day, _)| day.number().into()).collect();
    let slots: Vec<&[u8]> = sums.usage.keys().map(|(_, slot)| &slot.as_bytes()[..]).collect();
    let mut parameters: Vec<Parameter<'_>> = vec![Box::new(tenant.key()), Box::new(days), Box::new(slots)];
    let names: [fn(&UsageRow) -> &str; 5] =
        [|row| &row.kind, |row| &row.app, |row| &row.model, |row| &row.route, |row| &row.status];
    for name in names {
        let texts: Vec<&[u8]> = sums.usage.values().map(|row| name(row).as_bytes()).collect();
        parameters.push(Box::new(texts));
    }
    for place in 0..SUMS.len() {
        let numbers: Vec<i64> = sums.usage.values().map(|row| row.sums.numbers()[place]).collect();
        parameters.push(Box::new(numbers));
    }
    parameters
}

/// Adds to the agents, as part of a commit.
pub(super) async fn add_agents<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    sums: &'a Sums,
) -> Result<Option<Ask<'a>>, StoreError> {
    if sums.agents.is_empty() {
        return Ok(None);
    }
    Ok(Some(Ask::new(connection, ADD_AGENTS, agent_columns(tenant, sums)).await?))
}

fn agent_columns<'a>(tenant: &'a Tenant, sums: &'a Sums) -> Vec<Parameter<'a>> {
    // In the order of their places, for the sake of the locks.
    let mut agents: Vec<(Vec<u8>, &AgentRow)> =
        sums.agents.values().map(|row| (slot(&row.name).as_bytes().to_vec(), row)).collect();
    agents.sort_by(|(one, _), (other, _)| one.cmp(other));
    let (slots, agents): (Vec<Vec<u8>>, Vec<&AgentRow>) = agents.into_iter().unzip();
    let names: Vec<&[u8]> = agents.iter().map(|row| row.name.as_bytes()).collect();
    let first: Vec<i64> = agents.iter().map(|row| millis(row.first_seen_at)).collect();
    let last: Vec<i64> = agents.iter().map(|row| millis(row.last_seen_at)).collect();
    let runs: Vec<i64> = agents.iter().map(|row| bigint(row.runs)).collect();
    vec![
        Box::new(tenant.key()),
        Box::new(slots),
        Box::new(names),
        Box::new(first),
        Box::new(last),
        Box::new(runs),
    ]
}

/// Brings the usage to what is wanted.
pub(super) async fn mend_usage(
    store: &PostgresStore,
    tenant: TenantId,
    mut wanted: Sums,
) -> Result<Rebuilt, StoreError> {
    let tenant = Tenant { store: store.clone(), tenant };
    let rows = store.query(USAGE, &[&tenant.key(), &0i64, &i64::MAX]).await?;
    let place = |row: &Row| -> Result<_, StoreError> {
        let day = Day::from_number(column(row, "usage_daily", "day").number()?).unwrap_or(Day::LAST);
        Ok(((day, column(row, "usage_daily", "slot").digest()?), read_usage(row).ok()))
    };
    let found = rows.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let (rebuilt, wrong) = compare(found, &mut wanted.usage);
    for (day, slot) in wrong {
        let (day, slot): (i64, &[u8]) = (day.number().into(), slot.as_bytes());
        store.execute(DROP_USAGE, &[&tenant.key(), &day, &slot]).await?;
    }
    store.execute(ADD_USAGE, &borrowed(&usage_columns(&tenant, &wanted))).await?;
    Ok(rebuilt)
}

/// Brings the agents to what is wanted.
pub(super) async fn mend_agents(
    store: &PostgresStore,
    tenant: TenantId,
    mut wanted: Sums,
) -> Result<Rebuilt, StoreError> {
    let tenant = Tenant { store: store.clone(), tenant };
    let rows = store.query(FIRST_AGENTS, &[&tenant.key(), &i64::MAX]).await?;
    let agent = |row: &Row| -> Result<_, StoreError> {
        Ok((column(row, "agents", "name").text()?, read_agent(row).ok()))
    };
    let found = rows.iter().map(agent).collect::<Result<Vec<_>, _>>()?;
    let (rebuilt, wrong) = compare(found, &mut wanted.agents);
    for name in wrong {
        store.execute(DROP_AGENT, &[&tenant.key(), &&slot(&name).as_bytes()[..]]).await?;
    }
    store.execute(ADD_AGENTS, &borrowed(&agent_columns(&tenant, &wanted))).await?;
    Ok(rebuilt)
}

pub(super) fn borrowed<'a>(parameters: &'a [Parameter<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    parameters.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)).collect()
}
