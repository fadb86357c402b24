//! Events in SQLite: segments, and what is derived from them in the same transaction.

use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::{Chain, ChainError, Event, Leaf, sha256};
use rusqlite::{Connection, OptionalExtension as _, params};
use schema::{Digest, RunId, Seq, TenantId};

use super::log::NextLeaf;
use super::row::{Sql, unavailable};
use super::writer::{Request, WriteError};
use super::{SqliteTenant, job, log, run};
use crate::commit::{Append, Commit, CommitError, Settle};
use crate::error::StoreError;
use crate::event::EventStore;
use crate::job::NewJob;
use crate::run::RunRow;

#[async_trait]
impl EventStore for SqliteTenant {
    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let brings_work = !commit.jobs.is_empty();
        let prepared = Prepared::new(self.tenant, commit)?;
        self.store.inner.write(Request::Commit(prepared)).await?;
        if brings_work {
            self.store.inner.new_work.notify_waiters();
        }
        Ok(())
    }

    async fn events(&self, run: RunId, after: Seq, limit: NonZeroU32) -> Result<Vec<Event>, StoreError> {
        let tenant = self.tenant;
        self.store
            .inner
            .read(move |connection| read(connection, tenant, run, after, limit.get() as usize))
            .await
    }
}

/// A commit with everything done to it that can be done before the one writer is asked.
pub(super) struct Prepared {
    tenant: TenantId,
    appends: Vec<PreparedAppend>,
    policies: Vec<(Digest, String)>,
    jobs: Vec<NewJob>,
}

struct PreparedAppend {
    append: Append,
    /// The events as they are kept.
    body: Vec<u8>,
}

impl Prepared {
    /// Hashes and writes out in the caller's time. That the events follow each other is checked here; that the first
    /// follows what is in the run is checked by the writer, who knows.
    fn new(tenant: TenantId, commit: Commit) -> Result<Self, CommitError> {
        let appends = commit.appends.into_iter().filter(|append| !append.events.is_empty());
        let prepare = |append: Append| {
            if let [first, rest @ ..] = append.events.as_slice() {
                let mut chain = Chain::resume(tenant, append.run, first.seq, first.hash);
                let follow = rest.iter().try_for_each(|event| chain.verify_next(event));
                follow.map_err(|cause| CommitError::Refused { run: append.run, cause })?;
            }
            // Events are JSON already; writing them out cannot fail.
            let body = serde_json::to_vec(&append.events).unwrap_or_default();
            Ok(PreparedAppend { append, body })
        };
        Ok(Self {
            tenant,
            appends: appends.map(prepare).collect::<Result<_, CommitError>>()?,
            policies: commit.policies.into_iter().map(|text| (sha256(text.as_bytes()), text)).collect(),
            jobs: commit.jobs,
        })
    }
}

/// Writes a commit inside the open transaction. Everything that can be refused is refused before anything is written.
pub(super) fn write(
    connection: &Connection,
    next_leaf: &mut NextLeaf,
    prepared: &Prepared,
) -> Result<(), WriteError> {
    let Prepared { tenant, appends, policies, jobs } = prepared;
    let mut rows = Vec::with_capacity(appends.len());
    for PreparedAppend { append, .. } in appends {
        rows.push(next_row(connection, *tenant, append)?);
    }
    for (digest, text) in policies {
        let mut insert = connection
            .prepare_cached("INSERT OR IGNORE INTO policies (tenant, digest, body) VALUES (?, ?, ?)")?;
        insert.execute(params![Sql(*tenant), Sql(*digest), text])?;
    }
    for (PreparedAppend { append, body }, row) in appends.iter().zip(&rows) {
        connection
            .prepare_cached(
                "INSERT INTO segments (tenant, run, first_seq, last_seq, body) VALUES (?, ?, ?, ?, ?)",
            )?
            .execute(params![
                Sql(*tenant),
                Sql(append.run),
                Sql(append.expected.next()),
                Sql(row.seq),
                body
            ])?;
        run::write(connection, *tenant, row)?;
        if append.settle == Settle::Leaf {
            let leaf = Leaf { run: append.run, seq: row.seq, head: row.head };
            log::add_leaf(connection, next_leaf, *tenant, leaf)?;
        }
    }
    for new in jobs {
        job::insert(connection, *tenant, new)?;
    }
    Ok(())
}

/// The run's row after the append, if the append goes where it says.
fn next_row(connection: &Connection, tenant: TenantId, append: &Append) -> Result<RunRow, WriteError> {
    let Append { run, expected, events, .. } = append;
    let row = run::read(connection, tenant, *run)?;
    let (actual, head) = row.as_ref().map_or((Seq::START, Digest::ZERO), |row| (row.seq, row.head));
    if actual != *expected {
        return Err(WriteError::Moved { run: *run, expected: *expected, actual });
    }
    let refused = |cause| WriteError::Refused { run: *run, cause };
    let order = || refused(ChainError::Order { expected: actual.next(), found: actual });
    let first = events.first().ok_or_else(order)?;
    Chain::resume(tenant, *run, actual, head).verify_next(first).map_err(refused)?;
    RunRow::fold_all(row, *run, events).ok_or_else(order)
}

/// The events of a run past `after`, at most `limit`.
pub(super) fn read(
    connection: &Connection,
    tenant: TenantId,
    run: RunId,
    after: Seq,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let mut select = connection
        .prepare_cached(
            "SELECT body FROM segments WHERE tenant = ? AND run = ? AND last_seq > ? ORDER BY first_seq",
        )
        .map_err(unavailable)?;
    // No run is as long as the largest number there is.
    let place = i64::try_from(after.0).unwrap_or(i64::MAX);
    let mut rows = select.query(params![Sql(tenant), Sql(run), place]).map_err(unavailable)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        let body = row.get_ref(0).map_err(unavailable)?;
        let body = body
            .as_blob()
            .map_err(|error| StoreError::Damaged(format!("a segment of run {run}: {error}")))?;
        let segment: Vec<Event> = serde_json::from_slice(body)
            .map_err(|error| StoreError::Damaged(format!("a segment of run {run}: {error}")))?;
        events.extend(segment.into_iter().filter(|event| event.seq > after));
        if events.len() >= limit {
            events.truncate(limit);
            break;
        }
    }
    Ok(events)
}

/// A policy's text.
pub(super) fn policy(
    connection: &Connection,
    tenant: TenantId,
    digest: Digest,
) -> Result<Option<String>, StoreError> {
    connection
        .prepare_cached("SELECT body FROM policies WHERE tenant = ? AND digest = ?")
        .and_then(|mut select| {
            select.query_row(params![Sql(tenant), Sql(digest)], |row| row.get(0)).optional()
        })
        .map_err(unavailable)
}
