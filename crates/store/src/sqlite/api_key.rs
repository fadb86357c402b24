//! API keys in SQLite.

use std::num::NonZeroU32;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{ApiKey, ApiKeyId, Digest, TenantId, Timestamp};

use super::SqliteTenant;
use super::request::WriteError;
use super::row::{Sql, damaged, unavailable};
use super::sum::{with_sum, without_sum};
use crate::api_key::{ApiKeyStore, revoke};
use crate::error::StoreError;

#[async_trait]
impl ApiKeyStore for SqliteTenant {
    async fn api_keys(&self, before: Option<ApiKeyId>, limit: NonZeroU32) -> Result<Vec<ApiKey>, StoreError> {
        let tenant = self.tenant;
        let before = before.map_or([0xff; 17].to_vec(), |key| key.as_bytes().to_vec());
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<ApiKey>> {
            connection
                .prepare_cached(
                    "SELECT row, hash, tenant, id FROM api_keys WHERE tenant = ? AND id < ? ORDER BY id DESC LIMIT ?",
                )?
                .query_map(params![Sql(tenant), before, limit.get()], parse)?
                .collect()
        };
        self.store.inner.read_aside(move |connection| read(connection).map_err(unavailable)).await
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| Ok(by_id(connection, tenant, id)?.map(|(key, _)| key));
        self.store.inner.read_aside(move |connection| read(connection).map_err(unavailable)).await
    }
}

/// The key whose token has this hash.
pub(super) fn by_hash(connection: &Connection, hash: Digest) -> Result<Option<ApiKey>, StoreError> {
    let read = || -> rusqlite::Result<Option<ApiKey>> {
        connection
            .prepare_cached("SELECT row, hash, tenant, id FROM api_keys WHERE hash = ?")?
            .query_row([Sql(hash)], |row| match row.get::<_, Sql<Digest>>(1)? {
                Sql(found) if found == hash => parse(row),
                _ => Err(damaged("an API key is in another's place")),
            })
            .optional()
    };
    read().map_err(unavailable)
}

fn by_id(
    connection: &Connection,
    tenant: TenantId,
    id: ApiKeyId,
) -> rusqlite::Result<Option<(ApiKey, Digest)>> {
    connection
        .prepare_cached("SELECT row, hash, tenant, id FROM api_keys WHERE tenant = ? AND id = ?")?
        .query_row(params![Sql(tenant), Sql(id)], |row| match parse(row)? {
            found if (found.tenant, found.id) == (tenant, id) => Ok((found, row.get::<_, Sql<_>>(1)?.0)),
            _ => Err(damaged("an API key is in another's place")),
        })
        .optional()
}

/// Whether the keys that are to be made are new, and those that are to be taken back are there.
pub(super) fn check(
    connection: &Connection,
    tenant: TenantId,
    made: &[(ApiKey, Digest)],
    revoked: &[(ApiKeyId, Timestamp)],
) -> Result<(), WriteError> {
    for (key, hash) in made {
        let mut taken = connection
            .prepare_cached("SELECT 1 FROM api_keys WHERE hash = ?1 OR (tenant = ?2 AND id = ?3)")?;
        if taken.exists(params![Sql(*hash), Sql(tenant), Sql(key.id)])? {
            return Err(WriteError::KeyTaken(key.id));
        }
    }
    for (id, _) in revoked {
        if by_id(connection, tenant, *id)?.is_none() {
            return Err(WriteError::NoKey(*id));
        }
    }
    Ok(())
}

/// Makes keys and takes keys back.
pub(super) fn write(
    connection: &Connection,
    tenant: TenantId,
    made: &[(ApiKey, Digest)],
    revoked: &[(ApiKeyId, Timestamp)],
) -> rusqlite::Result<()> {
    for (key, hash) in made {
        connection
            .prepare_cached("INSERT INTO api_keys (hash, tenant, id, row) VALUES (?, ?, ?, ?)")?
            .execute(params![Sql(*hash), Sql(tenant), Sql(key.id), text(key, *hash)])?;
    }
    for (id, at) in revoked {
        if let Some((key, hash)) = by_id(connection, tenant, *id)? {
            connection
                .prepare_cached("UPDATE api_keys SET row = ? WHERE hash = ?")?
                .execute(params![text(&revoke(key, *at), hash), Sql(hash)])?;
        }
    }
    Ok(())
}

/// A key as it is kept. It is JSON already; writing it out cannot fail.
fn text(key: &ApiKey, hash: Digest) -> String {
    with_sum(&[hash.as_bytes()], serde_json::to_string(key).unwrap_or_default())
}

/// The key, if it is as it was written and where it was written.
pub(super) fn parse(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let (Sql(hash), Sql(tenant), Sql(id)): (Sql<Digest>, Sql<TenantId>, Sql<ApiKeyId>) =
        (row.get(1)?, row.get(2)?, row.get(3)?);
    let text = without_sum(&[hash.as_bytes()], row.get_ref(0)?.as_str()?)
        .ok_or_else(|| damaged(format!("API key {id} is not as it was written")))?;
    let key: ApiKey = serde_json::from_str(text).map_err(damaged)?;
    if (key.tenant, key.id) != (tenant, id) {
        return Err(damaged(format!("API key {id} is in the wrong place")));
    }
    Ok(key)
}
