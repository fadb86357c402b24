//! The tenants as records, and what each has set.

use async_trait::async_trait;
use schema::{Tenant, TenantId, Timestamp};
use serde_json::{Map, Value};

use crate::error::StoreError;

/// Reads what a tenant has set. The handle carries the tenant; [`Commit::settings`](crate::Commit::settings) changes it.
#[async_trait]
pub trait SettingsStore: Send + Sync {
    /// All that is set; nothing, if nothing ever was.
    async fn settings(&self) -> Result<Map<String, Value>, StoreError>;
}

/// The tenants of a page, with the one that is there without having been made.
pub(crate) fn with_default(mut rows: Vec<Tenant>, after: Option<TenantId>, limit: usize) -> Vec<Tenant> {
    let has_default = rows.first().is_some_and(|tenant| tenant.id == TenantId::NIL);
    if after.is_none() && !has_default {
        let name = "Default".to_owned();
        rows.insert(0, Tenant { id: TenantId::NIL, name, created_at: Timestamp::EPOCH });
        rows.truncate(limit);
    }
    rows
}
