//! Events in SQLite: segments, and what is derived from them in the same transaction.

use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::{Chain, ChainError, Event, Leaf, sha256};
use rusqlite::{Connection, OptionalExtension as _, params};
use schema::{Digest, RunId, Seq, TenantId};

use super::log::NextLeaf;
use super::row::{Sql, unavailable};
use super::run::Written;
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
    run: RunId,
    expected: Seq,
    last: Seq,
    settle: Settle,
    /// The events as they are kept.
    body: Vec<u8>,
    place: Place,
}

/// What of an append the writer has left to do.
enum Place {
    /// It begins a run: everything about it is known, and the writer only has to find the place free.
    Begins(Written),
    /// It goes on with one: where that stands only the writer knows.
    Continues(Vec<Event>),
}

impl Prepared {
    /// Hashes and writes out in the caller's time. That the events follow each other is checked here; that the first
    /// follows what is in the run is checked by the writer, who knows.
    fn new(tenant: TenantId, commit: Commit) -> Result<Self, CommitError> {
        let appends = commit.appends.into_iter().filter(|append| !append.events.is_empty());
        Ok(Self {
            tenant,
            appends: appends
                .map(|append| PreparedAppend::new(tenant, append))
                .collect::<Result<_, CommitError>>()?,
            policies: commit.policies.into_iter().map(|text| (sha256(text.as_bytes()), text)).collect(),
            jobs: commit.jobs,
        })
    }
}

impl PreparedAppend {
    fn new(tenant: TenantId, append: Append) -> Result<Self, CommitError> {
        let Append { run, expected, events, settle } = append;
        let begins = expected == Seq::START;
        let mut unchecked = events.as_slice();
        let mut chain = Chain::new(tenant, run);
        if let ([first, rest @ ..], false) = (unchecked, begins) {
            chain = Chain::resume(tenant, run, first.seq, first.hash);
            unchecked = rest;
        }
        let follow = unchecked.iter().try_for_each(|event| chain.verify_next(event));
        follow.map_err(|cause| CommitError::Refused { run, cause })?;
        // Events are JSON already; writing them out cannot fail.
        let body = serde_json::to_vec(&events).unwrap_or_default();
        let place = match RunRow::fold_all(None, run, &events) {
            Some(row) if begins => Place::Begins(row.into()),
            _ => Place::Continues(events),
        };
        Ok(Self { run, expected, last: chain.seq(), settle, body, place })
    }
}

/// Writes a commit inside the open transaction. Everything that can be refused is refused before anything is written.
pub(super) fn write(
    connection: &Connection,
    next_leaf: &mut NextLeaf,
    prepared: &Prepared,
) -> Result<(), WriteError> {
    let Prepared { tenant, appends, policies, jobs } = prepared;
    let heads = place_all(connection, *tenant, appends)?;
    for (digest, text) in policies {
        let mut insert = connection
            .prepare_cached("INSERT OR IGNORE INTO policies (tenant, digest, body) VALUES (?, ?, ?)")?;
        insert.execute(params![Sql(*tenant), Sql(*digest), text])?;
    }
    for (append, head) in appends.iter().zip(heads) {
        let PreparedAppend { run, expected, last, settle, body, .. } = append;
        let leaf = match settle {
            Settle::Open => None,
            Settle::Leaf => {
                let leaf = Leaf { run: *run, seq: *last, head };
                Some(Sql(log::add_leaf(connection, next_leaf, *tenant, leaf)?))
            }
        };
        connection
            .prepare_cached(
                "INSERT INTO segments (tenant, run, first_seq, last_seq, body, leaf) VALUES (?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![Sql(*tenant), Sql(*run), Sql(expected.next()), Sql(*last), body, leaf])?;
    }
    for new in jobs {
        job::insert(connection, *tenant, new)?;
    }
    Ok(())
}

/// Brings the rows of the runs up to date, and says where each chain then ends. All are looked at before one is written;
/// a lone new run needs no look, because the row itself finds out whether its place is free.
fn place_all(
    connection: &Connection,
    tenant: TenantId,
    appends: &[PreparedAppend],
) -> Result<Vec<Digest>, WriteError> {
    if let [PreparedAppend { run, expected, place: Place::Begins(new), .. }] = appends {
        if run::insert(connection, tenant, new)? {
            return Ok(vec![new.row.head]);
        }
        let actual = run::read(connection, tenant, *run)?.map_or(Seq::START, |row| row.seq);
        return Err(WriteError::Moved { run: *run, expected: *expected, actual });
    }
    let look = |append| next_row(connection, tenant, append);
    let rows = appends.iter().map(look).collect::<Result<Vec<_>, WriteError>>()?;
    for (append, new) in appends.iter().zip(&rows) {
        match &append.place {
            Place::Begins(new) => drop(run::insert(connection, tenant, new)?),
            Place::Continues(_) => run::update(connection, tenant, &new.clone().into())?,
        }
    }
    Ok(rows.into_iter().map(|row| row.head).collect())
}

/// The run's row after the append, if the append goes where it says.
fn next_row(
    connection: &Connection,
    tenant: TenantId,
    append: &PreparedAppend,
) -> Result<RunRow, WriteError> {
    let PreparedAppend { run, expected, place, .. } = append;
    let row = run::read(connection, tenant, *run)?;
    let (actual, head) = row.as_ref().map_or((Seq::START, Digest::ZERO), |row| (row.seq, row.head));
    if actual != *expected {
        return Err(WriteError::Moved { run: *run, expected: *expected, actual });
    }
    let refused = |cause| WriteError::Refused { run: *run, cause };
    let order = || refused(ChainError::Order { expected: actual.next(), found: actual });
    match place {
        Place::Begins(new) => Ok(new.row.clone()),
        Place::Continues(events) => {
            let first = events.first().ok_or_else(order)?;
            Chain::resume(tenant, *run, actual, head).verify_next(first).map_err(refused)?;
            RunRow::fold_all(row, *run, events).ok_or_else(order)
        }
    }
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
