//! Subjects in SQLite: whose keys there are.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, params};
use schema::{RunId, Subject, SubjectId, TenantId, Timestamp};

use super::SqliteTenant;
use super::request::{Reply, Request};
use super::row::{Sql, unavailable};
use crate::commit::Commit;
use crate::error::StoreError;
use crate::sealing::{SubjectKey, SubjectRow};
use crate::subject::SubjectStore;

#[async_trait]
impl SubjectStore for SqliteTenant {
    async fn subject(&self, subject: &Subject) -> Result<Option<SubjectId>, StoreError> {
        let (tenant, subject) = (self.tenant, subject.clone());
        let read = move |connection: &Connection| by_name(connection, tenant, &subject);
        let row =
            self.store.inner.read_aside(move |connection| read(connection).map_err(unavailable)).await?;
        Ok(row.map(|row| row.id))
    }

    async fn runs_of(
        &self,
        subject: SubjectId,
        after: Option<RunId>,
        limit: NonZeroU32,
    ) -> Result<Vec<RunId>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<RunId>> {
            let after = after.map_or(Vec::new(), |run| run.as_bytes().to_vec());
            connection
                .prepare_cached(
                    "SELECT run FROM runs WHERE tenant = ? AND subject = ? AND run > ? ORDER BY run LIMIT ?",
                )?
                .query_map(params![Sql(tenant), Sql(subject), after, limit.get()], |row| {
                    row.get::<_, Sql<RunId>>(0).map(|Sql(run)| run)
                })?
                .collect()
        };
        self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await
    }
}

impl SqliteTenant {
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

    /// The key of one subject.
    pub(super) async fn key_of(
        &self,
        subject: &Subject,
        at: Timestamp,
    ) -> Result<Arc<SubjectKey>, StoreError> {
        let inner = &self.store.inner;
        if let Some(key) = inner.keys.known(self.tenant, subject) {
            return Ok(key);
        }
        let new = inner.keys.make(self.tenant, at)?;
        let request = Request::Subject { tenant: self.tenant, subject: subject.clone(), new };
        match inner.write(request).await? {
            Reply::Subject(row) => inner.keys.learn(self.tenant, Some(subject), &row),
            _ => Err(StoreError::unavailable("the writer answered another question")),
        }
    }
}

/// The subject's row: the one that is there, or else this one.
pub(super) fn find_or_add(
    connection: &Connection,
    tenant: TenantId,
    subject: &Subject,
    new: SubjectRow,
) -> rusqlite::Result<SubjectRow> {
    if let Some(row) = by_name(connection, tenant, subject)? {
        return Ok(row);
    }
    connection
        .prepare_cached("INSERT INTO subjects (tenant, id, name, wrapped) VALUES (?, ?, ?, ?)")?
        .execute(params![Sql(tenant), Sql(new.id), subject.as_str(), new.wrapped])?;
    Ok(new)
}

fn by_name(
    connection: &Connection,
    tenant: TenantId,
    subject: &Subject,
) -> rusqlite::Result<Option<SubjectRow>> {
    connection
        .prepare_cached("SELECT id, wrapped FROM subjects WHERE tenant = ? AND name = ?")?
        .query_row(params![Sql(tenant), subject.as_str()], |row| {
            let Sql(id) = row.get(0)?;
            Ok(SubjectRow { id, wrapped: row.get(1)? })
        })
        .optional()
}

/// Whether the subject has a key.
pub(super) fn is_known(
    connection: &Connection,
    tenant: TenantId,
    subject: SubjectId,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM subjects WHERE tenant = ? AND id = ? AND wrapped IS NOT NULL")?
        .exists(params![Sql(tenant), Sql(subject)])
}

/// Destroys the subject's key, and its name with it.
pub(super) fn erase(connection: &Connection, tenant: TenantId, subject: SubjectId) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE subjects SET name = NULL, wrapped = NULL WHERE tenant = ? AND id = ?")?
        .execute(params![Sql(tenant), Sql(subject)])
        .map(drop)
}
