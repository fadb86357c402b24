//! Subjects: whose keys there are.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use schema::{RunId, Subject, SubjectId, Timestamp};
use tokio_postgres::Row;

use super::Tenant;
use super::row::column;
use crate::commit::Commit;
use crate::error::StoreError;
use crate::sealing::{SubjectKey, SubjectRow};
use crate::subject::SubjectStore;

const BY_NAME: &str = "SELECT id, wrapped FROM subjects WHERE tenant = $1 AND name = $2";
const ADD: &str =
    "INSERT INTO subjects (tenant, id, name, wrapped) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
const RUNS: &str =
    "SELECT run FROM runs WHERE tenant = $1 AND subject = $2 AND run > $3 ORDER BY run LIMIT $4";
/// Takes the room of what was overwritten back, which an engine may do in its own time, or in its own way.
const VACUUM: &str = "VACUUM subjects";

#[async_trait]
impl SubjectStore for Tenant {
    async fn subject(&self, subject: &Subject) -> Result<Option<SubjectId>, StoreError> {
        Ok(self.by_name(subject).await?.map(|row| row.id))
    }

    async fn runs_of(
        &self,
        subject: SubjectId,
        after: Option<RunId>,
        limit: NonZeroU32,
    ) -> Result<Vec<RunId>, StoreError> {
        let (subject, after): (&[u8], &[u8]) =
            (subject.as_bytes(), after.as_ref().map_or(&[], |run| run.as_bytes()));
        let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&self.key(), &subject, &after, &i64::from(limit.get())];
        let rows = self.store.query(RUNS, &parameters).await?;
        rows.iter().map(|row| column(row, "runs", "run").id()).collect()
    }
}

impl Tenant {
    /// The keys that seal a commit's appends, made where a subject is new.
    pub(super) async fn keys_for(&self, commit: &Commit) -> Result<Vec<Option<Arc<SubjectKey>>>, StoreError> {
        let mut keys = Vec::with_capacity(commit.appends.len());
        for append in &commit.appends {
            keys.push(match append.about() {
                Some((subject, since)) => Some(self.key_of(subject, since).await?),
                None => None,
            });
        }
        Ok(keys)
    }

    /// The keys that seal a commit's values, made where a subject is new.
    pub(super) async fn cache_keys_for(
        &self,
        commit: &Commit,
    ) -> Result<Vec<Option<Arc<SubjectKey>>>, StoreError> {
        let mut keys = Vec::with_capacity(commit.cache.len());
        for write in &commit.cache {
            keys.push(match &write.subject {
                Some(subject) => Some(self.key_of(subject, write.created_at).await?),
                None => None,
            });
        }
        Ok(keys)
    }

    async fn key_of(&self, subject: &Subject, at: Timestamp) -> Result<Arc<SubjectKey>, StoreError> {
        let keys = &self.store.inner.keys;
        if let Some(key) = keys.known(self.tenant, subject) {
            return Ok(key);
        }
        loop {
            if let Some(row) = self.by_name(subject).await? {
                return keys.learn(self.tenant, Some(subject), &row);
            }
            // Whoever is faster, one row is there afterwards, unless it is erased at once.
            let new = keys.make(self.tenant, at)?;
            let (id, name): (&[u8], &[u8]) = (new.id.as_bytes(), subject.as_str().as_bytes());
            self.store.execute(ADD, &[&self.key(), &id, &name, &new.wrapped]).await?;
        }
    }

    async fn by_name(&self, subject: &Subject) -> Result<Option<SubjectRow>, StoreError> {
        let name = subject.as_str().as_bytes();
        let rows = self.store.query(BY_NAME, &[&self.key(), &name]).await?;
        rows.first().map(read).transpose()
    }

    /// After an erasure: forgets the keys here, and asks the server to let go of the rows. A server that will not is no
    /// reason to fail: the rows are deleted.
    pub(super) async fn shred(&self, erased: &[SubjectId]) {
        for subject in erased {
            self.store.inner.keys.forget(*subject);
        }
        if let Ok(connection) = self.store.connection().await {
            let _ = connection.batch_execute(VACUUM).await;
        }
    }
}

fn read(row: &Row) -> Result<SubjectRow, StoreError> {
    Ok(SubjectRow {
        id: column(row, "subjects", "id").id()?,
        wrapped: column(row, "subjects", "wrapped").blob()?.to_vec(),
    })
}

/// The subjects that rows name.
pub(super) fn ids(rows: &[Row]) -> Result<BTreeSet<SubjectId>, StoreError> {
    rows.iter().map(|row| column(row, "subjects", "id").id()).collect()
}
