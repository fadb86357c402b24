//! Entries of the cache in SQLite.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{Digest, RunId, Seq, SubjectId, TenantId, Timestamp};

use super::eras::{self, Eras};
use super::memory::Memory;
use super::often::{Often, Statements};
use super::request::{Reply, Request};
use super::row::{Sql, damaged, unavailable};
use super::sum::sum;
use super::{SqliteTenant, run};
use crate::cache::{CacheFilter, CacheHeld, CacheKind, CacheRow, CacheStats, CacheStore, CacheWrite};
use crate::commit::Commit;
use crate::error::StoreError;
use crate::sealing::{SubjectKey, SubjectRow, keep_value};
use crate::view::Rebuilt;

/// How many entries one transaction takes out.
const BATCH: u32 = 1_000;

const COLUMNS: &str =
    "c.tenant, c.kind, c.key, c.run, c.value, c.subject, c.model, c.created_at, c.expires_at, c.bytes,
    c.hits, c.sum";
/// Whether the run that an entry points to and the key that it is sealed with are there.
const IS_THERE: &str = "(c.run IS NULL OR EXISTS (SELECT 1 FROM runs AS r WHERE r.tenant = c.tenant AND r.run = c.run))
    AND (c.subject IS NULL OR EXISTS (
        SELECT 1 FROM subjects AS s WHERE s.tenant = c.tenant AND s.id = c.subject AND s.wrapped IS NOT NULL))";

#[async_trait]
impl CacheStore for SqliteTenant {
    async fn cached(
        &self,
        kind: CacheKind,
        key: Digest,
        now: Timestamp,
    ) -> Result<Option<CacheRow>, StoreError> {
        if !self.store.inner.presence.may_have(&key) {
            return Ok(None);
        }
        let (tenant, inner) = (self.tenant, self.store.inner.clone());
        let place = (tenant, kind, key);
        let asked_in = match self.store.inner.known.entries.get(&place) {
            // How often it served is not kept up to date here; nobody who asks for one entry asks for that.
            Ok(row) if self.store.inner.writer.is_some() => {
                return Ok(Some(row).filter(|row| row.expires_at > now));
            }
            Ok(_) => None,
            Err(generation) => Some(generation),
        };
        let read = move |connection: &Connection| {
            let Some(mut row) = find(connection, tenant, kind, key, now).map_err(unavailable)? else {
                return Ok(None);
            };
            if let (CacheHeld::Value(value), Some(id)) = (&mut row.held, row.subject) {
                let wrapped = connection
                    .prepare_cached("SELECT wrapped FROM subjects WHERE tenant = ? AND id = ?")
                    .and_then(|mut select| select.query_row(params![Sql(tenant), Sql(id)], |row| row.get(0)))
                    .map_err(unavailable)?;
                *value = inner.keys.open_value(tenant, kind, key, value, &SubjectRow { id, wrapped })?;
            }
            Ok(Some(row))
        };
        let is_queued = self.store.inner.ahead.as_ref().is_some_and(|(ahead, _)| ahead.changes(&place));
        let found = match is_queued {
            true => self.store.inner.read(read).await?,
            // What it points to or is sealed with is never taken away by what is queued.
            false => self.store.inner.read_aside(read).await?,
        };
        if let (Some(row @ CacheRow { subject: None, held: CacheHeld::Run(_), .. }), Some(asked_in)) =
            (&found, asked_in)
        {
            self.store.inner.known.entries.learn(place, row, asked_in);
        }
        Ok(found)
    }

    async fn touch(&self, kind: CacheKind, key: Digest) -> Result<(), StoreError> {
        self.store.inner.write(Request::Touch { tenant: self.tenant, kind, key }).await?;
        Ok(())
    }

    async fn cache_stats(&self, now: Timestamp) -> Result<Vec<CacheStats>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<CacheStats>> {
            connection
                .prepare_cached(
                    "SELECT kind, count(*), sum(hits), sum(bytes) FROM cache_entries
                     WHERE tenant = ? AND expires_at > ? GROUP BY kind ORDER BY kind",
                )?
                .query_map(params![Sql(tenant), Sql(now)], |row| {
                    let (Sql(Seq(entries)), Sql(Seq(hits)), Sql(Seq(bytes))) =
                        (row.get(1)?, row.get(2)?, row.get(3)?);
                    Ok(CacheStats { kind: kind(row, 0)?, entries, hits, bytes })
                })?
                .collect()
        };
        self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await
    }

    async fn invalidate(&self, filter: &CacheFilter) -> Result<u64, StoreError> {
        self.take_out(TakeOut::Fitting(filter.clone())).await
    }

    async fn sweep_cache(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.take_out(TakeOut::Useless(now)).await
    }
}

/// What to take out.
#[derive(Clone)]
pub(super) enum TakeOut {
    Fitting(CacheFilter),
    Useless(Timestamp),
}

impl SqliteTenant {
    /// A batch at a time, so that nobody waits long for it.
    async fn take_out(&self, what: TakeOut) -> Result<u64, StoreError> {
        let mut out = 0;
        loop {
            let request = Request::TakeOut { tenant: self.tenant, what: what.clone() };
            let Reply::Count(count) = self.store.inner.write(request).await? else {
                return Err(StoreError::unavailable("the writer answered another question"));
            };
            out += count;
            if count < u64::from(BATCH) {
                return Ok(out);
            }
        }
    }

    /// The keys that seal a commit's values, made where a subject is new.
    pub(super) async fn cache_keys_for(
        &self,
        commit: &Commit,
    ) -> Result<Vec<Option<Arc<SubjectKey>>>, StoreError> {
        let mut keys = Vec::with_capacity(commit.cache.len());
        for write in &commit.cache {
            keys.push(match &write.subject {
                Some(subject) => Some(self.key_of(subject, write.created_at).await?),
                None => None,
            });
        }
        Ok(keys)
    }
}

/// An entry as it is kept: a value is sealed, if it is about somebody.
pub(super) struct PreparedEntry {
    pub(super) row: CacheRow,
    /// The bound, if it sees to it.
    pub(super) bound: Option<NonZeroU32>,
    /// There surely was no entry with its key before.
    pub(super) was_absent: bool,
}

impl PreparedEntry {
    pub(super) fn new(
        tenant: TenantId,
        write: &CacheWrite,
        key: Option<&SubjectKey>,
    ) -> Result<Self, StoreError> {
        let mut row = CacheRow::new(write.clone(), None);
        if let CacheHeld::Value(value) = &mut row.held {
            *value = keep_value(tenant, row.kind, row.key, value, key)?;
            row.subject = key.map(|key| key.id);
        }
        Ok(Self { row, bound: write.sees_to(), was_absent: false })
    }
}

/// Puts an entry, after the runs of its commit. `known`: whom those of them are about that it begins.
pub(super) fn put(
    statements: &mut Statements<'_>,
    Memory { touched, beyond, eras, .. }: &mut Memory,
    tenant: TenantId,
    entry: &PreparedEntry,
    known: impl FnOnce(RunId) -> Option<Option<SubjectId>>,
) -> rusqlite::Result<()> {
    let (row, connection) = (&entry.row, statements.connection);
    let place = (tenant, row.kind, row.key);
    if let Some(hits) = touched.0.remove(&place) {
        // They are those of the entry before it, which may stay.
        touch(connection, place, hits)?;
    }
    let subject = match row.held {
        CacheHeld::Value(_) => row.subject,
        CacheHeld::Run(run) => match known(run) {
            Some(subject) => subject,
            None => match run::subject_of(connection, tenant, run)? {
                Some(subject) => subject,
                None => return Ok(()),
            },
        },
    };
    if !eras.is_new(&row.key, entry.was_absent) && !make_way(connection, tenant, row)? {
        return Ok(());
    }
    insert(statements, eras, tenant, row, subject)?;
    beyond.puts += 1;
    entry.bound.map_or(Ok(()), |bound| beyond.look(connection, (tenant, row.kind), bound))
}

/// Takes out the entry that is there with the same key. Not if that is a newer one: then `false`.
fn make_way(connection: &Connection, tenant: TenantId, row: &CacheRow) -> rusqlite::Result<bool> {
    let Some(before) = eras::find(connection, (tenant, row.kind, row.key))? else { return Ok(true) };
    let run = match &row.held {
        CacheHeld::Run(run) => Some(Sql(*run)),
        CacheHeld::Value(_) => None,
    };
    connection
        .prepare_cached(
            "DELETE FROM cache_entries
             WHERE id = ? AND (?, coalesce(?, x'')) >= (created_at, coalesce(run, x''))",
        )?
        .execute(params![before, Sql(row.created_at), run])
        .map(|gone| gone > 0)
}

pub(super) const INSERT: &str = "INSERT INTO cache_entries
    (era, tenant, kind, key, run, value, subject, model, created_at, expires_at, bytes, hits, sum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)";

fn insert(
    statements: &mut Statements<'_>,
    eras: &mut Eras,
    tenant: TenantId,
    row: &CacheRow,
    subject: Option<SubjectId>,
) -> rusqlite::Result<()> {
    let (run, value) = match &row.held {
        CacheHeld::Run(run) => (Some(Sql(*run)), None),
        CacheHeld::Value(value) => (None, Some(value)),
    };
    let era = eras.next(statements.connection)?;
    statements
        .get(Often::Entry)?
        .execute(params![
            era,
            Sql(tenant),
            row.kind.as_str(),
            Sql(row.key),
            run,
            value,
            subject.map(Sql),
            row.model,
            Sql(row.created_at),
            Sql(row.expires_at),
            Sql(Seq(row.bytes)),
            checksum(tenant, row, subject)
        ])
        .map(drop)
}

/// How often entries served in the open transaction.
#[derive(Default)]
pub(super) struct Touched(BTreeMap<(TenantId, CacheKind, Digest), u32>);

impl Touched {
    pub(super) fn add(&mut self, tenant: TenantId, kind: CacheKind, key: Digest) {
        *self.0.entry((tenant, kind, key)).or_default() += 1;
    }

    /// Writes all of it.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        while let Some((place, hits)) = self.0.pop_first() {
            touch(connection, place, hits)?;
        }
        Ok(())
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

fn touch(connection: &Connection, place: (TenantId, CacheKind, Digest), hits: u32) -> rusqlite::Result<()> {
    let Some(entry) = eras::find(connection, place)? else { return Ok(()) };
    connection
        .prepare_cached("UPDATE cache_entries SET hits = hits + ? WHERE id = ?")?
        .execute(params![hits, entry])
        .map(drop)
}

/// Takes out some of what is meant, and says how many entries that was.
pub(super) fn take_out(connection: &Connection, tenant: TenantId, what: &TakeOut) -> rusqlite::Result<u64> {
    let out = match what {
        TakeOut::Fitting(CacheFilter { kind, model, subject, older_than, key }) => connection
            .prepare_cached(&format!(
                "DELETE FROM cache_entries WHERE id IN (
                     SELECT id FROM cache_entries WHERE tenant = ?1 AND (?2 IS NULL OR kind = ?2)
                     AND (?3 IS NULL OR model = ?3) AND (?4 IS NULL OR subject = ?4)
                     AND (?5 IS NULL OR created_at < ?5) AND (?6 IS NULL OR key = ?6) LIMIT {BATCH})"
            ))?
            .execute(params![
                Sql(tenant),
                kind.map(CacheKind::as_str),
                model,
                subject.map(Sql),
                older_than.map(Sql),
                key.map(Sql)
            ])?,
        TakeOut::Useless(now) => connection
            .prepare_cached(&format!(
                "DELETE FROM cache_entries WHERE id IN (
                     SELECT id FROM cache_entries AS c
                     WHERE tenant = ?1 AND (expires_at <= ?2 OR NOT ({IS_THERE})) LIMIT {BATCH})"
            ))?
            .execute(params![Sql(tenant), Sql(*now)])?,
    };
    Ok(out as u64)
}

/// The entry as it is kept, if it serves.
fn find(
    connection: &Connection,
    tenant: TenantId,
    kind: CacheKind,
    key: Digest,
    now: Timestamp,
) -> rusqlite::Result<Option<CacheRow>> {
    let Some(entry) = eras::find(connection, (tenant, kind, key))? else { return Ok(None) };
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM cache_entries AS c WHERE c.id = ? AND c.expires_at > ? AND {IS_THERE}"
        ))?
        .query_row(params![entry, Sql(now)], |row| match parse(row)? {
            (whose, found) if (whose, found.kind, found.key) == (tenant, kind, key) => Ok(found),
            _ => Err(damaged("an entry of the cache is in another's place")),
        })
        .optional()
}

/// Every entry there is, as [`parse`] reads them.
pub(super) fn all() -> String {
    format!("SELECT {COLUMNS} FROM cache_entries AS c")
}

/// The entry and whose it is, if it is as it was written.
pub(super) fn parse(row: &Row<'_>) -> rusqlite::Result<(TenantId, CacheRow)> {
    let (Sql(tenant), Sql(key)) = (row.get(0)?, row.get(2)?);
    let run: Option<Sql<RunId>> = row.get(3)?;
    let value: Option<Vec<u8>> = row.get(4)?;
    let held = match (run, value) {
        (Some(Sql(run)), None) => CacheHeld::Run(run),
        (None, Some(value)) => CacheHeld::Value(value),
        _ => return Err(damaged(format!("the entry {key} of the cache holds neither a run nor a value"))),
    };
    let subject: Option<Sql<SubjectId>> = row.get(5)?;
    let (Sql(created_at), Sql(expires_at)) = (row.get(7)?, row.get(8)?);
    let (Sql(Seq(bytes)), Sql(Seq(hits))) = (row.get(9)?, row.get(10)?);
    let found = CacheRow {
        kind: kind(row, 1)?,
        key,
        held,
        subject: subject.map(|Sql(id)| id),
        model: row.get(6)?,
        created_at,
        expires_at,
        hits,
        bytes,
    };
    if checksum(tenant, &found, found.subject) != row.get::<_, i64>(11)? {
        return Err(damaged(format!("the entry {key} of the cache is not as it was written")));
    }
    Ok((tenant, found))
}

fn kind(row: &Row<'_>, column: usize) -> rusqlite::Result<CacheKind> {
    CacheKind::named(row.get_ref(column)?.as_str()?)
        .ok_or_else(|| damaged("the cache has an entry of no known kind"))
}

fn checksum(tenant: TenantId, row: &CacheRow, subject: Option<SubjectId>) -> i64 {
    let (run, value) = match &row.held {
        CacheHeld::Run(run) => (&run.as_bytes()[..], &[][..]),
        CacheHeld::Value(value) => (&[][..], value.as_slice()),
    };
    let subject: &[u8] = subject.as_ref().map_or(&[], |id| id.as_bytes());
    let numbers = [row.created_at.as_millis(), row.expires_at.as_millis(), row.bytes].map(u64::to_le_bytes);
    let parts = [
        &tenant.as_bytes()[..],
        row.key.as_bytes(),
        run,
        value,
        subject,
        numbers.as_flattened(),
        row.kind.as_str().as_bytes(),
    ];
    sum(&parts, row.model.as_deref().unwrap_or_default()).into()
}

/// Brings the entries that point to runs to what is wanted; those that expired by `now` are left to the next sweep.
pub(super) fn mend(
    connection: &Connection,
    eras: &mut Eras,
    tenant: TenantId,
    mut wanted: BTreeMap<Digest, CacheRow>,
    now: Timestamp,
) -> rusqlite::Result<Rebuilt> {
    let mut rebuilt = Rebuilt { entries: wanted.len() as u64, repaired: 0 };
    let mut wrong: Vec<(i64, Vec<u8>)> = Vec::new();
    let text = format!(
        "SELECT {COLUMNS}, c.id FROM cache_entries AS c WHERE tenant = ? AND kind = ? AND expires_at > ?"
    );
    let mut select = connection.prepare_cached(&text)?;
    let mut rows = select.query(params![Sql(tenant), CacheKind::ExactResponse.as_str(), Sql(now)])?;
    while let Some(row) = rows.next()? {
        // An entry that cannot be read is as wrong as one that says something else.
        let found = parse(row).ok().map(|(_, found)| found);
        match found.filter(|found| wanted.get(&found.key).is_some_and(|wanted| found.says_the_same(wanted))) {
            Some(right) => drop(wanted.remove(&right.key)),
            None => wrong.push((row.get(12)?, row.get(2)?)),
        }
    }
    let is_replaced = |key: &Vec<u8>| wanted.keys().any(|wanted| wanted.as_bytes()[..] == key[..]);
    rebuilt.repaired = wanted.len() as u64 + wrong.iter().filter(|(_, key)| !is_replaced(key)).count() as u64;
    for (entry, _) in wrong {
        connection.prepare_cached("DELETE FROM cache_entries WHERE id = ?")?.execute([entry])?;
    }
    let mut statements = Statements::new(connection);
    wanted.values().try_for_each(|row| insert(&mut statements, eras, tenant, row, row.subject))?;
    Ok(rebuilt)
}
