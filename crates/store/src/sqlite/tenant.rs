//! Tenants as records in SQLite, and what each has set.

use std::num::NonZeroU32;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{Tenant, TenantId};
use serde_json::{Map, Value};

use super::SqliteTenant;
use super::row::{Sql, damaged, unavailable};
use super::sum::{with_sum, without_sum};
use crate::error::StoreError;
use crate::tenant::{SettingsStore, with_default};

#[async_trait]
impl SettingsStore for SqliteTenant {
    async fn settings(&self) -> Result<Map<String, Value>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| {
            connection
                .prepare_cached("SELECT row, tenant FROM settings WHERE tenant = ?")?
                .query_row([Sql(tenant)], parse_settings)
                .optional()
        };
        let found =
            self.store.inner.read_aside(move |connection| read(connection).map_err(unavailable)).await?;
        Ok(found.unwrap_or_default())
    }
}

/// A page of the tenants there are.
pub(super) fn rows(
    connection: &Connection,
    after: Option<TenantId>,
    limit: NonZeroU32,
) -> rusqlite::Result<Vec<Tenant>> {
    let past = after.map_or(Vec::new(), |tenant| tenant.as_bytes().to_vec());
    let rows = connection
        .prepare_cached("SELECT row, id FROM tenants WHERE id > ? ORDER BY id LIMIT ?")?
        .query_map(params![past, limit.get()], parse)?
        .collect::<rusqlite::Result<Vec<Tenant>>>()?;
    Ok(with_default(rows, after, limit.get() as usize))
}

/// Makes a tenant, or replaces it.
pub(super) fn put(connection: &Connection, tenant: &Tenant) -> rusqlite::Result<()> {
    // A record is JSON already; writing it out cannot fail.
    let text = with_sum(&[tenant.id.as_bytes()], serde_json::to_string(tenant).unwrap_or_default());
    connection
        .prepare_cached("INSERT OR REPLACE INTO tenants (id, row) VALUES (?, ?)")?
        .execute(params![Sql(tenant.id), text])
        .map(drop)
}

/// Replaces what the tenant has set.
pub(super) fn set(
    connection: &Connection,
    tenant: TenantId,
    settings: &Map<String, Value>,
) -> rusqlite::Result<()> {
    let text = with_sum(&[tenant.as_bytes()], serde_json::to_string(settings).unwrap_or_default());
    connection
        .prepare_cached("INSERT OR REPLACE INTO settings (tenant, row) VALUES (?, ?)")?
        .execute(params![Sql(tenant), text])
        .map(drop)
}

/// The tenant, if it is as it was written and where it was written.
pub(super) fn parse(row: &Row<'_>) -> rusqlite::Result<Tenant> {
    let Sql(id) = row.get::<_, Sql<TenantId>>(1)?;
    let text = without_sum(&[id.as_bytes()], row.get_ref(0)?.as_str()?);
    let text = text.ok_or_else(|| damaged(format!("tenant {id} is not as it was written")))?;
    let tenant: Tenant = serde_json::from_str(text).map_err(damaged)?;
    if tenant.id == id { Ok(tenant) } else { Err(damaged(format!("tenant {id} is in the wrong place"))) }
}

/// What a tenant has set, if it is as it was written.
pub(super) fn parse_settings(row: &Row<'_>) -> rusqlite::Result<Map<String, Value>> {
    let Sql(tenant) = row.get::<_, Sql<TenantId>>(1)?;
    let text = without_sum(&[tenant.as_bytes()], row.get_ref(0)?.as_str()?);
    let text =
        text.ok_or_else(|| damaged(format!("the settings of tenant {tenant} are not as they were written")))?;
    serde_json::from_str(text).map_err(damaged)
}
