//! Rows of runs in SQLite.

use std::num::NonZeroU32;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, params};
use schema::{RunId, TenantId};

use super::SqliteTenant;
use super::row::{Sql, unavailable};
use crate::error::StoreError;
use crate::run::{RunRow, RunStore};

#[async_trait]
impl RunStore for SqliteTenant {
    async fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        let tenant = self.tenant;
        self.store.inner.read(move |connection| read(connection, tenant, run).map_err(unavailable)).await
    }

    async fn runs(&self, before: Option<RunId>, limit: NonZeroU32) -> Result<Vec<RunRow>, StoreError> {
        let tenant = self.tenant;
        self.store
            .inner
            .read(move |connection| list(connection, tenant, before, limit).map_err(unavailable))
            .await
    }
}

pub(super) fn read(
    connection: &Connection,
    tenant: TenantId,
    run: RunId,
) -> rusqlite::Result<Option<RunRow>> {
    connection
        .prepare_cached("SELECT row FROM runs WHERE tenant = ? AND run = ?")?
        .query_row(params![Sql(tenant), Sql(run)], parse)
        .optional()
}

/// A run's row and its text, as the table has them.
pub(super) struct Written {
    pub(super) row: RunRow,
    text: String,
}

impl From<RunRow> for Written {
    fn from(row: RunRow) -> Self {
        // A row is JSON already; writing it out cannot fail.
        let text = serde_json::to_string(&row).unwrap_or_default();
        Self { row, text }
    }
}

/// Adds the row of a run that is new. `false` if it is not.
pub(super) fn insert(connection: &Connection, tenant: TenantId, new: &Written) -> rusqlite::Result<bool> {
    let Written { row, text } = new;
    connection
        .prepare_cached("INSERT OR IGNORE INTO runs (tenant, run, seq, head, row) VALUES (?, ?, ?, ?, ?)")?
        .execute(params![Sql(tenant), Sql(row.id), Sql(row.seq), Sql(row.head), text])
        .map(|rows| rows == 1)
}

/// Replaces the row of a run that is there.
pub(super) fn update(connection: &Connection, tenant: TenantId, new: &Written) -> rusqlite::Result<()> {
    let Written { row, text } = new;
    connection
        .prepare_cached("UPDATE runs SET seq = ?, head = ?, row = ? WHERE tenant = ? AND run = ?")?
        .execute(params![Sql(row.seq), Sql(row.head), text, Sql(tenant), Sql(row.id)])
        .map(drop)
}

fn list(
    connection: &Connection,
    tenant: TenantId,
    before: Option<RunId>,
    limit: NonZeroU32,
) -> rusqlite::Result<Vec<RunRow>> {
    // Ids sort by the time they were made, so the key is also the order.
    let before = before.map_or([0xff; 17].to_vec(), |run| run.as_bytes().to_vec());
    connection
        .prepare_cached("SELECT row FROM runs WHERE tenant = ? AND run < ? ORDER BY run DESC LIMIT ?")?
        .query_map(params![Sql(tenant), before, limit.get()], parse)?
        .collect()
}

fn parse(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRow> {
    let text = row.get_ref(0)?.as_str()?;
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}
