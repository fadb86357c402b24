//! Lists of runs in SQLite, with and without a filter.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{RunId, SubjectId, TenantId};

use super::likeness::Likeness;
use super::row::{Sql, damaged};
use super::run;
use super::sum::{with_sum, without_sum};
use crate::filter::{RunFilter, Traits};
use crate::run::RunRow;

/// The index is named: without statistics SQLite may take the key to be as good, and read every run.
const IN_SLOT: &str = "SELECT run FROM runs INDEXED BY runs_by_slot
    WHERE tenant = ? AND slot = ? AND run >= ? AND run < ? ORDER BY run DESC LIMIT ?";
const OF_SUBJECT: &str = "SELECT run, slot FROM runs INDEXED BY runs_by_subject
    WHERE tenant = ? AND subject = ? AND run >= ? AND run < ? ORDER BY run DESC";

/// The runs that the filter fits, newest first.
pub(super) fn list(
    connection: &Connection,
    tenant: TenantId,
    filter: &RunFilter,
    before: Option<RunId>,
    limit: NonZeroU32,
) -> rusqlite::Result<Vec<RunRow>> {
    let (from, to) = filter.bounds(before);
    let wanted = filter.traits();
    let slots = wanted.as_ref().map(|wanted| fitting(connection, tenant, wanted)).transpose()?;
    let rows = match (&filter.subject, &slots) {
        (None, None) => run::list(connection, tenant, &from, &to, limit)?,
        (None, Some(slots)) => {
            let ids = in_slots(connection, tenant, slots, &from, &to, limit)?;
            read_all(connection, tenant, &ids)?
        }
        (Some(subject), slots) => {
            let select = "SELECT id FROM subjects WHERE tenant = ? AND name = ?";
            let id: Option<Sql<SubjectId>> = connection
                .prepare_cached(select)?
                .query_row(params![Sql(tenant), subject.as_str()], |row| row.get(0))
                .optional()?;
            let Some(Sql(id)) = id else { return Ok(Vec::new()) };
            let ids = of_subject(connection, tenant, id, slots.as_ref(), &from, &to, limit)?;
            read_all(connection, tenant, &ids)?
        }
    };
    // What is out of order was not put there, nor what the filter does not fit.
    let ids: Vec<RunId> = before.into_iter().chain(rows.iter().map(|row| row.id)).collect();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] <= pair[1]) {
        return Err(damaged(format!("run {} is in the wrong place", pair[1])));
    }
    let fits = |row: &&RunRow| wanted.as_ref().is_none_or(|wanted| Traits::of(row).fit(wanted));
    match rows.iter().find(|row| !fits(row)) {
        Some(row) => Err(damaged(format!("run {} is in the wrong slot", row.id))),
        None => Ok(rows),
    }
}

fn in_slots(
    connection: &Connection,
    tenant: TenantId,
    slots: &HashSet<i64>,
    from: &[u8],
    to: &[u8],
    limit: NonZeroU32,
) -> rusqlite::Result<Vec<RunId>> {
    let mut select = connection.prepare_cached(IN_SLOT)?;
    let mut ids: Vec<RunId> = Vec::new();
    for slot in slots {
        let found = select.query_map(params![Sql(tenant), slot, from, to, limit.get()], |row| row.get(0))?;
        for id in found {
            let Sql(id) = id?;
            ids.push(id);
        }
    }
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids.truncate(limit.get() as usize);
    Ok(ids)
}

fn of_subject(
    connection: &Connection,
    tenant: TenantId,
    subject: SubjectId,
    slots: Option<&HashSet<i64>>,
    from: &[u8],
    to: &[u8],
    limit: NonZeroU32,
) -> rusqlite::Result<Vec<RunId>> {
    let mut select = connection.prepare_cached(OF_SUBJECT)?;
    let mut rows = select.query(params![Sql(tenant), Sql(subject), from, to])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()?.filter(|_| ids.len() < limit.get() as usize) {
        let (Sql(id), slot): (Sql<RunId>, Option<i64>) = (row.get(0)?, row.get(1)?);
        if slots.is_none_or(|slots| slot.is_some_and(|slot| slots.contains(&slot))) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn read_all(connection: &Connection, tenant: TenantId, ids: &[RunId]) -> rusqlite::Result<Vec<RunRow>> {
    let read = |id: &RunId| {
        let row = run::read(connection, tenant, *id)?;
        row.ok_or_else(|| damaged(format!("run {id} is in an index and not there")))
    };
    ids.iter().map(read).collect()
}

/// The slots whose runs fit.
fn fitting(connection: &Connection, tenant: TenantId, wanted: &Traits) -> rusqlite::Result<HashSet<i64>> {
    let mut fitting = HashSet::new();
    let mut select =
        connection.prepare_cached("SELECT traits, tenant, slot FROM run_slots WHERE tenant = ?")?;
    for traits in select.query_map([Sql(tenant)], parse)? {
        let traits = traits?;
        if traits.fit(wanted) {
            fitting.insert(traits.slot());
        }
    }
    Ok(fitting)
}

/// So many slots of a tenant are remembered. It starts afresh when there are more.
const KNOWN: usize = 1_024;
/// Of so many tenants.
const TENANTS: usize = 64;

/// Slots that are in the table: most runs are in one that another run was in before.
#[derive(Default)]
pub(super) struct Slots(HashMap<TenantId, HashSet<i64>>);

impl Slots {
    /// The slot of runs with these traits. What it stands for is kept, where that is new.
    pub(super) fn of(
        &mut self,
        connection: &Connection,
        tenant: TenantId,
        likeness: &Likeness,
    ) -> rusqlite::Result<i64> {
        let slot = likeness.slot;
        if self.0.get(&tenant).is_some_and(|known| known.contains(&slot)) {
            return Ok(slot);
        }
        let text = "INSERT OR IGNORE INTO run_slots (tenant, slot, traits) VALUES (?, ?, ?)";
        put(connection, tenant, slot, &likeness.traits, text)?;
        if self.0.len() >= TENANTS && !self.0.contains_key(&tenant) {
            self.0.clear();
        }
        let known = self.0.entry(tenant).or_default();
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(slot);
        Ok(slot)
    }

    /// What was kept may not be there.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

/// Keeps what a slot stands for, whatever was there.
pub(super) fn mend(connection: &Connection, tenant: TenantId, traits: &Traits) -> rusqlite::Result<i64> {
    let text = "INSERT OR REPLACE INTO run_slots (tenant, slot, traits) VALUES (?, ?, ?)";
    let slot = traits.slot();
    put(connection, tenant, slot, traits, text).map(|()| slot)
}

fn put(
    connection: &Connection,
    tenant: TenantId,
    slot: i64,
    traits: &Traits,
    text: &str,
) -> rusqlite::Result<()> {
    let kept = with_sum(&[tenant.as_bytes()], traits.text());
    connection.prepare_cached(text)?.execute(params![Sql(tenant), slot, kept]).map(drop)
}

/// What a slot stands for, if it is as it was written and where it was written.
pub(super) fn parse(row: &Row<'_>) -> rusqlite::Result<Traits> {
    let Sql(tenant) = row.get::<_, Sql<TenantId>>(1)?;
    let text = without_sum(&[tenant.as_bytes()], row.get_ref(0)?.as_str()?);
    let text = text.ok_or_else(|| damaged("a slot of runs is not as it was written"))?;
    let traits: Traits = serde_json::from_str(text).map_err(damaged)?;
    let is_here = traits.slot() == row.get::<_, i64>(2)?;
    if is_here { Ok(traits) } else { Err(damaged("a slot of runs is in the wrong place")) }
}

#[cfg(test)]
mod tests {
    use super::super::{Durability, SqliteStore};
    use super::*;

    #[test]
    fn a_filter_reads_no_more_runs_than_it_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("punk.db");
        drop(SqliteStore::open(&path, Durability::Commit).unwrap());
        let connection = Connection::open(&path).unwrap();
        for (text, index) in [(IN_SLOT, "runs_by_slot"), (OF_SUBJECT, "runs_by_subject")] {
            let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
            let places = explain.parameter_count();
            let none: Vec<Option<i64>> = vec![None; places];
            let plan =
                explain.query_map(rusqlite::params_from_iter(none), |row| row.get::<_, String>(3)).unwrap();
            let plan: Vec<String> = plan.collect::<Result<_, _>>().unwrap();
            // In the order of the index, so that nothing is sorted.
            assert!(
                plan.len() == 1 && plan[0].contains(index) && plan[0].contains("run>? AND run<?"),
                "{plan:?}"
            );
        }
    }
}
