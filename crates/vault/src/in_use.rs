//! Which master keys something in the vault is wrapped by: one small record of the installation.
//!
//! It is written before the first credential under a key, and loses a key when a rotation has left nothing under it. So
//! a start with the wrong key is refused at once, and a rotation that was killed is seen to be unfinished.

use std::collections::BTreeSet;

use crypto::KeyId;
use schema::{TenantId, Timestamp};
use serde_json::{Value, json};
use store::{Commit, CommitError, RecordBody, RecordChange, RecordKind, Store, StoreError};

const ID: &str = "keys";

/// The keys in use, as they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InUse {
    pub(crate) keys: BTreeSet<KeyId>,
    revision: u64,
}

impl InUse {
    pub(crate) async fn read(store: &dyn Store) -> Result<Self, StoreError> {
        let record = store.tenant(TenantId::NIL).record(RecordKind::Credential, ID).await?;
        let Some(record) = record else { return Ok(Self { keys: BTreeSet::new(), revision: 0 }) };
        let damaged = || StoreError::Damaged("the master keys of the vault cannot be read".to_owned());
        let key = |key: &Value| key.as_str().and_then(|key| key.parse().ok()).ok_or_else(damaged);
        let keys = record.body["keys"].as_array().ok_or_else(damaged)?;
        Ok(Self { keys: keys.iter().map(key).collect::<Result<_, _>>()?, revision: record.version })
    }

    /// Puts `key` among them, unless it is there.
    pub(crate) async fn add(store: &dyn Store, key: KeyId) -> Result<(), CommitError> {
        change(store, |keys| {
            keys.insert(key);
        })
        .await
    }

    /// Leaves `left` alone, and what others have put there since `seen`.
    pub(crate) async fn reduce(
        store: &dyn Store,
        seen: &BTreeSet<KeyId>,
        left: &BTreeSet<KeyId>,
    ) -> Result<(), CommitError> {
        change(store, |keys| keys.retain(|key| left.contains(key) || !seen.contains(key))).await
    }

    fn write(&self) -> RecordChange {
        let keys: Vec<String> = self.keys.iter().map(KeyId::to_string).collect();
        let to = RecordBody {
            group: ID.to_owned(),
            key: None,
            body: json!({ "keys": keys }),
            created_at: Timestamp::EPOCH,
            due_at: None,
        };
        let (kind, id) = (RecordKind::Credential, ID.to_owned());
        RecordChange { kind, id, expected: self.revision, to: Some(to) }
    }
}

/// Changes them, again and again while others do.
async fn change(store: &dyn Store, edit: impl Fn(&mut BTreeSet<KeyId>)) -> Result<(), CommitError> {
    loop {
        let before = InUse::read(store).await?;
        let mut after = before.clone();
        edit(&mut after.keys);
        if after == before {
            return Ok(());
        }
        let commit = Commit { records: vec![after.write()], ..Commit::default() };
        match store.tenant(TenantId::NIL).commit(commit).await {
            Err(CommitError::RecordMoved { .. }) => {}
            done => return done,
        }
    }
}
