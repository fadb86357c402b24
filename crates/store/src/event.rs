//! The events of one tenant's runs.

use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::Event;
use schema::{RunId, Seq};

use crate::commit::{Commit, CommitError};
use crate::error::StoreError;

/// Appends and reads events. The handle carries the tenant, so no method can forget it.
#[async_trait]
pub trait EventStore: Send + Sync {
    /// Writes all of `commit`, or none of it. Returns when it would survive what the store's durability level promises.
    async fn commit(&self, commit: Commit) -> Result<(), CommitError>;

    /// The events of `run` past `after`, oldest first, at most `limit`. An unknown run is empty.
    async fn events(&self, run: RunId, after: Seq, limit: NonZeroU32) -> Result<Vec<Event>, StoreError>;

    /// All events of each of `runs`, for whoever reads many: one wait for all of them where the store can.
    async fn whole_runs(&self, runs: &[RunId]) -> Result<Vec<Vec<Event>>, StoreError> {
        let mut whole = Vec::with_capacity(runs.len());
        for run in runs {
            whole.push(self.events(*run, Seq::START, NonZeroU32::MAX).await?);
        }
        Ok(whole)
    }
}
