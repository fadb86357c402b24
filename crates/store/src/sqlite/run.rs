//! Rows of runs in SQLite.

use std::num::NonZeroU32;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, params};
use schema::{RunId, SubjectId, TenantId};

use super::row::{Sql, unavailable};
use super::slot::{self, Slots};
use super::sum::{with_sum, without_sum};
use super::{SqliteTenant, event, retention};
use crate::error::{BoxError, StoreError};
use crate::filter::{RunFilter, Traits};
use crate::run::{RunRow, RunStore, Sealed};

#[async_trait]
impl RunStore for SqliteTenant {
    async fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| match read(connection, tenant, run).map_err(unavailable)? {
            None if event::has_segment(connection, tenant, run)? => {
                Err(StoreError::Damaged("it has events and no row".to_owned()))
            }
            row => Ok(row),
        };
        let row = self.store.inner.read(read).await;
        row.map_err(|error| error.within(format_args!("run {run}")))
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        before: Option<RunId>,
        limit: NonZeroU32,
    ) -> Result<Vec<RunRow>, StoreError> {
        let (tenant, filter) = (self.tenant, filter.clone());
        self.store
            .inner
            .read(move |connection| {
                slot::list(connection, tenant, &filter, before, limit).map_err(unavailable)
            })
            .await
            .map_err(|error| error.within("the list of runs"))
    }

    async fn sealed(&self, run: RunId) -> Result<Option<Sealed>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| retention::sealed(connection, tenant, run);
        self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await
    }
}

/// The row as a reader sees it.
pub(super) fn read(
    connection: &Connection,
    tenant: TenantId,
    run: RunId,
) -> rusqlite::Result<Option<RunRow>> {
    connection
        .prepare_cached(
            "SELECT row, run, seq, head, subject, name
             FROM runs LEFT JOIN subjects ON subjects.tenant = runs.tenant AND subjects.id = runs.subject
             WHERE runs.tenant = ? AND run = ?",
        )?
        .query_row(params![Sql(tenant), Sql(run)], |row| match parse(tenant, row)? {
            // A damaged page can lead to the wrong one.
            found if found.id != run => Err(damaged(format!("run {} is in its place", found.id).into())),
            found => Ok(found),
        })
        .optional()
}

/// A run's row and its text, as the table has them: the subject's name is not in it.
pub(super) struct Written {
    pub(super) row: RunRow,
    pub(super) subject: Option<SubjectId>,
    pub(super) traits: Traits,
    text: String,
}

impl Written {
    pub(super) fn new(tenant: TenantId, row: RunRow, subject: Option<SubjectId>) -> Self {
        let row = row.at_rest(subject);
        // A row is JSON already; writing it out cannot fail.
        let text =
            with_sum(&about(&tenant, subject.as_ref()), serde_json::to_string(&row).unwrap_or_default());
        Self { traits: Traits::of(&row), row, subject, text }
    }
}

/// What a row belongs to, and what its checksum covers with it.
fn about<'a>(tenant: &'a TenantId, subject: Option<&'a SubjectId>) -> [&'a [u8]; 2] {
    [tenant.as_bytes(), subject.map_or(&[], |subject| subject.as_bytes())]
}

/// Adds the row of a run that is new. `false` if it is not: it is there, or it was and is sealed.
pub(super) fn insert(
    connection: &Connection,
    tenant: TenantId,
    new: &Written,
    slot: i64,
) -> rusqlite::Result<bool> {
    let Written { row, subject, text, .. } = new;
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO runs (tenant, run, seq, head, row, subject, slot)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM sealed WHERE tenant = ?1 AND run = ?2)",
        )?
        .execute(params![
            Sql(tenant),
            Sql(row.id),
            Sql(row.seq),
            Sql(row.head),
            text,
            subject.as_ref().map(|subject| Sql(*subject)),
            slot
        ])
        .map(|rows| rows == 1)
}

/// Replaces the row of a run that is there; whom it is about stays.
pub(super) fn update(
    connection: &Connection,
    slots: &mut Slots,
    tenant: TenantId,
    row: RunRow,
) -> rusqlite::Result<()> {
    let subject = subject_of(connection, tenant, row.id)?.flatten();
    let Written { row, traits, text, .. } = Written::new(tenant, row, subject);
    let slot = slots.of(connection, tenant, &traits)?;
    connection
        .prepare_cached("UPDATE runs SET seq = ?, head = ?, row = ?, slot = ? WHERE tenant = ? AND run = ?")?
        .execute(params![Sql(row.seq), Sql(row.head), text, slot, Sql(tenant), Sql(row.id)])
        .map(drop)
}

/// Whom the run is about, if it is there.
pub(super) fn subject_of(
    connection: &Connection,
    tenant: TenantId,
    run: RunId,
) -> rusqlite::Result<Option<Option<SubjectId>>> {
    let subject: Option<Option<Sql<SubjectId>>> = connection
        .prepare_cached("SELECT subject FROM runs WHERE tenant = ? AND run = ?")?
        .query_row(params![Sql(tenant), Sql(run)], |row| row.get(0))
        .optional()?;
    Ok(subject.map(|subject| subject.map(|Sql(subject)| subject)))
}

/// The runs of a tenant from one id on, up to another, newest first.
pub(super) fn list(
    connection: &Connection,
    tenant: TenantId,
    from: &[u8],
    to: &[u8],
    limit: NonZeroU32,
) -> rusqlite::Result<Vec<RunRow>> {
    // Ids sort by the time they were made, so the key is also the order.
    connection
        .prepare_cached(
            "SELECT row, run, seq, head, subject, name
             FROM runs LEFT JOIN subjects ON subjects.tenant = runs.tenant AND subjects.id = runs.subject
             WHERE runs.tenant = ? AND run >= ? AND run < ? ORDER BY run DESC LIMIT ?",
        )?
        .query_map(params![Sql(tenant), from, to, limit.get()], |row| parse(tenant, row))?
        .collect()
}

/// The row as a reader sees it.
fn parse(tenant: TenantId, row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(kept(tenant, row)?.0.with_subject(row.get(5)?))
}

/// The row and whom it is about, if it is as it was written and where it was written.
pub(super) fn kept(
    tenant: TenantId,
    row: &rusqlite::Row<'_>,
) -> rusqlite::Result<(RunRow, Option<SubjectId>)> {
    let (Sql(run), Sql(seq), Sql(head)) = (row.get(1)?, row.get(2)?, row.get(3)?);
    let subject: Option<Sql<SubjectId>> = row.get(4)?;
    let subject = subject.map(|Sql(id)| id);
    let text = without_sum(&about(&tenant, subject.as_ref()), row.get_ref(0)?.as_str()?)
        .ok_or_else(|| damaged(format!("the row of run {run} is not as it was written").into()))?;
    let found: RunRow = serde_json::from_str(text).map_err(|error| damaged(error.into()))?;
    if (found.id, found.seq, found.head) != (run, seq, head) {
        return Err(damaged(format!("the row of run {run} is in the wrong place").into()));
    }
    Ok((found, subject))
}

fn damaged(error: BoxError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error)
}
