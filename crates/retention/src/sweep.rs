//! Giving up the events of runs that are old enough.

use std::num::NonZeroU32;
use std::time::Duration;

use ledger::sha256;
use schema::{RunId, RunKind, Seq, TenantId, Timestamp};
use serde_json::json;
use store::{Commit, CommitError, RANGE_SEALED, RunFilter, RunRow, Seal, StoreError, conduct_of, sums_of};

use crate::keeper::{Actor, Keeper};
use crate::record::record;

/// How many runs one commit gives up: few enough that nobody waits long for it.
const BATCH: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// What a sweep came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Runs whose events were given up.
    pub runs: u64,
    /// How many events they had.
    pub events: u64,
}

impl std::ops::AddAssign for Swept {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.events += other.events;
    }
}

/// How long counts of limits are kept after their window began.
const METERS_KEPT_MS: u64 = 62 * 86_400_000;

/// How long jobs that are done are kept, and how many are deleted in one step: few enough that nobody waits long for it.
const JOBS_KEPT_MS: u64 = 7 * 86_400_000;
const JOBS_AT_ONCE: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

impl Keeper {
    /// Gives up the events of the tenant's runs that nobody added to for `keep`. Their heads stay in the log, which still
    /// has the root it had; what remains verifies.
    ///
    /// # Errors
    /// The store is out of reach. What was given up until then is on record.
    pub async fn sweep(&self, tenant: TenantId, keep: Duration) -> Result<Swept, StoreError> {
        let now = (self.clock)();
        let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
        let Ok(before) = Timestamp::from_millis(now.as_millis().saturating_sub(keep)) else {
            return Ok(Swept::default());
        };
        let store = self.store.tenant(tenant);
        let mut swept = Swept::default();
        // Runs begun before then, newest first; ids sort by the time they were made.
        let mut place = RunId::new(before.as_millis(), [0; 10]);
        loop {
            let page = store.runs(&RunFilter::ALL, Some(place), BATCH).await?;
            let Some(last) = page.last() else { return Ok(swept) };
            place = last.id;
            let old: Vec<&RunRow> = page.iter().filter(|row| is_old(row, before)).collect();
            if !old.is_empty() {
                swept += self.give_up(tenant, now, before, &old).await?;
            }
        }
    }

    /// Takes out of the tenant's cache what no longer serves, and says how many entries that was.
    ///
    /// # Errors
    /// The store is out of reach.
    pub async fn sweep_cache(&self, tenant: TenantId) -> Result<u64, StoreError> {
        self.store.tenant(tenant).sweep_cache((self.clock)()).await
    }

    /// Forgets what was counted in windows that ended long ago, for all tenants, and says how many counts that were. The
    /// longest window is a month.
    ///
    /// # Errors
    /// The store is out of reach.
    pub async fn sweep_meters(&self) -> Result<u64, StoreError> {
        let before = (self.clock)().as_millis().saturating_sub(METERS_KEPT_MS);
        self.store.forget_meters(i64::try_from(before).unwrap_or(0)).await
    }

    /// Forgets jobs that were done a week ago, for all tenants, and says how many that were. The newest of each kind stays.
    ///
    /// # Errors
    /// The store is out of reach.
    pub async fn sweep_jobs(&self) -> Result<u64, StoreError> {
        let before = (self.clock)().as_millis().saturating_sub(JOBS_KEPT_MS);
        let Ok(before) = Timestamp::from_millis(before) else { return Ok(0) };
        let mut forgotten = 0;
        loop {
            let some = self.store.forget_jobs(before, JOBS_AT_ONCE).await?;
            forgotten += some;
            if some < u64::from(JOBS_AT_ONCE.get()) {
                return Ok(forgotten);
            }
        }
    }

    async fn give_up(
        &self,
        tenant: TenantId,
        now: Timestamp,
        before: Timestamp,
        rows: &[&RunRow],
    ) -> Result<Swept, StoreError> {
        let swept = Swept { runs: rows.len() as u64, events: rows.iter().map(|row| row.seq.0).sum() };
        let runs: Vec<RunId> = rows.iter().map(|row| row.id).collect();
        let heads: String = rows.iter().map(|row| format!("{} {} {}\n", row.id, row.seq, row.head)).collect();
        // What the runs came to stays: sums that are made again add these in their place.
        let store = self.store.tenant(tenant);
        let mut conduct = Vec::new();
        for row in rows {
            // Should the run go on meanwhile, nothing comes of this.
            conduct.extend(conduct_of(row.id, &store.events(row.id, Seq::START, NonZeroU32::MAX).await?));
        }
        let (usage, agents, conduct) = sums_of(rows, conduct);
        let fields = json!({
            "before": before, "runs": runs, "events": swept.events, "heads": sha256(heads.as_bytes()),
            "usage": usage, "agents": agents, "conduct": conduct,
        });
        let append = record(tenant, now, &Actor::punk(), RANGE_SEALED, fields)?;
        let seal = rows.iter().map(|row| Seal { run: row.id, expected: row.seq }).collect();
        let commit = Commit { appends: vec![append], seal, ..Commit::default() };
        match store.commit(commit).await {
            Ok(()) => Ok(swept),
            // One of them went on, or somebody else swept: the next sweep sees what is left.
            Err(CommitError::Moved { run, .. }) => {
                tracing::info!(%run, "a run went on while it was to be sealed; it waits for the next sweep");
                Ok(Swept::default())
            }
            Err(CommitError::Store(error)) => Err(error),
            Err(error) => Err(StoreError::unavailable(error)),
        }
    }
}

/// Records of the ledger about itself are kept: they say what was given up, and why.
fn is_old(row: &RunRow, before: Timestamp) -> bool {
    let is_record = row.fields.get("kind") == Some(&json!(RunKind::Audit));
    row.updated_at < before && !is_record
}
