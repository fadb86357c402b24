//! The rows of runs as a view: made again from the segments.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ledger::Chain;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{Digest, RunId, SubjectId, TenantId, Timestamp};

use super::often::Statements;
use super::request::{Reply, Request, WriteError};
use super::row::{Sql, unavailable};
use super::run::{self, Written};
use super::{SqliteStore, event, line, slot};
use crate::cache::CacheRow;
use crate::error::StoreError;
use crate::run::RunRow;
use crate::sums::Sums;
use crate::view::{Derive, RebuildRuns, Rebuilt, RunEvents};

/// How many runs one transaction makes again.
const BATCH: usize = 500;

#[async_trait]
impl RebuildRuns for SqliteStore {
    async fn rebuild_runs(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        let mut rebuilt = Rebuilt::default();
        let mut after = None;
        loop {
            match self.inner.write(Request::Rebuild { tenant, after }).await? {
                Reply::Rebuilt(part, Some(last)) => {
                    rebuilt += part;
                    after = Some(last);
                }
                Reply::Rebuilt(part, None) => {
                    rebuilt += part;
                    return Ok(rebuilt);
                }
                _ => return Err(StoreError::unavailable("the writer answered another question")),
            }
        }
    }
}

#[async_trait]
impl Derive for SqliteStore {
    async fn run_events(&self, tenant: TenantId, after: Option<RunId>) -> Result<Vec<RunEvents>, StoreError> {
        self.inner.read(move |connection| run_events(connection, tenant, after)).await
    }

    async fn mend_cache(
        &self,
        tenant: TenantId,
        wanted: BTreeMap<Digest, CacheRow>,
        now: Timestamp,
    ) -> Result<Rebuilt, StoreError> {
        for key in wanted.keys() {
            self.inner.presence.note(key);
        }
        self.mend(Request::MendCache { tenant, wanted, now }).await
    }

    async fn mend_usage(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError> {
        self.mend(Request::MendUsage { tenant, wanted }).await
    }

    async fn mend_agents(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError> {
        self.mend(Request::MendAgents { tenant, wanted }).await
    }

    async fn mend_conduct(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError> {
        self.mend(Request::MendConduct { tenant, wanted }).await
    }
}

impl SqliteStore {
    async fn mend(&self, request: Request) -> Result<Rebuilt, StoreError> {
        match self.inner.write(request).await? {
            Reply::Rebuilt(rebuilt, _) => Ok(rebuilt),
            _ => Err(StoreError::unavailable("the writer answered another question")),
        }
    }
}

/// The next runs, each with all its events.
fn run_events(
    connection: &Connection,
    tenant: TenantId,
    after: Option<RunId>,
) -> Result<Vec<RunEvents>, StoreError> {
    let (mut found, mut last) = (Vec::new(), after);
    while found.len() < BATCH {
        let past = last.map_or(Vec::new(), |run| run.as_bytes().to_vec());
        let next: Option<Sql<RunId>> = connection
            .prepare_cached("SELECT min(run) FROM segments WHERE tenant = ? AND run > ?")
            .and_then(|mut select| select.query_row(params![Sql(tenant), past], |row| row.get(0)))
            .map_err(unavailable)?;
        let Some(Sql(run)) = next else { break };
        last = Some(run);
        found.push(events_of(connection, tenant, run)?);
    }
    Ok(found)
}

fn events_of(connection: &Connection, tenant: TenantId, run: RunId) -> Result<RunEvents, StoreError> {
    let mut found = RunEvents { run, subject: None, is_erased: false, events: Vec::new() };
    let text = "SELECT body, segments.subject, segments.subject IS NOT NULL AND wrapped IS NULL
        FROM segments LEFT JOIN subjects ON subjects.tenant = segments.tenant AND subjects.id = segments.subject
        WHERE segments.tenant = ? AND run = ? ORDER BY first_seq";
    let mut select = connection.prepare_cached(text).map_err(unavailable)?;
    let mut rows = select.query(params![Sql(tenant), Sql(run)]).map_err(unavailable)?;
    while let Some(row) = rows.next().map_err(unavailable)? {
        if found.events.is_empty() {
            let subject: Option<Sql<SubjectId>> = row.get(1).map_err(unavailable)?;
            found.subject = subject.map(|Sql(id)| id);
            found.is_erased = row.get(2).map_err(unavailable)?;
        }
        found.events.extend(event::parse(run, body(run, row)?)?);
    }
    Ok(found)
}

/// The body of a segment.
fn body<'r>(run: RunId, row: &'r Row<'_>) -> Result<&'r [u8], StoreError> {
    let damaged = |error| StoreError::Damaged(format!("a segment of run {run} cannot be read: {error}"));
    row.get_ref(0).map_err(unavailable)?.as_blob().map_err(damaged)
}

/// Makes the rows of the next runs again; says which was the last, unless that was all.
pub(super) fn rebuild(
    connection: &Connection,
    tenant: TenantId,
    after: Option<RunId>,
) -> Result<(Rebuilt, Option<RunId>), WriteError> {
    let mut rebuilt = Rebuilt::default();
    let mut last = after;
    for _ in 0..BATCH {
        let Some(id) = next_run(connection, tenant, last)? else { return Ok((rebuilt, None)) };
        last = Some(id);
        let wanted = derive(connection, tenant, id)?;
        let found = connection
            .prepare_cached(
                "SELECT row, run, seq, head, subject, slot FROM runs WHERE tenant = ? AND run = ?",
            )?
            // A row that cannot be read is as wrong as one that says something else.
            .query_row(params![Sql(tenant), Sql(id)], |row| {
                let slot: Option<i64> = row.get(5)?;
                Ok(line::kept(tenant, row).ok().zip(slot))
            })
            .optional()?;
        rebuilt.entries += u64::from(wanted.is_some());
        let same = match (&wanted, &found) {
            (Some(wanted), Some(Some(((row, subject), slot)))) => {
                wanted.row == *row && wanted.line.subject == *subject && wanted.traits.slot() == *slot
            }
            (None, None) => true,
            _ => false,
        };
        let wanted = match wanted {
            Some(wanted) => Some((slot::mend(connection, tenant, &wanted.traits)?, wanted)),
            None => None,
        };
        if !same {
            rebuilt.repaired += 1;
            connection
                .prepare_cached("DELETE FROM runs WHERE tenant = ? AND run = ?")?
                .execute(params![Sql(tenant), Sql(id)])?;
            if let Some((slot, wanted)) = wanted {
                run::insert(&mut Statements::new(connection), tenant, &wanted.line, slot)?;
            }
        }
    }
    Ok((rebuilt, last))
}

/// The first run past `after` that has events, or a row, or both.
fn next_run(
    connection: &Connection,
    tenant: TenantId,
    after: Option<RunId>,
) -> rusqlite::Result<Option<RunId>> {
    let after = after.map_or(Vec::new(), |run| run.as_bytes().to_vec());
    let mut next: Option<RunId> = None;
    for select in [
        "SELECT min(run) FROM segments WHERE tenant = ? AND run > ?",
        "SELECT min(run) FROM runs WHERE tenant = ? AND run > ?",
    ] {
        let found: Option<Sql<RunId>> =
            connection.prepare_cached(select)?.query_row(params![Sql(tenant), after], |row| row.get(0))?;
        next = [next, found.map(|Sql(run)| run)].into_iter().flatten().min();
    }
    Ok(next)
}

/// The row that the run's segments say. Sealed values are not needed for it.
fn derive(connection: &Connection, tenant: TenantId, id: RunId) -> Result<Option<Written>, WriteError> {
    let mut select = connection.prepare_cached(
        "SELECT body, subject FROM segments WHERE tenant = ? AND run = ? ORDER BY first_seq",
    )?;
    let mut rows = select.query(params![Sql(tenant), Sql(id)])?;
    let (mut derived, mut subject, mut chain) = (None, None, Chain::new(tenant, id));
    while let Some(row) = rows.next()? {
        let events = event::parse(id, body(id, row)?)?;
        if derived.is_none() {
            subject = row.get::<_, Option<Sql<SubjectId>>>(1)?.map(|Sql(id)| id);
        }
        // A row is only as good as what it is made of.
        let follow = events.iter().try_for_each(|event| chain.verify_next(event));
        follow.map_err(|error| StoreError::Damaged(format!("run {id}: {error}")))?;
        derived = RunRow::fold_all(derived, id, &events);
    }
    Ok(derived.map(|row| Written::new(tenant, row, subject)))
}

/// The tenants that have runs.
pub(super) fn tenants(
    connection: &Connection,
    after: Option<TenantId>,
    limit: u32,
) -> Result<Vec<TenantId>, StoreError> {
    let mut found: Vec<TenantId> = Vec::new();
    let mut after = after.map_or(Vec::new(), |tenant| tenant.as_bytes().to_vec());
    // Each step is one look into the index, however many runs the tenant has.
    while found.len() < limit as usize {
        let next: Option<Sql<TenantId>> = connection
            .prepare_cached("SELECT min(tenant) FROM segments WHERE tenant > ?")
            .and_then(|mut select| select.query_row([&after], |row| row.get(0)))
            .map_err(unavailable)?;
        let Some(Sql(tenant)) = next else { break };
        after = tenant.as_bytes().to_vec();
        found.push(tenant);
    }
    Ok(found)
}
