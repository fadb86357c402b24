//! Records: the rows of `records`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use deadpool_postgres::Object;
use schema::{TenantId, Timestamp};
use tokio_postgres::Row;

use super::pipeline::{Ask, Parameter, send};
use super::row::{bigint, column, json, millis};
use super::{PostgresStore, Tenant};
use crate::commit::CommitError;
use crate::error::StoreError;
use crate::record::{Record, RecordChange, RecordFilter, RecordKind, RecordStore};

const RECORD: &str = "SELECT * FROM records WHERE tenant = $1 AND kind = $2 AND id = $3";
const ALL: &str =
    "SELECT * FROM records WHERE tenant = $1 AND kind = $2 AND id < $3 ORDER BY id DESC LIMIT $4";
const BY_WORD: &str = "SELECT * FROM records WHERE tenant = $1 AND kind = $2 AND word = $5 AND id < $3
    ORDER BY id DESC LIMIT $4";
const BY_KEY: &str = "SELECT * FROM records WHERE tenant = $1 AND kind = $2 AND key = $5 AND id < $3
    ORDER BY id DESC LIMIT $4";
const BY_BOTH: &str =
    "SELECT * FROM records WHERE tenant = $1 AND kind = $2 AND word = $5 AND key = $6 AND id < $3
    ORDER BY id DESC LIMIT $4";
const COUNTS: &str =
    "SELECT word, count(*) AS records FROM records WHERE tenant = $1 AND kind = $2 GROUP BY word";
const DUE: &str = "SELECT * FROM records WHERE kind = $1 AND word = $2 AND due_at <= $3
    ORDER BY due_at, tenant, id LIMIT $4";
/// The records that a commit changes, held until it ends.
const LOCK: &str = "SELECT r.kind, r.id, r.version
    FROM records AS r JOIN unnest($2::text[], $3::bytea[]) AS n(kind, id) ON r.kind = n.kind AND r.id = n.id
    WHERE r.tenant = $1 ORDER BY r.kind, r.id FOR UPDATE OF r";
const TAKEN: &str = "SELECT r.kind, r.id FROM records AS r
    JOIN unnest($2::text[], $3::bytea[]) AS n(kind, id) ON r.kind = n.kind AND r.id = n.id
    WHERE r.tenant = $1 ORDER BY r.kind, r.id LIMIT 1";
const MAKE: &str = "INSERT INTO records (tenant, kind, id, version, word, key, body, created_at, due_at)
    SELECT $1::bytea, n.kind, n.id, n.version, n.word, n.key, n.body, n.created_at, n.due_at
    FROM unnest($2::text[], $3::bytea[], $4::bigint[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bigint[], $9::bigint[])
        AS n(kind, id, version, word, key, body, created_at, due_at)";
const CHANGE: &str = "UPDATE records SET version = n.version, word = n.word, key = n.key, body = n.body,
        created_at = n.created_at, due_at = n.due_at
    FROM unnest($2::text[], $3::bytea[], $4::bigint[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bigint[], $9::bigint[])
        AS n(kind, id, version, word, key, body, created_at, due_at)
    WHERE records.tenant = $1 AND records.kind = n.kind AND records.id = n.id";
const DROP: &str = "DELETE FROM records USING unnest($2::text[], $3::bytea[]) AS n(kind, id)
    WHERE records.tenant = $1 AND records.kind = n.kind AND records.id = n.id";

/// No text has such a byte, so it is past all of them.
const PAST_ALL_TEXTS: &[u8] = &[0xff];

#[async_trait]
impl RecordStore for Tenant {
    async fn record(&self, kind: RecordKind, id: &str) -> Result<Option<Record>, StoreError> {
        let rows = self.store.query(RECORD, &[&self.key(), &kind.as_str(), &id.as_bytes()]).await?;
        rows.first().map(read).transpose()
    }

    async fn records(
        &self,
        filter: &RecordFilter,
        before: Option<&str>,
        limit: NonZeroU32,
    ) -> Result<Vec<Record>, StoreError> {
        let RecordFilter { kind, group, key } = filter;
        let (tenant, kind, limit) = (self.key(), kind.as_str(), i64::from(limit.get()));
        let before = before.map_or(PAST_ALL_TEXTS, str::as_bytes);
        let word = group.as_deref().map(str::as_bytes);
        let key = key.as_ref().map(|key| &key.as_bytes()[..]);
        let store = &self.store;
        let rows = match (word, key) {
            (None, None) => store.query(ALL, &[&tenant, &kind, &before, &limit]).await?,
            (Some(word), None) => store.query(BY_WORD, &[&tenant, &kind, &before, &limit, &word]).await?,
            (None, Some(key)) => store.query(BY_KEY, &[&tenant, &kind, &before, &limit, &key]).await?,
            (Some(word), Some(key)) => {
                store.query(BY_BOTH, &[&tenant, &kind, &before, &limit, &word, &key]).await?
            }
        };
        rows.iter().map(read).collect()
    }

    async fn record_counts(&self, kind: RecordKind) -> Result<BTreeMap<String, u64>, StoreError> {
        let rows = self.store.query(COUNTS, &[&self.key(), &kind.as_str()]).await?;
        let count = |row: &Row| {
            Ok((column(row, "records", "word").text()?, column(row, "records", "records").number()?))
        };
        rows.iter().map(count).collect()
    }
}

/// Those of all tenants that were due then.
pub(super) async fn due(
    store: &PostgresStore,
    kind: RecordKind,
    word: &str,
    until: Timestamp,
    limit: NonZeroU32,
) -> Result<Vec<(TenantId, Record)>, StoreError> {
    let limit = i64::from(limit.get());
    let rows = store.query(DUE, &[&kind.as_str(), &word.as_bytes(), &millis(until), &limit]).await?;
    rows.iter().map(|row| Ok((column(row, "records", "tenant").id()?, read(row)?))).collect()
}

fn kind(row: &Row) -> Result<RecordKind, StoreError> {
    let name: &str = row.try_get("kind")?;
    RecordKind::named(name).ok_or_else(|| column(row, "records", "kind").damaged("is no kind"))
}

fn read(row: &Row) -> Result<Record, StoreError> {
    let column = |name| column(row, "records", name);
    Ok(Record {
        kind: kind(row)?,
        id: column("id").text()?,
        version: column("version").number()?,
        group: column("word").text()?,
        key: column("key").optional_digest()?,
        body: column("body").json()?,
        created_at: column("created_at").time()?,
        due_at: column("due_at").optional_time()?,
    })
}

/// Locks the records that a commit changes.
pub(super) async fn lock<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    changes: &'a [RecordChange],
) -> Result<Option<Ask<'a>>, StoreError> {
    RecordAsk { connection, tenant }.about(LOCK, changes.iter()).await
}

/// What the changes come to, given the records that are there.
pub(super) struct Changed<'a> {
    made: Vec<Record>,
    changed: Vec<Record>,
    dropped: Vec<&'a RecordChange>,
    /// Those that are new.
    new: Vec<&'a RecordChange>,
}

impl<'a> Changed<'a> {
    pub(super) fn new(changes: &'a [RecordChange], found: &[Row]) -> Result<Self, CommitError> {
        RecordChange::check(changes)?;
        let place = |row: &Row| -> Result<_, StoreError> {
            let column = |name| column(row, "records", name);
            Ok(((kind(row)?, column("id").text()?), column("version").number()?))
        };
        let found: BTreeMap<(RecordKind, String), u64> = found.iter().map(place).collect::<Result<_, _>>()?;
        // Sorted, for the sake of the locks.
        let mut sorted: Vec<&RecordChange> = changes.iter().collect();
        sorted.sort_by(|one, other| (one.kind.as_str(), &one.id).cmp(&(other.kind.as_str(), &other.id)));
        let version = |change: &RecordChange| found.get(&(change.kind, change.id.clone())).copied();
        if let Some(moved) = sorted.iter().find(|change| version(change).unwrap_or(0) != change.expected) {
            return Err(moved.moved());
        }
        let (new, old): (Vec<&RecordChange>, Vec<&RecordChange>) =
            sorted.into_iter().partition(|change| change.expected == 0);
        Ok(Self {
            made: new.iter().filter_map(|change| change.record()).collect(),
            changed: old.iter().filter_map(|change| change.record()).collect(),
            dropped: old.into_iter().filter(|change| change.to.is_none()).collect(),
            new,
        })
    }

    pub(super) async fn make(
        &'a self,
        connection: &Object,
        tenant: &'a Tenant,
    ) -> Result<Option<Ask<'a>>, StoreError> {
        put(connection, tenant, MAKE, &self.made).await
    }

    pub(super) async fn change(
        &'a self,
        connection: &Object,
        tenant: &'a Tenant,
    ) -> Result<Option<Ask<'a>>, StoreError> {
        put(connection, tenant, CHANGE, &self.changed).await
    }

    pub(super) async fn delete(
        &self,
        connection: &Object,
        tenant: &'a Tenant,
    ) -> Result<Option<Ask<'a>>, StoreError> {
        RecordAsk { connection, tenant }.about(DROP, self.dropped.iter().copied()).await
    }

    /// Which of the new records somebody has made, if one is there.
    pub(super) async fn taken(
        &self,
        connection: &Object,
        tenant: &Tenant,
    ) -> Result<Option<CommitError>, StoreError> {
        let ask = RecordAsk { connection, tenant }.about(TAKEN, self.new.iter().copied()).await?;
        let rows = send(connection, ask.as_ref()).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let id = column(row, "records", "id").text()?;
        Ok(Some(CommitError::RecordMoved { kind: kind(row)?, id }))
    }
}

/// Whom to ask, and in whose name.
struct RecordAsk<'c, 'a> {
    connection: &'c Object,
    tenant: &'a Tenant,
}

impl<'a> RecordAsk<'_, 'a> {
    /// A statement about the records that are to change; none if none is.
    async fn about<'b>(
        &self,
        text: &str,
        changes: impl Iterator<Item = &'b RecordChange>,
    ) -> Result<Option<Ask<'a>>, StoreError> {
        let places = changes.map(|change| (change.kind.as_str(), change.id.clone().into_bytes()));
        let (kinds, ids): (Vec<&str>, Vec<Vec<u8>>) = places.unzip();
        if kinds.is_empty() {
            return Ok(None);
        }
        let parameters: Vec<Parameter<'_>> =
            vec![Box::new(self.tenant.key()), Box::new(kinds), Box::new(ids)];
        Ok(Some(Ask::new(self.connection, text, parameters).await?))
    }
}

async fn put<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    text: &str,
    records: &'a [Record],
) -> Result<Option<Ask<'a>>, StoreError> {
    if records.is_empty() {
        return Ok(None);
    }
    let each = || records.iter();
    let parameters: Vec<Parameter<'_>> = vec![
        Box::new(tenant.key()),
        Box::new(each().map(|record| record.kind.as_str()).collect::<Vec<&str>>()),
        Box::new(each().map(|record| record.id.as_bytes()).collect::<Vec<&[u8]>>()),
        Box::new(each().map(|record| bigint(record.version)).collect::<Vec<i64>>()),
        Box::new(each().map(|record| record.group.as_bytes()).collect::<Vec<&[u8]>>()),
        Box::new(
            each()
                .map(|record| record.key.as_ref().map(|key| &key.as_bytes()[..]))
                .collect::<Vec<Option<&[u8]>>>(),
        ),
        Box::new(each().map(|record| json(&record.body)).collect::<Result<Vec<_>, _>>()?),
        Box::new(each().map(|record| millis(record.created_at)).collect::<Vec<i64>>()),
        Box::new(each().map(|record| record.due_at.map(millis)).collect::<Vec<Option<i64>>>()),
    ];
    Ok(Some(Ask::new(connection, text, parameters).await?))
}
