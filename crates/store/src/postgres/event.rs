//! Events: an append is one row of `segments`.

use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::Event;
use schema::{RunId, Seq};
use tokio_postgres::Row;

use super::Tenant;
use super::row::{bigint, column};
use crate::commit::{Commit, CommitError};
use crate::error::StoreError;
use crate::event::EventStore;
use crate::sealing::{Holder, SubjectRow};

/// Starts at the segment that holds the event after `$3`, found by the key; every row has at least one event past it.
const EVENTS: &str = "SELECT body, sealed, subjects.id, wrapped
    FROM segments LEFT JOIN subjects ON subjects.tenant = segments.tenant AND subjects.id = segments.subject
    WHERE segments.tenant = $1 AND run = $2 AND first_seq >= (SELECT max(first_seq) FROM segments WHERE tenant = $1 AND run = $2 AND first_seq <= $3::bigint + 1)
    AND last_seq > $3::bigint ORDER BY first_seq LIMIT $4";

#[async_trait]
impl EventStore for Tenant {
    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        super::commit::commit(self, &commit).await
    }

    async fn events(&self, run: RunId, after: Seq, limit: NonZeroU32) -> Result<Vec<Event>, StoreError> {
        // One less than the largest, so that the query can add one.
        let from = bigint(after.0).min(i64::MAX - 1);
        let (id, run): (RunId, &[u8]) = (run, run.as_bytes());
        let rows = self.store.query(EVENTS, &[&self.key(), &run, &from, &i64::from(limit.get())]).await?;
        let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        let mut events = Vec::new();
        for row in &rows {
            let segment = self.open(id, row)?;
            events.extend(segment.into_iter().filter(|event| event.seq > after));
            if events.len() >= limit {
                break;
            }
        }
        events.truncate(limit);
        Ok(events)
    }
}

impl Tenant {
    /// The events of a segment's row: body, sealed values, and the key if it is still there.
    pub(super) fn open(&self, run: RunId, row: &Row) -> Result<Vec<Event>, StoreError> {
        let body = column(row, "segments", "body").blob()?;
        let sealed = column(row, "segments", "sealed").optional_blob()?;
        let sealed = match sealed {
            None => None,
            Some(sealed) => {
                let lost = || {
                    let what = "the key of its sealed values is not there, and was not erased";
                    StoreError::Damaged(format!("run {run}: {what}"))
                };
                let id = column(row, "subjects", "id").optional_id()?.ok_or_else(lost)?;
                let wrapped = column(row, "subjects", "wrapped").optional_blob()?;
                let known = |wrapped: &[u8]| Holder::Known(SubjectRow { id, wrapped: wrapped.to_vec() });
                Some((sealed, wrapped.map_or(Holder::Erased, known)))
            }
        };
        self.store.inner.keys.open(self.tenant, run, body, sealed)
    }
}
