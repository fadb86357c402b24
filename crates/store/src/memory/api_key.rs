//! API keys.

use std::num::NonZeroU32;
use std::ops::Bound;

use async_trait::async_trait;
use schema::{ApiKey, ApiKeyId, Digest};

use super::{Tenant, TenantState};
use crate::api_key::revoke;
use crate::{ApiKeyStore, CommitError, KeyChange, StoreError};

#[async_trait]
impl ApiKeyStore for Tenant {
    async fn api_keys(&self, before: Option<ApiKeyId>, limit: NonZeroU32) -> Result<Vec<ApiKey>, StoreError> {
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        Ok(self.read(|tenant| {
            let newest_first = tenant.keys.range((Bound::Unbounded, end)).rev();
            newest_first.take(limit.get() as usize).map(|(_, key)| key.clone()).collect()
        }))
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        Ok(self.read(|tenant| tenant.keys.get(&id).cloned()))
    }
}

impl TenantState {
    /// Whether the ids of new keys are free, and those to be taken back are there.
    pub(super) fn check_keys(
        &self,
        changes: &[KeyChange],
        made: &[(&ApiKey, Digest)],
    ) -> Result<(), CommitError> {
        if let Some((key, _)) = made.iter().find(|(key, _)| self.keys.contains_key(&key.id)) {
            return Err(CommitError::KeyTaken(key.id));
        }
        match KeyChange::revoked(changes).find(|(id, _)| !self.keys.contains_key(id)) {
            Some((id, _)) => Err(CommitError::NoKey(id)),
            None => Ok(()),
        }
    }

    pub(super) fn change_keys(&mut self, changes: &[KeyChange]) {
        for change in changes {
            match change {
                KeyChange::Create { key, .. } => drop(self.keys.insert(key.id, key.clone())),
                KeyChange::Revoke { id, at } => {
                    self.keys.entry(*id).and_modify(|key| *key = revoke(key.clone(), *at));
                }
            }
        }
    }
}
