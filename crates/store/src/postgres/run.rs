//! Runs as lists show them: the rows of `runs`.

use std::num::NonZeroU32;

use async_trait::async_trait;
use schema::RunId;
use tokio_postgres::Row;

use super::Tenant;
use super::row::column;
use crate::error::StoreError;
use crate::run::{RunRow, RunStore, Sealed};

const RUN: &str = "SELECT runs.body, subjects.name
    FROM runs LEFT JOIN subjects ON subjects.tenant = runs.tenant AND subjects.id = runs.subject
    WHERE runs.tenant = $1 AND run = $2";
const RUNS: &str = "SELECT runs.body, subjects.name
    FROM runs LEFT JOIN subjects ON subjects.tenant = runs.tenant AND subjects.id = runs.subject
    WHERE runs.tenant = $1 AND run < $2 ORDER BY run DESC LIMIT $3";
const SEALED: &str = "SELECT seq, head, leaf FROM sealed WHERE tenant = $1 AND run = $2";

/// Greater than every id: an id has sixteen bytes.
pub(super) const PAST_ALL_IDS: &[u8] = &[0xff; 17];

#[async_trait]
impl RunStore for Tenant {
    async fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        let run: &[u8] = run.as_bytes();
        let rows = self.store.query(RUN, &[&self.key(), &run]).await?;
        rows.first().map(shown).transpose()
    }

    async fn runs(&self, before: Option<RunId>, limit: NonZeroU32) -> Result<Vec<RunRow>, StoreError> {
        let before = before.as_ref().map_or(PAST_ALL_IDS, |run| run.as_bytes());
        let rows = self.store.query(RUNS, &[&self.key(), &before, &i64::from(limit.get())]).await?;
        rows.iter().map(shown).collect()
    }

    async fn sealed(&self, run: RunId) -> Result<Option<Sealed>, StoreError> {
        let run: &[u8] = run.as_bytes();
        let rows = self.store.query(SEALED, &[&self.key(), &run]).await?;
        let left = |row: &Row| {
            Ok(Sealed {
                seq: column(row, "sealed", "seq").seq()?,
                head: column(row, "sealed", "head").digest()?,
                leaf: column(row, "sealed", "leaf").number()?,
            })
        };
        rows.first().map(left).transpose()
    }
}

/// The row as a reader sees it.
fn shown(row: &Row) -> Result<RunRow, StoreError> {
    let kept: RunRow = column(row, "runs", "body").json()?;
    Ok(kept.with_subject(column(row, "subjects", "name").optional_text()?))
}
