//! Checking a whole database: every page, chain, leaf, derived row, policy and job. Reads only; the file may be in use.
//!
//! Memory holds one run at a time, and the trees of the logs where their roots are asked for.

use std::collections::HashSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use ledger::Event;
use rusqlite::{Connection, Row};
use schema::{Digest, RunId, Seq, SubjectId, TenantId};

use super::row::{Sql, unavailable};
use super::{
    ahead, api_key, beside, cache, conduct, event, job, line, log, meter, pool, record, slot, sums, tenant,
    wal,
};
use crate::error::StoreError;
use crate::filter::Traits;
use crate::run::{RANGE_SEALED, RunRow};
use crate::sealing::{key_damaged, without_sum};

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
    if nobody_writes(path)
        && let Some(damage) = wal::damage(path).map_err(StoreError::unavailable)?
    {
        return Err(StoreError::Damaged(damage.to_string()));
    }
    ahead::catch_up(path)?;
    check_database(path)
}

/// Checks what is in the database at `path`, without what is in its journal only.
pub(super) fn check_database(path: &Path) -> Result<Checked, StoreError> {
    let connection = pool::read_only(path).map_err(unavailable)?;
    // One snapshot for everything, so that a writer does not look like damage.
    let snapshot = connection.unchecked_transaction().map_err(unavailable)?;
    pages(&snapshot, "integrity_check")?;
    let (runs, events, given_up) = check_runs(&snapshot)?;
    let sealed = check_sealed(&snapshot, &given_up)?;
    let mut logs = Vec::new();
    for tenant in tenants(&snapshot)? {
        let mut tree = log::Tree::default();
        log::catch_up(&snapshot, tenant, &mut tree)?;
        let log = tree.log;
        logs.push((tenant, log.size(), log.root()));
    }
    check_policies(&snapshot)?;
    check_seals(&snapshot)?;
    visit(&snapshot, &job::all(), |row| job::parse(row).map(drop))?;
    visit(&snapshot, "SELECT row, hash, tenant, id FROM api_keys", |row| api_key::parse(row).map(drop))?;
    visit(&snapshot, "SELECT row, tenant, day, slot FROM usage_daily", |row| {
        sums::parse_usage(row).map(drop)
    })?;
    visit(&snapshot, "SELECT row, tenant, name FROM agents", |row| sums::parse_agent(row).map(drop))?;
    visit(&snapshot, "SELECT row, tenant, agent, day FROM conduct_daily", |row| {
        conduct::parse(row).map(drop)
    })?;
    visit(&snapshot, "SELECT traits, tenant, slot FROM run_slots", |row| slot::parse(row).map(drop))?;
    visit(&snapshot, &cache::all(), |row| cache::parse(row).map(drop))?;
    visit(&snapshot, "SELECT row, id FROM tenants", |row| tenant::parse(row).map(drop))?;
    visit(&snapshot, "SELECT row, tenant FROM settings", |row| tenant::parse_settings(row).map(drop))?;
    visit(&snapshot, record::all(), |row| record::parse(row).map(drop))?;
    visit(&snapshot, "SELECT name, applied, sum FROM ahead", |row| ahead::parse(row).map(drop))?;
    visit(&snapshot, "SELECT tenant, meter, since, spent, sum FROM meters", |row| {
        meter::parse(row).map(drop)
    })?;
    Ok(Checked { events, runs, sealed, logs })
}

/// Whether every page is in order: `quick_check`, or `integrity_check`, which compares the indexes too.
pub(super) fn pages(connection: &Connection, how: &str) -> Result<(), StoreError> {
    let said: String = connection
        .query_row(&format!("PRAGMA {how}(1)"), [], |row| row.get(0))
        .map_err(|error| unavailable(error).within("the pages"))?;
    // SQLite may say it in two lines, of which the first names the tree.
    if said == "ok" { Ok(()) } else { Err(StoreError::Damaged(said.replace('\n', " "))) }
}

/// Whether the log can be looked at without seeing it half written.
fn nobody_writes(path: &Path) -> bool {
    match File::open(beside(path, "-owner")) {
        Ok(owner) => owner.try_lock_shared().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Runs that the ledger says were given up.
type GivenUp = HashSet<(TenantId, RunId)>;

/// Every run with its events and its row. How many of both, and which runs they say were given up. What is sealed stays
/// so: the chains hold without it.
fn check_runs(connection: &Connection) -> Result<(u64, u64, GivenUp), StoreError> {
    let (mut runs, mut events, mut given_up) = (0, 0, GivenUp::new());
    let mut select = connection
        .prepare("SELECT row, run, seq, head, subject, tenant, slot FROM runs ORDER BY tenant, run")
        .map_err(unavailable)?;
    let mut rows = select.query([]).map_err(unavailable)?;
    while let Some(row) = rows.next().map_err(|error| unavailable(error).within("runs"))? {
        let Sql(tenant) = row.get(5).map_err(unavailable)?;
        let slot: Option<i64> = row.get(6).map_err(unavailable)?;
        let (row, _) = line::kept(tenant, row).map_err(unavailable)?;
        if slot.is_some_and(|slot| slot != Traits::of(&row).slot()) {
            return Err(StoreError::Damaged(format!("run {} is in the wrong slot", row.id)));
        }
        let found = event::read(connection, None, tenant, row.id, Seq::START, usize::MAX)?;
        if RunRow::fold_all(None, row.id, &found).as_ref() != Some(&row) {
            return Err(StoreError::Damaged(format!("the row of run {} is not what its events say", row.id)));
        }
        runs += 1;
        events += found.len() as u64;
        given_up.extend(found.iter().flat_map(runs_sealed_by).map(|run| (tenant, run)));
    }
    let strays =
        "SELECT s.run FROM segments AS s LEFT JOIN runs AS r ON r.tenant = s.tenant AND r.run = s.run
        WHERE r.run IS NULL LIMIT 1";
    visit(connection, strays, |row| {
        let Sql(run): Sql<RunId> = row.get(0)?;
        Err(damaged(format!("run {run}: it has events and no row")))
    })?;
    Ok((runs, events, given_up))
}

/// The runs that an event says were given up.
fn runs_sealed_by(event: &Event) -> impl Iterator<Item = RunId> {
    let runs = event.payload.get("runs").filter(|_| event.r#type == RANGE_SEALED);
    let runs = runs.and_then(|field| field.value()?.as_array());
    runs.into_iter().flatten().filter_map(|run| run.as_str()?.parse().ok())
}

/// Every run that was given up: the ledger says so, and its leaf is where it should be. How many.
fn check_sealed(connection: &Connection, given_up: &GivenUp) -> Result<u64, StoreError> {
    let mut sealed = 0;
    let text = "SELECT s.tenant, s.run, s.seq, s.head, l.run, l.seq, l.head
        FROM sealed AS s LEFT JOIN leaves AS l ON l.tenant = s.tenant AND l.idx = s.leaf";
    visit(connection, text, |row| {
        let (Sql(tenant), Sql(run)): (Sql<TenantId>, Sql<RunId>) = (row.get(0)?, row.get(1)?);
        if !given_up.contains(&(tenant, run)) {
            return Err(damaged(format!(
                "the events of run {run} are gone, and the ledger does not say why"
            )));
        }
        if row.get::<_, Option<Sql<RunId>>>(4)?.is_none() {
            return Err(damaged(format!("the leaf of run {run}, which is sealed, is missing")));
        }
        let (Sql(seq), Sql(head)): (Sql<Seq>, Sql<Digest>) = (row.get(2)?, row.get(3)?);
        let (Sql(bound), Sql(end), Sql(at_end)) = (row.get(4)?, row.get(5)?, row.get(6)?);
        if (bound, end, at_end) != (run, seq, head) {
            return Err(damaged(format!("the leaf of run {run}, which is sealed, binds something else")));
        }
        sealed += 1;
        Ok(())
    })?;
    Ok(sealed)
}

/// Whoever has runs or leaves.
fn tenants(connection: &Connection) -> Result<Vec<TenantId>, StoreError> {
    let mut tenants = Vec::new();
    visit(connection, "SELECT tenant FROM runs UNION SELECT tenant FROM leaves ORDER BY tenant", |row| {
        tenants.push(row.get::<_, Sql<_>>(0)?.0);
        Ok(())
    })?;
    Ok(tenants)
}

/// What is sealed, as far as that can be seen without the keys.
fn check_seals(connection: &Connection) -> Result<(), StoreError> {
    let text = "SELECT run, sealed, subjects.id FROM segments
        LEFT JOIN subjects ON subjects.tenant = segments.tenant AND subjects.id = segments.subject
        WHERE sealed IS NOT NULL";
    visit(connection, text, |row| {
        let Sql(run): Sql<RunId> = row.get(0)?;
        if without_sum(row.get_ref(1)?.as_blob()?).is_none() {
            return Err(damaged(format!("run {run}: its sealed values have changed")));
        }
        if row.get::<_, Option<Sql<SubjectId>>>(2)?.is_none() {
            return Err(damaged(format!(
                "run {run}: the key of its sealed values is not there, and was not erased"
            )));
        }
        Ok(())
    })?;
    visit(connection, "SELECT id, wrapped FROM subjects WHERE wrapped IS NOT NULL", |row| {
        let Sql(subject) = row.get(0)?;
        match without_sum(row.get_ref(1)?.as_blob()?) {
            Some(_) => Ok(()),
            None => Err(damaged(key_damaged(subject).to_string())),
        }
    })
}

fn check_policies(connection: &Connection) -> Result<(), StoreError> {
    visit(connection, "SELECT digest, body FROM policies", |row| {
        let Sql(digest) = row.get(0)?;
        event::checked_policy(digest, row.get(1)?).map(drop).map_err(|error| damaged(error.to_string()))
    })
}

fn visit(
    connection: &Connection,
    text: &str,
    mut visit: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> Result<(), StoreError> {
    let mut read = || -> rusqlite::Result<()> {
        let mut select = connection.prepare(text)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            visit(row)?;
        }
        Ok(())
    };
    read().map_err(unavailable)
}

fn damaged(what: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Blob, what.into())
}
