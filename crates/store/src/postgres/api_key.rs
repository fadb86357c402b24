//! API keys: the rows of `api_keys`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use deadpool_postgres::Object;
use schema::{ApiKey, ApiKeyId, Digest};
use tokio_postgres::Row;

use super::pipeline::{Ask, Parameter, send};
use super::row::{column, json};
use super::run::PAST_ALL_IDS;
use super::{PostgresStore, Tenant};
use crate::api_key::{ApiKeyStore, KeyChange, revoke};
use crate::commit::CommitError;
use crate::error::StoreError;

const BY_HASH: &str = "SELECT body FROM api_keys WHERE hash = $1";
const KEY: &str = "SELECT body FROM api_keys WHERE tenant = $1 AND id = $2";
const KEYS: &str = "SELECT body FROM api_keys WHERE tenant = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
/// The keys that a commit names, held until it ends.
pub(super) const LOCK: &str =
    "SELECT body FROM api_keys WHERE tenant = $1 AND id = ANY($2) ORDER BY id FOR UPDATE";
const MAKE: &str = "INSERT INTO api_keys (tenant, hash, id, body)
    SELECT $1::bytea, n.hash, n.id, n.body FROM unnest($2::bytea[], $3::bytea[], $4::bytea[]) AS n(hash, id, body)";
const CHANGE: &str = "UPDATE api_keys SET body = n.body FROM unnest($2::bytea[], $3::bytea[]) AS n(id, body)
    WHERE api_keys.tenant = $1 AND api_keys.id = n.id";
const TAKEN: &str = "SELECT id, hash FROM api_keys WHERE hash = ANY($2) OR (tenant = $1 AND id = ANY($3))";

#[async_trait]
impl ApiKeyStore for Tenant {
    async fn api_keys(&self, before: Option<ApiKeyId>, limit: NonZeroU32) -> Result<Vec<ApiKey>, StoreError> {
        let before = before.as_ref().map_or(PAST_ALL_IDS, |key| key.as_bytes());
        let rows = self.store.query(KEYS, &[&self.key(), &before, &i64::from(limit.get())]).await?;
        rows.iter().map(read).collect()
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let id: &[u8] = id.as_bytes();
        let rows = self.store.query(KEY, &[&self.key(), &id]).await?;
        rows.first().map(read).transpose()
    }
}

/// The key whose token has this hash.
pub(super) async fn by_hash(store: &PostgresStore, hash: Digest) -> Result<Option<ApiKey>, StoreError> {
    let hash: &[u8] = hash.as_bytes();
    let rows = store.query(BY_HASH, &[&hash]).await?;
    rows.first().map(read).transpose()
}

fn read(row: &Row) -> Result<ApiKey, StoreError> {
    column(row, "api_keys", "body").json()
}

/// The ids that a commit is about.
pub(super) fn named(changes: &[KeyChange]) -> impl Iterator<Item = Vec<u8>> {
    changes.iter().map(|change| match change {
        KeyChange::Create { key, .. } => key.id.as_bytes().to_vec(),
        KeyChange::Revoke { id, .. } => id.as_bytes().to_vec(),
    })
}

/// What the changes come to, given the keys that are there.
pub(super) struct Changed<'a> {
    made: Vec<(&'a ApiKey, Digest)>,
    changed: BTreeMap<ApiKeyId, ApiKey>,
}

impl<'a> Changed<'a> {
    pub(super) fn new(tenant: &Tenant, changes: &'a [KeyChange], found: &[Row]) -> Result<Self, CommitError> {
        let found = found.iter().map(|row| read(row).map(|key| (key.id, key)));
        let found: BTreeMap<ApiKeyId, ApiKey> = found.collect::<Result<_, _>>()?;
        let mut made = KeyChange::made(changes, tenant.tenant)?;
        if let Some((key, _)) = made.iter().find(|(key, _)| found.contains_key(&key.id)) {
            return Err(CommitError::KeyTaken(key.id));
        }
        made.sort_by_key(|(_, hash)| *hash);
        let mut changed = BTreeMap::new();
        for (id, at) in KeyChange::revoked(changes) {
            let key = found.get(&id).ok_or(CommitError::NoKey(id))?;
            changed.entry(id).or_insert_with(|| revoke(key.clone(), at));
        }
        Ok(Self { made, changed })
    }

    pub(super) async fn make(
        &self,
        connection: &Object,
        tenant: &'a Tenant,
    ) -> Result<Option<Ask<'a>>, StoreError> {
        if self.made.is_empty() {
            return Ok(None);
        }
        let (hashes, ids) = self.names();
        let bodies = self.made.iter().map(|(key, _)| json(*key)).collect::<Result<Vec<_>, _>>()?;
        let parameters: Vec<Parameter<'_>> =
            vec![Box::new(tenant.key()), Box::new(hashes), Box::new(ids), Box::new(bodies)];
        Ok(Some(Ask::new(connection, MAKE, parameters).await?))
    }

    pub(super) async fn change(
        &self,
        connection: &Object,
        tenant: &'a Tenant,
    ) -> Result<Option<Ask<'a>>, StoreError> {
        if self.changed.is_empty() {
            return Ok(None);
        }
        let ids: Vec<Vec<u8>> = self.changed.keys().map(|id| id.as_bytes().to_vec()).collect();
        let bodies = self.changed.values().map(json).collect::<Result<Vec<_>, _>>()?;
        let parameters: Vec<Parameter<'_>> = vec![Box::new(tenant.key()), Box::new(ids), Box::new(bodies)];
        Ok(Some(Ask::new(connection, CHANGE, parameters).await?))
    }

    /// Which of the new keys somebody has, if one is there.
    pub(super) async fn taken(
        &self,
        connection: &Object,
        tenant: &Tenant,
    ) -> Result<Option<ApiKeyId>, StoreError> {
        if self.made.is_empty() {
            return Ok(None);
        }
        let (hashes, ids) = self.names();
        let parameters: Vec<Parameter<'_>> = vec![Box::new(tenant.key()), Box::new(hashes), Box::new(ids)];
        let ask = Ask::new(connection, TAKEN, parameters).await?;
        for row in send(connection, Some(&ask)).await? {
            let (id, hash) =
                (column(&row, "api_keys", "id").id()?, column(&row, "api_keys", "hash").digest()?);
            if let Some((key, _)) = self.made.iter().find(|(key, theirs)| key.id == id || *theirs == hash) {
                return Ok(Some(key.id));
            }
        }
        Ok(None)
    }

    fn names(&self) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        self.made.iter().map(|(key, hash)| (hash.as_bytes().to_vec(), key.id.as_bytes().to_vec())).unzip()
    }
}
