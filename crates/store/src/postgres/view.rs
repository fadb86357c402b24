//! The rows of runs as a view: made again from the segments.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::Chain;
use schema::{Digest, RunId, SubjectId, TenantId, Timestamp};

use super::commit::SLOTS;
use super::row::{bigint, column, json};
use super::{PostgresStore, Tenant, cache, conduct, sums};
use crate::cache::CacheRow;
use crate::error::StoreError;
use crate::filter::Traits;
use crate::run::RunRow;
use crate::sums::Sums;
use crate::view::{Derive, RebuildRuns, Rebuilt, RunEvents};

const NEXT: &str = "SELECT run FROM (
        (SELECT run FROM segments WHERE tenant = $1 AND run > $2 ORDER BY run LIMIT 1)
        UNION ALL (SELECT run FROM runs WHERE tenant = $1 AND run > $2 ORDER BY run LIMIT 1)) AS next
    ORDER BY run LIMIT 1";
const SEGMENTS: &str = "SELECT body, subject FROM segments WHERE tenant = $1 AND run = $2 ORDER BY first_seq";
/// A page of runs, each with all its segments.
const EVENTS: &str =
    "SELECT s.run, s.body, s.subject, (s.subject IS NOT NULL AND k.wrapped IS NULL) AS erased
    FROM (SELECT DISTINCT run FROM segments WHERE tenant = $1 AND run > $2 ORDER BY run LIMIT 500) AS page
    JOIN segments AS s ON s.tenant = $1 AND s.run = page.run
    LEFT JOIN subjects AS k ON k.tenant = s.tenant AND k.id = s.subject
    ORDER BY s.run, s.first_seq";
const ROW: &str = "SELECT body, subject, slot FROM runs WHERE tenant = $1 AND run = $2";
const PUT: &str =
    "INSERT INTO runs (tenant, run, seq, head, body, subject, slot) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (tenant, run) DO UPDATE SET seq = excluded.seq, head = excluded.head, body = excluded.body,
        subject = excluded.subject, slot = excluded.slot";
const DROP: &str = "DELETE FROM runs WHERE tenant = $1 AND run = $2";
const TENANT: &str = "SELECT tenant FROM segments WHERE tenant > $1 ORDER BY tenant LIMIT 1";

#[async_trait]
impl RebuildRuns for PostgresStore {
    async fn rebuild_runs(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        let tenant = Tenant { store: self.clone(), tenant };
        let (mut rebuilt, mut last) = (Rebuilt::default(), Vec::new());
        loop {
            let rows = self.query(NEXT, &[&tenant.key(), &last]).await?;
            let Some(row) = rows.first() else { return Ok(rebuilt) };
            let run: RunId = column(row, "runs", "run").id()?;
            last = run.as_bytes().to_vec();
            rebuilt += tenant.rebuild(run).await?;
        }
    }
}

#[async_trait]
impl Derive for PostgresStore {
    async fn run_events(&self, tenant: TenantId, after: Option<RunId>) -> Result<Vec<RunEvents>, StoreError> {
        let (key, past): (&[u8], &[u8]) =
            (tenant.as_bytes(), after.as_ref().map_or(&[], |run| run.as_bytes()));
        let mut found: Vec<RunEvents> = Vec::new();
        for row in self.query(EVENTS, &[&key, &past]).await? {
            let run = column(&row, "segments", "run").id()?;
            let events: Vec<ledger::Event> = column(&row, "segments", "body").json()?;
            match found.last_mut().filter(|last| last.run == run) {
                Some(last) => last.events.extend(events),
                None => {
                    let subject = column(&row, "segments", "subject").optional_id()?;
                    found.push(RunEvents { run, subject, is_erased: row.try_get("erased")?, events });
                }
            }
        }
        Ok(found)
    }

    async fn mend_cache(
        &self,
        tenant: TenantId,
        wanted: BTreeMap<Digest, CacheRow>,
        now: Timestamp,
    ) -> Result<Rebuilt, StoreError> {
        cache::mend(self, tenant, wanted, now).await
    }

    async fn mend_usage(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError> {
        sums::mend_usage(self, tenant, wanted).await
    }

    async fn mend_agents(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError> {
        sums::mend_agents(self, tenant, wanted).await
    }

    async fn mend_conduct(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError> {
        conduct::mend(self, tenant, wanted).await
    }
}

impl Tenant {
    async fn rebuild(&self, run: RunId) -> Result<Rebuilt, StoreError> {
        let key: &[u8] = run.as_bytes();
        let wanted = self.derive(run).await?;
        let rows = self.store.query(ROW, &[&self.key(), &key]).await?;
        let found = match rows.first() {
            // A row that cannot be read is as wrong as one that says something else.
            Some(row) => Some((
                column(row, "runs", "body").json::<RunRow>().ok(),
                column(row, "runs", "subject").optional_id()?,
                row.try_get("slot")?,
            )),
            None => None,
        };
        let entries = u64::from(wanted.is_some());
        let slot = |row: &RunRow| Some(Traits::of(row).slot());
        let wanted = wanted.map(|(row, subject)| (Some(row.clone()), subject, slot(&row)));
        if wanted == found {
            return Ok(Rebuilt { entries, repaired: 0 });
        }
        match wanted {
            Some((Some(row), subject, slot)) => {
                let traits = Traits::of(&row);
                let texts = vec![traits.text().into_bytes()];
                self.store.execute(SLOTS, &[&self.key(), &vec![traits.slot()], &texts]).await?;
                let subject: Option<&[u8]> = subject.as_ref().map(|subject| &subject.as_bytes()[..]);
                let (seq, head, body) = (bigint(row.seq.0), &row.head.as_bytes()[..], json(&row)?);
                self.store.execute(PUT, &[&self.key(), &key, &seq, &head, &body, &subject, &slot]).await?;
            }
            _ => drop(self.store.execute(DROP, &[&self.key(), &key]).await?),
        }
        Ok(Rebuilt { entries, repaired: 1 })
    }

    /// The row that the run's segments say, and whom it is about. Sealed values are not needed for it.
    async fn derive(&self, run: RunId) -> Result<Option<(RunRow, Option<SubjectId>)>, StoreError> {
        let key: &[u8] = run.as_bytes();
        let rows = self.store.query(SEGMENTS, &[&self.key(), &key]).await?;
        let subject = rows.first().map(|row| column(row, "segments", "subject").optional_id()).transpose()?;
        let (mut derived, mut chain) = (None, Chain::new(self.tenant, run));
        for row in &rows {
            let events: Vec<ledger::Event> = column(row, "segments", "body").json()?;
            // A row is only as good as what it is made of.
            let follow = events.iter().try_for_each(|event| chain.verify_next(event));
            follow.map_err(|error| StoreError::Damaged(format!("run {run}: {error}")))?;
            derived = RunRow::fold_all(derived, run, &events);
        }
        Ok(derived.map(|row| (row.at_rest(subject.flatten()), subject.flatten())))
    }
}

/// The tenants that have runs.
pub(super) async fn tenants(
    store: &PostgresStore,
    after: Option<TenantId>,
    limit: NonZeroU32,
) -> Result<Vec<TenantId>, StoreError> {
    let mut found: Vec<TenantId> = Vec::new();
    let mut after = after.map_or(Vec::new(), |tenant| tenant.as_bytes().to_vec());
    // Each step is one look into the index, however many runs the tenant has.
    while found.len() < limit.get() as usize {
        let rows = store.query(TENANT, &[&after]).await?;
        let Some(row) = rows.first() else { break };
        let tenant: TenantId = column(row, "segments", "tenant").id()?;
        after = tenant.as_bytes().to_vec();
        found.push(tenant);
    }
    Ok(found)
}
