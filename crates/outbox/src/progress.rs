//! How far a sink is with one tenant's log: a record of the tenant, changed by whoever has seen it last.

use schema::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Commit, CommitError, RecordBody, RecordChange, RecordKind, StoreError, TenantStore};

/// How far a sink is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The size of the last checkpoint that was sent.
    pub(crate) size: u64,
    /// How many leaves it was told the runs of.
    pub(crate) told: u64,
    /// The version of the record; 0 while there is none.
    #[serde(skip)]
    version: u64,
}

impl Progress {
    /// How far the sink called `name` is; at the beginning, if nothing is known.
    pub(crate) async fn read(store: &dyn TenantStore, name: &str) -> Result<Self, StoreError> {
        let Some(record) = store.record(RecordKind::Sink, name).await? else { return Ok(Self::default()) };
        let read = Self::deserialize(&record.body);
        let read = read.map_err(|error| StoreError::Damaged(format!("sink {name}: {error}")))?;
        Ok(Self { version: record.version, ..read })
    }

    /// Whether there is nothing to send of a log of this size.
    pub(crate) fn is_at(&self, size: u64, with_runs: bool) -> bool {
        self.size == size && (self.told >= size || !with_runs)
    }

    /// Writes it down. `None` if somebody else did since it was read; nothing is written then.
    pub(crate) async fn save(
        self,
        store: &dyn TenantStore,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Self>, CommitError> {
        let to =
            RecordBody { group: String::new(), key: None, body: json!(self), created_at: now, due_at: None };
        let change = RecordChange {
            kind: RecordKind::Sink,
            id: name.to_owned(),
            expected: self.version,
            to: Some(to),
        };
        match store.commit(Commit { records: vec![change], ..Commit::default() }).await {
            Ok(()) => Ok(Some(Self { version: self.version + 1, ..self })),
            Err(CommitError::RecordMoved { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
