//! Records in SQLite.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{Digest, Seq, TenantId, Timestamp};

use super::SqliteTenant;
use super::request::WriteError;
use super::row::{Sql, damaged, unavailable};
use super::sum::{with_sum, without_sum};
use crate::error::StoreError;
use crate::record::{Record, RecordChange, RecordFilter, RecordKind, RecordStore};

macro_rules! select {
    ($where:literal) => {
        concat!("SELECT row, tenant, kind, id, version, word, key, due_at FROM records ", $where)
    };
}

const ONE: &str = select!("WHERE tenant = ? AND kind = ? AND id = ?");
const ALL: &str = select!("WHERE tenant = ?1 AND kind = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4");
// Left to itself, SQLite would look through all records of the kind, because those are in the wanted order.
const BY_WORD: &str = select!(
    "INDEXED BY records_by_word
     WHERE tenant = ?1 AND kind = ?2 AND word = ?5 AND id < ?3 ORDER BY id DESC LIMIT ?4"
);
const BY_KEY: &str = select!(
    "INDEXED BY records_by_key
     WHERE tenant = ?1 AND kind = ?2 AND key = ?5 AND id < ?3 ORDER BY id DESC LIMIT ?4"
);
/// By the key, which says more than a word that many share.
const BY_BOTH: &str = select!(
    "INDEXED BY records_by_key
     WHERE tenant = ?1 AND kind = ?2 AND key = ?5 AND word = ?6 AND id < ?3 ORDER BY id DESC LIMIT ?4"
);
const DUE: &str = select!("WHERE kind = ? AND word = ? AND due_at <= ? ORDER BY due_at, tenant, id LIMIT ?");

#[async_trait]
impl RecordStore for SqliteTenant {
    async fn record(&self, kind: RecordKind, id: &str) -> Result<Option<Record>, StoreError> {
        let (tenant, id) = (self.tenant, id.to_owned());
        let read = move |connection: &Connection| find(connection, tenant, kind, &id);
        self.store.inner.read_aside(move |connection| read(connection).map_err(unavailable)).await
    }

    async fn records(
        &self,
        filter: &RecordFilter,
        before: Option<&str>,
        limit: NonZeroU32,
    ) -> Result<Vec<Record>, StoreError> {
        let (tenant, filter, limit) = (self.tenant, filter.clone(), limit.get());
        // To SQLite every blob is past every text.
        let before = before.map_or(Value::Blob(Vec::new()), |id| Value::Text(id.to_owned()));
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<Record>> {
            let RecordFilter { kind, group, key } = &filter;
            let (tenant, kind, key) = (Sql(tenant), kind.as_str(), key.map(Sql));
            let list = |text: &str, parameters: &[&dyn rusqlite::ToSql]| {
                connection.prepare_cached(text)?.query_map(parameters, |row| Ok(parse(row)?.1))?.collect()
            };
            match (group, key) {
                (None, None) => list(ALL, params![tenant, kind, before, limit]),
                (Some(word), None) => list(BY_WORD, params![tenant, kind, before, limit, word]),
                (None, Some(key)) => list(BY_KEY, params![tenant, kind, before, limit, key]),
                (Some(word), Some(key)) => list(BY_BOTH, params![tenant, kind, before, limit, key, word]),
            }
        };
        self.store.inner.read_aside(move |connection| read(connection).map_err(unavailable)).await
    }

    async fn record_counts(&self, kind: RecordKind) -> Result<BTreeMap<String, u64>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| -> rusqlite::Result<BTreeMap<String, u64>> {
            connection
                .prepare_cached(
                    "SELECT word, count(*) FROM records WHERE tenant = ? AND kind = ? GROUP BY word",
                )?
                .query_map(params![Sql(tenant), kind.as_str()], |row| {
                    Ok((row.get(0)?, row.get::<_, Sql<Seq>>(1)?.0.0))
                })?
                .collect()
        };
        self.store.inner.read_aside(move |connection| read(connection).map_err(unavailable)).await
    }
}

/// Those of all tenants that were due then.
pub(super) fn due(
    connection: &Connection,
    kind: RecordKind,
    word: &str,
    until: Timestamp,
    limit: NonZeroU32,
) -> rusqlite::Result<Vec<(TenantId, Record)>> {
    connection
        .prepare_cached(DUE)?
        .query_map(params![kind.as_str(), word, Sql(until), limit.get()], parse)?
        .collect()
}

/// Every record there is, for whoever checks them.
pub(super) fn all() -> &'static str {
    select!("")
}

fn find(
    connection: &Connection,
    tenant: TenantId,
    kind: RecordKind,
    id: &str,
) -> rusqlite::Result<Option<Record>> {
    connection
        .prepare_cached(ONE)?
        .query_row(params![Sql(tenant), kind.as_str(), id], |row| match parse(row)? {
            (owner, found) if (owner, found.kind, found.id.as_str()) == (tenant, kind, id) => Ok(found),
            _ => Err(damaged("a record is in another's place")),
        })
        .optional()
}

/// A change, and the record's text after it.
pub(super) struct PreparedRecord {
    change: RecordChange,
    to: Option<(Record, String)>,
}

impl PreparedRecord {
    pub(super) fn new(tenant: TenantId, change: &RecordChange) -> Self {
        // A record is JSON already; writing it out cannot fail.
        let text = |record: &Record| serde_json::to_string(record).unwrap_or_default();
        let to = change.record().map(|record| {
            let text = with_sum(&about(&tenant, record.kind, &record.id), text(&record));
            (record, text)
        });
        Self { change: change.clone(), to }
    }
}

/// What a record belongs to, and what its checksum covers with it.
fn about<'a>(tenant: &'a TenantId, kind: RecordKind, id: &'a str) -> [&'a [u8]; 3] {
    [tenant.as_bytes(), kind.as_str().as_bytes(), id.as_bytes()]
}

/// Whether every change finds the version that it expects.
pub(super) fn check(
    connection: &Connection,
    tenant: TenantId,
    changes: &[PreparedRecord],
) -> Result<(), WriteError> {
    for PreparedRecord { change, .. } in changes {
        let RecordChange { kind, id, expected, .. } = change;
        let found = find(connection, tenant, *kind, id)?.map_or(0, |record| record.version);
        if found != *expected {
            return Err(WriteError::RecordMoved { kind: *kind, id: id.clone() });
        }
    }
    Ok(())
}

/// Makes the changes.
pub(super) fn write(
    connection: &Connection,
    tenant: TenantId,
    changes: &[PreparedRecord],
) -> rusqlite::Result<()> {
    for PreparedRecord { change, to } in changes {
        let Some((record, text)) = to else {
            connection
                .prepare_cached("DELETE FROM records WHERE tenant = ? AND kind = ? AND id = ?")?
                .execute(params![Sql(tenant), change.kind.as_str(), change.id])?;
            continue;
        };
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO records (tenant, kind, id, version, word, key, due_at, row)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                Sql(tenant),
                record.kind.as_str(),
                record.id,
                Sql(Seq(record.version)),
                record.group,
                record.key.map(Sql),
                record.due_at.map(Sql),
                text
            ])?;
    }
    Ok(())
}

/// The record and whose it is, if it is as it was written and where it was written.
pub(super) fn parse(row: &Row<'_>) -> rusqlite::Result<(TenantId, Record)> {
    let Sql(tenant) = row.get::<_, Sql<TenantId>>(1)?;
    let (kind, id) = (row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?);
    let kind = RecordKind::named(kind).ok_or_else(|| damaged(format!("`{kind}` is no kind of record")))?;
    let text = without_sum(&about(&tenant, kind, id), row.get_ref(0)?.as_str()?);
    let text = text.ok_or_else(|| damaged(format!("{kind} `{id}` is not as it was written")))?;
    let record: Record = serde_json::from_str(text).map_err(damaged)?;
    let (version, word): (Sql<Seq>, &str) = (row.get(4)?, row.get_ref(5)?.as_str()?);
    let (key, due_at): (Option<Sql<Digest>>, Option<Sql<Timestamp>>) = (row.get(6)?, row.get(7)?);
    let place = (kind, id, version.0.0, word, key.map(|Sql(key)| key), due_at.map(|Sql(due)| due));
    let Record { kind, id, version, group, key, due_at, .. } = &record;
    if place != (*kind, id.as_str(), *version, group.as_str(), *key, *due_at) {
        return Err(damaged(format!("{kind} `{id}` is in the wrong place")));
    }
    Ok((tenant, record))
}
