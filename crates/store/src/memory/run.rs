//! Runs as lists show them.

use std::num::NonZeroU32;
use std::ops::Bound;

use async_trait::async_trait;
use schema::RunId;

use super::Tenant;
use crate::{RunRow, RunStore, Sealed, StoreError};

#[async_trait]
impl RunStore for Tenant {
    async fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        Ok(self.read(|tenant| tenant.runs.get(&run).map(|run| run.row.clone())))
    }

    async fn runs(&self, before: Option<RunId>, limit: NonZeroU32) -> Result<Vec<RunRow>, StoreError> {
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        Ok(self.read(|tenant| {
            let newest_first = tenant.runs.range((Bound::Unbounded, end)).rev();
            newest_first.take(limit.get() as usize).map(|(_, run)| run.row.clone()).collect()
        }))
    }

    async fn sealed(&self, run: RunId) -> Result<Option<Sealed>, StoreError> {
        Ok(self.read(|tenant| tenant.sealed.get(&run).copied()))
    }
}
