//! Runs as lists show them: the rows of `runs`.

use std::num::NonZeroU32;

use async_trait::async_trait;
use schema::RunId;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::Tenant;
use super::row::column;
use crate::error::StoreError;
use crate::filter::{RunFilter, Traits};
use crate::run::{RunRow, RunStore, Sealed};

const RUN: &str = "SELECT runs.body, subjects.name
    FROM runs LEFT JOIN subjects ON subjects.tenant = runs.tenant AND subjects.id = runs.subject
    WHERE runs.tenant = $1 AND run = $2";
const RUNS: &str = "SELECT runs.body, subjects.name
    FROM runs LEFT JOIN subjects ON subjects.tenant = runs.tenant AND subjects.id = runs.subject
    WHERE runs.tenant = $1 AND run >= $2 AND run < $3 ORDER BY run DESC LIMIT $4";
const SLOTS: &str = "SELECT traits FROM run_slots WHERE tenant = $1";
/// The newest of each slot, and of those the newest.
const IN_SLOTS: &str = "SELECT newest.body, subjects.name FROM unnest($5::bigint[]) AS s(slot)
    CROSS JOIN LATERAL (
        SELECT tenant, run, body, subject FROM runs
        WHERE runs.tenant = $1 AND runs.slot = s.slot AND runs.run >= $2 AND runs.run < $3
        ORDER BY runs.run DESC LIMIT $4) AS newest
    LEFT JOIN subjects ON subjects.tenant = newest.tenant AND subjects.id = newest.subject
    ORDER BY newest.run DESC LIMIT $4";
const OF_SUBJECT: &str = "SELECT runs.body, subjects.name
    FROM subjects JOIN runs ON runs.tenant = subjects.tenant AND runs.subject = subjects.id
    WHERE subjects.tenant = $1 AND subjects.name = $6 AND run >= $2 AND run < $3
    AND ($5::bigint[] IS NULL OR runs.slot = ANY($5)) ORDER BY run DESC LIMIT $4";
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

    async fn runs(
        &self,
        filter: &RunFilter,
        before: Option<RunId>,
        limit: NonZeroU32,
    ) -> Result<Vec<RunRow>, StoreError> {
        let ((from, to), limit) = (filter.bounds(before), i64::from(limit.get()));
        let slots = match filter.traits() {
            Some(wanted) => Some(self.slots(&wanted).await?),
            None => None,
        };
        let bounds: [&(dyn ToSql + Sync); 4] = [&self.key(), &from, &to, &limit];
        let rows = match (&filter.subject, &slots) {
            (None, None) => self.store.query(RUNS, &bounds).await?,
            (None, Some(slots)) => self.store.query(IN_SLOTS, &[&bounds[..], &[slots]].concat()).await?,
            (Some(subject), slots) => {
                let name = subject.as_str().as_bytes();
                self.store.query(OF_SUBJECT, &[&bounds[..], &[slots, &name]].concat()).await?
            }
        };
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

impl Tenant {
    /// The slots whose runs fit.
    async fn slots(&self, wanted: &Traits) -> Result<Vec<i64>, StoreError> {
        let rows = self.store.query(SLOTS, &[&self.key()]).await?;
        let traits = rows.iter().map(|row| column(row, "run_slots", "traits").json::<Traits>());
        let traits = traits.collect::<Result<Vec<_>, _>>()?;
        Ok(traits.iter().filter(|traits| traits.fit(wanted)).map(Traits::slot).collect())
    }
}

/// The row as a reader sees it.
fn shown(row: &Row) -> Result<RunRow, StoreError> {
    let kept: RunRow = column(row, "runs", "body").json()?;
    Ok(kept.with_subject(column(row, "subjects", "name").optional_text()?))
}
