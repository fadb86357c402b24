//! Runs as lists show them: the rows of `runs`.

use std::num::NonZeroU32;

use async_trait::async_trait;
use schema::RunId;

use super::Tenant;
use super::row::column;
use crate::error::StoreError;
use crate::run::{RunRow, RunStore};

const RUN: &str = "SELECT body FROM runs WHERE tenant = $1 AND run = $2";
const RUNS: &str = "SELECT body FROM runs WHERE tenant = $1 AND run < $2 ORDER BY run DESC LIMIT $3";

/// Greater than every id: an id has sixteen bytes.
pub(super) const PAST_ALL_IDS: &[u8] = &[0xff; 17];

#[async_trait]
impl RunStore for Tenant {
    async fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        let run: &[u8] = run.as_bytes();
        let rows = self.store.query(RUN, &[&self.key(), &run]).await?;
        rows.first().map(|row| column(row, "runs", "body").json()).transpose()
    }

    async fn runs(&self, before: Option<RunId>, limit: NonZeroU32) -> Result<Vec<RunRow>, StoreError> {
        let before = before.as_ref().map_or(PAST_ALL_IDS, |run| run.as_bytes());
        let rows = self.store.query(RUNS, &[&self.key(), &before, &i64::from(limit.get())]).await?;
        rows.iter().map(|row| column(row, "runs", "body").json()).collect()
    }
}
