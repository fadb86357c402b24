//! Tenants as records, and what they have set.

use std::collections::BTreeMap;
use std::ops::Bound;

use async_trait::async_trait;
use schema::TenantId;
use serde_json::{Map, Value};

use super::Tenant;
use crate::tenant::with_default;
use crate::{SettingsStore, StoreError};

#[async_trait]
impl SettingsStore for Tenant {
    async fn settings(&self) -> Result<Map<String, Value>, StoreError> {
        Ok(self.read(|tenant| tenant.settings.clone()))
    }
}

/// A page of the tenants there are.
pub(super) fn rows(
    all: &BTreeMap<TenantId, schema::Tenant>,
    after: Option<TenantId>,
    limit: usize,
) -> Vec<schema::Tenant> {
    let past = all.range((after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded));
    with_default(past.take(limit).map(|(_, tenant)| tenant.clone()).collect(), after, limit)
}
