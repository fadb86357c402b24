//! Checking a whole database: every chain, every leaf, every derived row. Reads only; the file may be in use.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use ledger::audit::Audit;
use ledger::{Event, Leaf};
use rusqlite::{Connection, OpenFlags};
use schema::{Digest, RunId, TenantId};

use super::row::{Sql, unavailable};
use super::run;
use crate::error::StoreError;
use crate::run::RunRow;

/// What a database was found to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Events whose chains hold.
    pub events: u64,
    /// Runs whose rows are what their events say.
    pub runs: u64,
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
    let mut leaves = leaves(&connection)?;
    let mut audits: HashMap<TenantId, Audit> = HashMap::new();
    let mut rows: HashMap<(TenantId, RunId), RunRow> = HashMap::new();
    segments(&connection, |tenant, run, events| {
        let audit = audits.entry(tenant).or_insert_with(|| Audit::new(tenant));
        for event in &events {
            audit.event(run, event).map_err(|error| StoreError::Damaged(error.to_string()))?;
        }
        if let Some(row) = RunRow::fold_all(rows.remove(&(tenant, run)), run, &events) {
            rows.insert((tenant, run), row);
        }
        // A leaf is written with the segment it binds, so the next leaf of the tenant is this one's or a later one's.
        let waiting = leaves.entry(tenant).or_default();
        let bound = events.last().map(|event| Leaf { run, seq: event.seq, head: event.hash });
        if let Some(leaf) = bound.filter(|leaf| waiting.front() == Some(leaf)) {
            waiting.pop_front();
            audit.leaf(leaf).map_err(|error| StoreError::Damaged(error.to_string()))?;
        }
        Ok(())
    })?;
    if let Some((tenant, leaf)) = leaves.iter().find_map(|(tenant, waiting)| Some((tenant, waiting.front()?)))
    {
        return Err(StoreError::Damaged(format!(
            "a leaf of tenant {tenant} binds run {}, which ends elsewhere",
            leaf.run
        )));
    }
    for ((tenant, id), row) in &rows {
        if run::read(&connection, *tenant, *id).map_err(unavailable)?.as_ref() != Some(row) {
            return Err(StoreError::Damaged(format!("the row of run {id} is not what its events say")));
        }
    }
    let events = audits.values().map(Audit::events).sum();
    let mut logs: Vec<_> =
        audits.iter().map(|(tenant, audit)| (*tenant, audit.log().size(), audit.log().root())).collect();
    logs.sort();
    Ok(Checked { events, runs: rows.len() as u64, logs })
}

fn leaves(connection: &Connection) -> Result<HashMap<TenantId, VecDeque<Leaf>>, StoreError> {
    let read = || -> rusqlite::Result<HashMap<TenantId, VecDeque<Leaf>>> {
        let mut found: HashMap<TenantId, VecDeque<Leaf>> = HashMap::new();
        let mut select =
            connection.prepare("SELECT tenant, run, seq, head FROM leaves ORDER BY tenant, idx")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let (Sql(run), Sql(seq), Sql(head)) = (row.get(1)?, row.get(2)?, row.get(3)?);
            found.entry(row.get::<_, Sql<_>>(0)?.0).or_default().push_back(Leaf { run, seq, head });
        }
        Ok(found)
    };
    read().map_err(unavailable)
}

/// Visits every segment in the order it was written.
fn segments(
    connection: &Connection,
    mut visit: impl FnMut(TenantId, RunId, Vec<Event>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut select =
        connection.prepare("SELECT tenant, run, body FROM segments ORDER BY id").map_err(unavailable)?;
    let mut rows = select.query([]).map_err(unavailable)?;
    while let Some(row) = rows.next().map_err(unavailable)? {
        let Sql(tenant) = row.get(0).map_err(unavailable)?;
        let Sql(run) = row.get(1).map_err(unavailable)?;
        let body: Vec<u8> = row.get(2).map_err(unavailable)?;
        let damaged = |error| StoreError::Damaged(format!("a segment of run {run} cannot be read: {error}"));
        visit(tenant, run, serde_json::from_slice(&body).map_err(damaged)?)?;
    }
    Ok(())
}
