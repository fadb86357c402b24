//! Entries of the cache: the rows of `cache_entries`.

use std::collections::BTreeMap;

use async_trait::async_trait;
use deadpool_postgres::Object;
use schema::{Digest, SubjectId, TenantId, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::pipeline::{Ask, Parameter};
use super::row::{bigint, column, millis};
use super::{PostgresStore, Tenant};
use crate::cache::{CacheFilter, CacheHeld, CacheKind, CacheRow, CacheStats, CacheStore, CacheWrite};
use crate::commit::Commit;
use crate::error::StoreError;
use crate::sealing::{SubjectKey, SubjectRow, keep_value};
use crate::view::Rebuilt;

const CACHED: &str = "SELECT c.*, s.wrapped FROM cache_entries AS c
    LEFT JOIN runs AS r ON r.tenant = c.tenant AND r.run = c.run
    LEFT JOIN subjects AS s ON s.tenant = c.tenant AND s.id = c.subject
    WHERE c.tenant = $1 AND c.kind = $2 AND c.key = $3 AND c.expires_at > $4
    AND (c.run IS NULL OR r.run IS NOT NULL) AND (c.subject IS NULL OR s.wrapped IS NOT NULL)";
/// Whom an answer is about its run says, which the same commit may have made.
const PUT: &str = "INSERT INTO cache_entries (tenant, kind, key, run, value, subject, model, created_at, expires_at, bytes, hits)
    SELECT $1::bytea, n.kind, n.key, n.run, n.value, coalesce(n.subject, r.subject), n.model, n.created_at, n.expires_at,
        n.bytes, 0
    FROM unnest($2::text[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bigint[], $9::bigint[],
        $10::bigint[]) AS n(kind, key, run, value, subject, model, created_at, expires_at, bytes)
    LEFT JOIN runs AS r ON r.tenant = $1 AND r.run = n.run
    WHERE n.run IS NULL OR r.run IS NOT NULL
    ON CONFLICT (tenant, kind, key) DO UPDATE SET run = excluded.run, value = excluded.value, subject = excluded.subject,
        model = excluded.model, created_at = excluded.created_at, expires_at = excluded.expires_at,
        bytes = excluded.bytes, hits = 0
    WHERE (excluded.created_at, coalesce(excluded.run, '')) >= (cache_entries.created_at, coalesce(cache_entries.run, ''))";
/// What somebody else has in hand is not the oldest for long.
const BOUND: &str = "DELETE FROM cache_entries AS c USING (
        SELECT o.tenant, o.kind, o.key FROM cache_entries AS o WHERE o.tenant = $1 AND o.kind = $2
        AND (o.created_at, o.key) <= (
            SELECT created_at, key FROM cache_entries WHERE tenant = $1 AND kind = $2
            ORDER BY created_at DESC, key DESC LIMIT 1 OFFSET $3)
        FOR UPDATE SKIP LOCKED) AS old
    WHERE c.tenant = old.tenant AND c.kind = old.kind AND c.key = old.key";
const TOUCH: &str = "UPDATE cache_entries SET hits = cache_entries.hits + n.hits
    FROM unnest($2::text[], $3::bytea[], $4::bigint[]) AS n(kind, key, hits)
    WHERE cache_entries.tenant = $1 AND cache_entries.kind = n.kind AND cache_entries.key = n.key";
const STATS: &str = "SELECT kind, count(*) AS entries, sum(hits)::bigint AS hits, sum(bytes)::bigint AS bytes
    FROM cache_entries WHERE tenant = $1 AND expires_at > $2 GROUP BY kind ORDER BY kind";
/// In the order in which commits take them.
const TAKE_OUT: &str = "DELETE FROM cache_entries AS c USING (
        SELECT kind, key FROM cache_entries WHERE tenant = $1 AND ($2::text IS NULL OR kind = $2)
        AND ($3::bytea IS NULL OR model = $3) AND ($4::bytea IS NULL OR subject = $4)
        AND ($5::bigint IS NULL OR created_at < $5) AND ($6::bytea IS NULL OR key = $6)
        ORDER BY kind, key FOR UPDATE) AS out
    WHERE c.tenant = $1 AND c.kind = out.kind AND c.key = out.key";
const SWEEP: &str = "DELETE FROM cache_entries AS c USING (
        SELECT kind, key FROM cache_entries AS e WHERE tenant = $1 AND (expires_at <= $2
            OR (run IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.tenant = e.tenant AND r.run = e.run))
            OR (subject IS NOT NULL AND NOT EXISTS (SELECT 1 FROM subjects AS s
                WHERE s.tenant = e.tenant AND s.id = e.subject AND s.wrapped IS NOT NULL)))
        ORDER BY kind, key FOR UPDATE SKIP LOCKED) AS out
    WHERE c.tenant = $1 AND c.kind = out.kind AND c.key = out.key";
const ROWS: &str = "SELECT * FROM cache_entries WHERE tenant = $1 AND kind = $2 AND expires_at > $3";
const DROP: &str = "DELETE FROM cache_entries WHERE tenant = $1 AND kind = $2 AND key = $3";

#[async_trait]
impl CacheStore for Tenant {
    async fn cached(
        &self,
        kind: CacheKind,
        key: Digest,
        now: Timestamp,
    ) -> Result<Option<CacheRow>, StoreError> {
        let bytes: &[u8] = key.as_bytes();
        let rows = self.store.query(CACHED, &[&self.key(), &kind.as_str(), &bytes, &millis(now)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let mut found = read(row)?;
        if let (CacheHeld::Value(value), Some(id)) = (&mut found.held, found.subject) {
            let wrapped = column(row, "subjects", "wrapped").blob()?.to_vec();
            let keys = &self.store.inner.keys;
            *value = keys.open_value(self.tenant, kind, key, value, &SubjectRow { id, wrapped })?;
        }
        Ok(Some(found))
    }

    async fn touch(&self, kind: CacheKind, key: Digest) -> Result<(), StoreError> {
        let key: &[u8] = key.as_bytes();
        let parameters: [&(dyn ToSql + Sync); 4] =
            [&self.key(), &vec![kind.as_str()], &vec![key], &vec![1i64]];
        self.store.execute(TOUCH, &parameters).await.map(drop)
    }

    async fn cache_stats(&self, now: Timestamp) -> Result<Vec<CacheStats>, StoreError> {
        let rows = self.store.query(STATS, &[&self.key(), &millis(now)]).await?;
        let stats = |row: &Row| {
            let number = |name| column(row, "cache_entries", name).number();
            Ok(CacheStats {
                kind: kind(row)?,
                entries: number("entries")?,
                hits: number("hits")?,
                bytes: number("bytes")?,
            })
        };
        rows.iter().map(stats).collect()
    }

    async fn invalidate(&self, filter: &CacheFilter) -> Result<u64, StoreError> {
        let CacheFilter { kind, model, subject, older_than, key } = filter;
        let kind = kind.map(CacheKind::as_str);
        let model = model.as_deref().map(str::as_bytes);
        let subject: Option<&[u8]> = subject.as_ref().map(|id| &id.as_bytes()[..]);
        let (older_than, key) = (older_than.map(millis), key.as_ref().map(|key| &key.as_bytes()[..]));
        let parameters: [&(dyn ToSql + Sync); 6] = [&self.key(), &kind, &model, &subject, &older_than, &key];
        self.store.execute(TAKE_OUT, &parameters).await
    }

    async fn sweep_cache(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.store.execute(SWEEP, &[&self.key(), &millis(now)]).await
    }
}

fn kind(row: &Row) -> Result<CacheKind, StoreError> {
    let name: &str = row.try_get("kind")?;
    CacheKind::named(name).ok_or_else(|| column(row, "cache_entries", "kind").damaged("is no kind"))
}

fn read(row: &Row) -> Result<CacheRow, StoreError> {
    let column = |name| column(row, "cache_entries", name);
    let held = match (column("run").optional_id()?, column("value").optional_blob()?) {
        (Some(run), None) => CacheHeld::Run(run),
        (None, Some(value)) => CacheHeld::Value(value.to_vec()),
        _ => return Err(column("value").damaged("is there with a run, or neither is")),
    };
    Ok(CacheRow {
        kind: kind(row)?,
        key: column("key").digest()?,
        held,
        subject: column("subject").optional_id()?,
        model: column("model").optional_text()?,
        created_at: column("created_at").time()?,
        expires_at: column("expires_at").time()?,
        hits: column("hits").number()?,
        bytes: column("bytes").number()?,
    })
}

/// An entry as it is kept: a value is sealed, if it is about somebody.
pub(super) fn kept(
    tenant: TenantId,
    write: &CacheWrite,
    key: Option<&SubjectKey>,
) -> Result<CacheRow, StoreError> {
    let mut row = CacheRow::new(write.clone(), None);
    if let CacheHeld::Value(value) = &mut row.held {
        *value = keep_value(tenant, row.kind, row.key, value, key)?;
        row.subject = key.map(|key| key.id);
    }
    Ok(row)
}

/// The subjects whose keys the entries are sealed with.
pub(super) fn subjects(rows: &[CacheRow]) -> impl Iterator<Item = SubjectId> {
    rows.iter().filter_map(|row| row.subject)
}

/// Puts entries, as part of a commit and after its runs.
pub(super) async fn put<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    rows: &'a [CacheRow],
) -> Result<Option<Ask<'a>>, StoreError> {
    if rows.is_empty() {
        return Ok(None);
    }
    // Sorted, for the sake of the locks; of two with one key the newer counts.
    let mut sorted: BTreeMap<(&str, Digest), &CacheRow> = BTreeMap::new();
    for row in rows {
        let place = sorted.entry((row.kind.as_str(), row.key)).or_insert(row);
        if row.created_at >= place.created_at {
            *place = row;
        }
    }
    let rows: Vec<&CacheRow> = sorted.into_values().collect();
    Ok(Some(Ask::new(connection, PUT, columns(tenant, &rows)).await?))
}

fn columns<'a>(tenant: &'a Tenant, rows: &[&'a CacheRow]) -> Vec<Parameter<'a>> {
    let each = || rows.iter().copied();
    let run = |row: &'a CacheRow| {
        if let CacheHeld::Run(run) = &row.held { Some(&run.as_bytes()[..]) } else { None }
    };
    let value =
        |row: &'a CacheRow| if let CacheHeld::Value(value) = &row.held { Some(&value[..]) } else { None };
    vec![
        Box::new(tenant.key()),
        Box::new(each().map(|row| row.kind.as_str()).collect::<Vec<&str>>()),
        Box::new(each().map(|row| &row.key.as_bytes()[..]).collect::<Vec<&[u8]>>()),
        Box::new(each().map(run).collect::<Vec<Option<&[u8]>>>()),
        Box::new(each().map(value).collect::<Vec<Option<&[u8]>>>()),
        Box::new(
            each()
                .map(|row| row.subject.as_ref().map(|id| &id.as_bytes()[..]))
                .collect::<Vec<Option<&[u8]>>>(),
        ),
        Box::new(each().map(|row| row.model.as_deref().map(str::as_bytes)).collect::<Vec<Option<&[u8]>>>()),
        Box::new(each().map(|row| millis(row.created_at)).collect::<Vec<i64>>()),
        Box::new(each().map(|row| millis(row.expires_at)).collect::<Vec<i64>>()),
        Box::new(each().map(|row| bigint(row.bytes)).collect::<Vec<i64>>()),
    ]
}

/// Takes away the oldest entries beyond the bound, if one of the puts sees to it.
pub(super) async fn bound<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    kind: CacheKind,
    commit: &Commit,
) -> Result<Option<Ask<'a>>, StoreError> {
    let bound = commit.cache.iter().filter(|write| write.kind == kind).find_map(CacheWrite::sees_to);
    let Some(bound) = bound else { return Ok(None) };
    let parameters: Vec<Parameter<'_>> =
        vec![Box::new(tenant.key()), Box::new(kind.as_str()), Box::new(i64::from(bound.get()))];
    Ok(Some(Ask::new(connection, BOUND, parameters).await?))
}

/// Counts what served, as part of a commit.
pub(super) async fn touched<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    touched: &[(CacheKind, Digest)],
) -> Result<Option<Ask<'a>>, StoreError> {
    if touched.is_empty() {
        return Ok(None);
    }
    let mut counted: BTreeMap<(&str, Digest), i64> = BTreeMap::new();
    for (kind, key) in touched {
        *counted.entry((kind.as_str(), *key)).or_default() += 1;
    }
    let kinds: Vec<&str> = counted.keys().map(|(kind, _)| *kind).collect();
    let keys: Vec<Vec<u8>> = counted.keys().map(|(_, key)| key.as_bytes().to_vec()).collect();
    let hits: Vec<i64> = counted.into_values().collect();
    let parameters: Vec<Parameter<'_>> =
        vec![Box::new(tenant.key()), Box::new(kinds), Box::new(keys), Box::new(hits)];
    Ok(Some(Ask::new(connection, TOUCH, parameters).await?))
}

/// Brings the entries that point to runs to what is wanted; those that expired by `now` are left to the next sweep.
pub(super) async fn mend(
    store: &PostgresStore,
    tenant: TenantId,
    mut wanted: BTreeMap<Digest, CacheRow>,
    now: Timestamp,
) -> Result<Rebuilt, StoreError> {
    let tenant = Tenant { store: store.clone(), tenant };
    let kind = CacheKind::ExactResponse.as_str();
    let mut rebuilt = Rebuilt { entries: wanted.len() as u64, repaired: 0 };
    for row in store.query(ROWS, &[&tenant.key(), &kind, &millis(now)]).await? {
        let key = column(&row, "cache_entries", "key").digest()?;
        // An entry that cannot be read is as wrong as one that says something else.
        let found = read(&row).ok();
        if found.is_some_and(|found| wanted.get(&key).is_some_and(|wanted| found.says_the_same(wanted))) {
            wanted.remove(&key);
            continue;
        }
        rebuilt.repaired += u64::from(!wanted.contains_key(&key));
        let key: &[u8] = key.as_bytes();
        store.execute(DROP, &[&tenant.key(), &kind, &key]).await?;
    }
    rebuilt.repaired += wanted.len() as u64;
    for row in wanted.values() {
        let columns = columns(&tenant, &[row]);
        let parameters: Vec<&(dyn ToSql + Sync)> =
            columns.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)).collect();
        store.execute(PUT, &parameters).await?;
    }
    Ok(rebuilt)
}
