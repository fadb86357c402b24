//! API keys: what each may do, found by the hash of its token. The token itself is nowhere.

use std::num::NonZeroU32;

use async_trait::async_trait;
use schema::{ApiKey, ApiKeyId, Digest, TenantId, Timestamp};

use crate::commit::CommitError;
use crate::error::StoreError;

/// What a commit does to the tenant's keys. What is said of it in the ledger commits with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyChange {
    /// Makes a key. Its id and its hash must be new, and it must speak for the tenant whose handle is used.
    Create {
        /// What it may do.
        key: ApiKey,
        /// The SHA-256 of its token.
        hash: Digest,
    },
    /// Takes a key back. One that was taken back before keeps the moment of that.
    Revoke {
        /// Which; it was there before this commit.
        id: ApiKeyId,
        /// When.
        at: Timestamp,
    },
}

impl KeyChange {
    /// The keys that are to be made, if all of them are the tenant's.
    pub(crate) fn made(changes: &[Self], tenant: TenantId) -> Result<Vec<(&ApiKey, Digest)>, CommitError> {
        let mut made: Vec<(&ApiKey, Digest)> = Vec::new();
        for change in changes {
            let Self::Create { key, hash } = change else { continue };
            let is_double = made.iter().any(|(other, theirs)| other.id == key.id || theirs == hash);
            if key.tenant != tenant || is_double {
                return Err(CommitError::KeyTaken(key.id));
            }
            made.push((key, *hash));
        }
        Ok(made)
    }

    /// The keys that are to be taken back, and when.
    pub(crate) fn revoked(changes: &[Self]) -> impl Iterator<Item = (ApiKeyId, Timestamp)> {
        changes.iter().filter_map(|change| match change {
            Self::Revoke { id, at } => Some((*id, *at)),
            Self::Create { .. } => None,
        })
    }
}

/// The key after it was taken back.
pub(crate) fn revoke(mut key: ApiKey, at: Timestamp) -> ApiKey {
    key.revoked_at.get_or_insert(at);
    key
}

/// Lists and looks up keys. The handle carries the tenant; [`Store::key`](crate::Store::key) finds one by its token.
#[async_trait]
pub trait ApiKeyStore: Send + Sync {
    /// Keys made before `before`, newest first, at most `limit`, those that were taken back too.
    async fn api_keys(&self, before: Option<ApiKeyId>, limit: NonZeroU32) -> Result<Vec<ApiKey>, StoreError>;

    /// The key, if the tenant has it.
    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;
}
