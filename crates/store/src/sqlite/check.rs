//! Checking a whole database: every chain, every leaf, every derived row. Reads only; the file may be in use.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use ledger::audit::Audit;
use ledger::{Event, Leaf, Log};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use schema::{Digest, RunId, Seq, TenantId};

use super::row::{Sql, unavailable};
use super::run;
use crate::error::StoreError;
use crate::run::{RANGE_SEALED, RunRow, Sealed};

/// What a database was found to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Events whose chains hold.
    pub events: u64,
    /// Runs whose rows are what their events say.
    pub runs: u64,
    /// Runs whose events were given up, and whose heads are in the log.
    pub sealed: u64,
    /// Each tenant's log: its size and root.
    pub logs: Vec<(TenantId, u64, Digest)>,
}

/// Checks the database at `path`.
///
/// # Errors
/// The first thing that is not what was written, as [`StoreError::Damaged`].
pub fn check(path: &Path) -> Result<Checked, StoreError> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(unavailable)?;
    // One snapshot for everything, so that a writer does not look like damage.
    connection.execute_batch("BEGIN").map_err(unavailable)?;
    let said: String =
        connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(unavailable)?;
    if said != "ok" {
        return Err(StoreError::Damaged(said));
    }
    let sealed = sealed_runs(&connection)?;
    let mut audits: HashMap<TenantId, Audit> = HashMap::new();
    let mut rows: HashMap<(TenantId, RunId), RunRow> = HashMap::new();
    // What the segments say the leaves are, and which runs the ledger itself says were sealed.
    let mut bound: HashMap<(TenantId, u64), Leaf> = HashMap::new();
    let mut given_up: HashSet<(TenantId, RunId)> = HashSet::new();
    segments(&connection, |tenant, run, events, leaf| {
        let audit = audits.entry(tenant).or_insert_with(|| Audit::new(tenant));
        for event in &events {
            audit.event(run, event).map_err(|error| StoreError::Damaged(error.to_string()))?;
            given_up.extend(runs_sealed_by(event).map(|run| (tenant, run)));
        }
        if let (Some(leaf), Some(last)) = (leaf, events.last()) {
            bound.insert((tenant, leaf), Leaf { run, seq: last.seq, head: last.hash });
        }
        if let Some(row) = RunRow::fold_all(rows.remove(&(tenant, run)), run, &events) {
            rows.insert((tenant, run), row);
        }
        Ok(())
    })?;
    let logs = logs(&connection, &mut bound, &sealed)?;
    if let Some(((tenant, index), leaf)) = bound.into_iter().next() {
        let what = format!("leaf {index} of tenant {tenant}, which binds run {}, is missing", leaf.run);
        return Err(StoreError::Damaged(what));
    }
    for (key @ (_, id), left) in &sealed {
        if !given_up.contains(key) {
            let what = format!("the events of run {id} are gone, and the ledger does not say why");
            return Err(StoreError::Damaged(what));
        }
        if rows.contains_key(key) {
            return Err(StoreError::Damaged(format!("run {id} is sealed at {} and has events", left.seq)));
        }
    }
    for ((tenant, id), row) in &rows {
        if kept_row(&connection, *tenant, *id)?.as_ref() != Some(row) {
            return Err(StoreError::Damaged(format!("the row of run {id} is not what its events say")));
        }
    }
    let events = audits.values().map(Audit::events).sum();
    Ok(Checked { events, runs: rows.len() as u64, sealed: sealed.len() as u64, logs })
}

/// The runs that an event says were sealed.
fn runs_sealed_by(event: &Event) -> impl Iterator<Item = RunId> {
    let runs = event.payload.get("runs").filter(|_| event.r#type == RANGE_SEALED);
    let runs = runs.and_then(|field| field.value()?.as_array());
    runs.into_iter().flatten().filter_map(|run| run.as_str()?.parse().ok())
}

/// Each tenant's log, after every leaf was found to bind a segment or a sealed run. Takes what it found out of `bound`.
fn logs(
    connection: &Connection,
    bound: &mut HashMap<(TenantId, u64), Leaf>,
    sealed: &HashMap<(TenantId, RunId), Sealed>,
) -> Result<Vec<(TenantId, u64, Digest)>, StoreError> {
    let mut logs: BTreeMap<TenantId, Log> = BTreeMap::new();
    let mut select = connection
        .prepare("SELECT tenant, idx, run, seq, head FROM leaves ORDER BY tenant, idx")
        .map_err(unavailable)?;
    let mut rows = select.query([]).map_err(unavailable)?;
    while let Some(row) = rows.next().map_err(unavailable)? {
        let read = || -> rusqlite::Result<(TenantId, u64, Leaf)> {
            let (Sql(tenant), Sql(Seq(index))) = (row.get(0)?, row.get(1)?);
            let (Sql(run), Sql(seq), Sql(head)) = (row.get(2)?, row.get(3)?, row.get(4)?);
            Ok((tenant, index, Leaf { run, seq, head }))
        };
        let (tenant, index, leaf) = read().map_err(unavailable)?;
        let log = logs.entry(tenant).or_default();
        if index != log.size() {
            return Err(StoreError::Damaged(format!("leaf {} of tenant {tenant} is missing", log.size())));
        }
        let holds = match (bound.remove(&(tenant, index)), sealed.get(&(tenant, leaf.run))) {
            (Some(bound), None) => bound == leaf,
            (None, Some(left)) if left.leaf == index => (left.seq, left.head) == (leaf.seq, leaf.head),
            // One of the leaves that the run had before its last.
            (None, Some(left)) => leaf.seq < left.seq,
            _ => false,
        };
        if !holds {
            return Err(StoreError::Damaged(format!(
                "leaf {index} of tenant {tenant} binds run {}, which ends elsewhere",
                leaf.run
            )));
        }
        log.push(leaf);
    }
    Ok(logs.into_iter().map(|(tenant, log)| (tenant, log.size(), log.root())).collect())
}

fn sealed_runs(connection: &Connection) -> Result<HashMap<(TenantId, RunId), Sealed>, StoreError> {
    let read = || -> rusqlite::Result<_> {
        let mut select = connection.prepare("SELECT tenant, run, seq, head, leaf FROM sealed")?;
        let rows = select.query_map([], |row| {
            let (Sql(tenant), Sql(run)) = (row.get(0)?, row.get(1)?);
            let (Sql(seq), Sql(head), Sql(Seq(leaf))) = (row.get(2)?, row.get(3)?, row.get(4)?);
            Ok(((tenant, run), Sealed { seq, head, leaf }))
        })?;
        rows.collect()
    };
    read().map_err(unavailable)
}

/// A run's row as it is kept, without what a reader is shown of its subject.
fn kept_row(connection: &Connection, tenant: TenantId, id: RunId) -> Result<Option<RunRow>, StoreError> {
    connection
        .prepare_cached("SELECT row, run, seq, head, subject FROM runs WHERE tenant = ? AND run = ?")
        .and_then(|mut select| {
            let read = |row: &rusqlite::Row<'_>| Ok(run::kept(tenant, row)?.0);
            select.query_row(params![Sql(tenant), Sql(id)], read).optional()
        })
        .map_err(unavailable)
}

/// Visits every segment in the order it was written, with the place of its leaf.
fn segments(
    connection: &Connection,
    mut visit: impl FnMut(TenantId, RunId, Vec<Event>, Option<u64>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut select = connection
        .prepare("SELECT tenant, run, body, leaf FROM segments ORDER BY id")
        .map_err(unavailable)?;
    let mut rows = select.query([]).map_err(unavailable)?;
    while let Some(row) = rows.next().map_err(unavailable)? {
        let read = || -> rusqlite::Result<_> {
            let (Sql(tenant), Sql(run)) = (row.get(0)?, row.get(1)?);
            let leaf: Option<Sql<Seq>> = row.get(3)?;
            Ok((tenant, run, leaf.map(|Sql(Seq(index))| index)))
        };
        let (tenant, run, leaf) = read().map_err(unavailable)?;
        visit(tenant, run, parse(run, row.get_ref(2).map_err(unavailable)?)?, leaf)?;
    }
    Ok(())
}

/// The events of a segment, with what is sealed left as digests.
pub(super) fn parse(run: RunId, body: ValueRef<'_>) -> Result<Vec<Event>, StoreError> {
    let damaged = |error| StoreError::Damaged(format!("a segment of run {run} cannot be read: {error}"));
    let body = body.as_blob().map_err(|error| damaged(error.to_string()))?;
    serde_json::from_slice(body).map_err(|error| damaged(error.to_string()))
}
