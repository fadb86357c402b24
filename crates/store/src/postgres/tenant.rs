//! Tenants as records: the rows of `tenants`; what each has set: the rows of `settings`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use deadpool_postgres::Object;
use schema::TenantId;
use serde_json::{Map, Value};

use super::pipeline::{Ask, Parameter};
use super::row::{column, json};
use super::{PostgresStore, Tenant};
use crate::error::StoreError;
use crate::tenant::{SettingsStore, with_default};

const ROWS: &str = "SELECT body FROM tenants WHERE id > $1 ORDER BY id LIMIT $2";
const PUT: &str = "INSERT INTO tenants (id, body)
    SELECT n.id, n.body FROM unnest($1::bytea[], $2::bytea[]) AS n(id, body)
    ON CONFLICT (id) DO UPDATE SET body = excluded.body";
const SETTINGS: &str = "SELECT body FROM settings WHERE tenant = $1";
const SET: &str = "INSERT INTO settings (tenant, body) VALUES ($1, $2)
    ON CONFLICT (tenant) DO UPDATE SET body = excluded.body";

#[async_trait]
impl SettingsStore for Tenant {
    async fn settings(&self) -> Result<Map<String, Value>, StoreError> {
        let rows = self.store.query(SETTINGS, &[&self.key()]).await?;
        rows.first().map_or(Ok(Map::new()), |row| column(row, "settings", "body").json())
    }
}

/// A page of the tenants there are.
pub(super) async fn rows(
    store: &PostgresStore,
    after: Option<TenantId>,
    limit: NonZeroU32,
) -> Result<Vec<schema::Tenant>, StoreError> {
    let past: &[u8] = after.as_ref().map_or(&[], |tenant| tenant.as_bytes());
    let rows = store.query(ROWS, &[&past, &i64::from(limit.get())]).await?;
    let rows = rows.iter().map(|row| column(row, "tenants", "body").json()).collect::<Result<_, _>>()?;
    Ok(with_default(rows, after, limit.get() as usize))
}

/// Makes tenants, as part of a commit.
pub(super) async fn put<'a>(
    connection: &Object,
    tenants: &[schema::Tenant],
) -> Result<Option<Ask<'a>>, StoreError> {
    if tenants.is_empty() {
        return Ok(None);
    }
    // Sorted, for the sake of the locks; the last of two with one id counts.
    let sorted: BTreeMap<TenantId, &schema::Tenant> =
        tenants.iter().map(|tenant| (tenant.id, tenant)).collect();
    let ids: Vec<Vec<u8>> = sorted.keys().map(|id| id.as_bytes().to_vec()).collect();
    let bodies = sorted.values().map(|tenant| json(*tenant)).collect::<Result<Vec<_>, _>>()?;
    let parameters: Vec<Parameter<'_>> = vec![Box::new(ids), Box::new(bodies)];
    Ok(Some(Ask::new(connection, PUT, parameters).await?))
}

/// Sets what the tenant sets, as part of a commit.
pub(super) async fn set<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    settings: Option<&Map<String, Value>>,
) -> Result<Option<Ask<'a>>, StoreError> {
    let Some(settings) = settings else { return Ok(None) };
    let parameters: Vec<Parameter<'_>> = vec![Box::new(tenant.key()), Box::new(json(settings)?)];
    Ok(Some(Ask::new(connection, SET, parameters).await?))
}
