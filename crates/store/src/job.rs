//! Durable work: what is to be done, by whom it is being done, and what became of it.
//!
//! A job is made in the same commit as the events that cause it ([`crate::Commit`]). Workers claim jobs of every tenant
//! through [`JobQueue`]; a claim is a lease with a token, and only the holder of the newest token can finish the job.
//! What each kind does, when it is tried again, and how workers sleep is the `jobs` crate's business.

use std::num::NonZeroU32;

use async_trait::async_trait;
use schema::{JobId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;

/// Work to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Its id.
    pub id: JobId,
    /// What kind of work, such as `learning_tick`.
    pub kind: String,
    /// While a job of this tenant, kind and key waits or runs, a second one is not made. `None`: any number may be.
    pub key: Option<String>,
    /// What it is about.
    pub payload: Value,
    /// Higher goes first.
    pub priority: i32,
    /// Not before this.
    pub run_at: Timestamp,
    /// How often it may be tried.
    pub max_attempts: u32,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for its time or for a worker.
    Waiting,
    /// A worker has it.
    Leased,
    /// Done.
    Done,
    /// Given up; somebody has to look at it.
    Dead,
}

/// A job as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its id; ids sort by the time they were made.
    pub id: JobId,
    /// Whose it is.
    pub tenant: TenantId,
    /// What kind of work.
    pub kind: String,
    /// See [`NewJob::key`].
    pub key: Option<String>,
    /// What it is about.
    pub payload: Value,
    /// Higher goes first.
    pub priority: i32,
    /// Not before this.
    pub run_at: Timestamp,
    /// How often it has been claimed.
    pub attempts: u32,
    /// How often it may be.
    pub max_attempts: u32,
    /// Where it stands.
    pub state: JobState,
    /// Until when the worker that has it may keep it; absent unless leased.
    pub lease_until: Option<Timestamp>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

/// Proof of a claim. A later claim of the same job has a higher one, and the older is then worth nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeaseToken(pub u64);

/// A job and the right to finish it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The job, already counted as attempted once more.
    pub job: Job,
    /// The right to finish it.
    pub token: LeaseToken,
}

/// Whether a worker still had its lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// It had, and what it asked for was done.
    Yes,
    /// It had not: the job is somebody else's or finished, and nothing was changed.
    No,
}

/// What becomes of a job whose attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retry {
    /// Tried again, not before this, even if that was the last attempt: whoever says so has counted, and a worker that is
    /// stopped gives back a job that it could not finish without that being held against the job. The attempt counts all
    /// the same, so that the next one is past `max_attempts`, and final if its lease runs out.
    At(Timestamp),
    /// Given up.
    Never,
}

/// The work of all tenants, for workers.
#[async_trait]
pub trait JobQueue: Send + Sync {
    /// Claims up to `limit` jobs of these kinds that are due at `now`: waiting ones whose time has come, and leased ones
    /// whose lease has run out. Highest priority first, then the earliest `run_at`, then the oldest. Each is leased until
    /// `lease_until` and counted as attempted. A job whose lease ran out on its last attempt is not claimed: it becomes
    /// [`JobState::Dead`]. No two claims ever hold one job with the same token.
    async fn claim(
        &self,
        kinds: &[String],
        now: Timestamp,
        lease_until: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Vec<Claimed>, StoreError>;

    /// Keeps the lease until `lease_until`, or for as long as it is already held if that is later. It never shortens one:
    /// an extension may arrive after a later one, and a clock may be put back, and a job that its holder believes to be
    /// its own would be handed to somebody else.
    async fn extend(&self, job: JobId, token: LeaseToken, lease_until: Timestamp)
    -> Result<Held, StoreError>;

    /// The job is done.
    async fn complete(&self, job: JobId, token: LeaseToken) -> Result<Held, StoreError>;

    /// The attempt failed.
    async fn fail(
        &self,
        job: JobId,
        token: LeaseToken,
        error: &str,
        retry: Retry,
    ) -> Result<Held, StoreError>;

    /// When the next job of these kinds falls due (a waiting one's `run_at`, a leased one's `lease_until`); `None` if there
    /// is none. May lie in the past.
    async fn next_due(&self, kinds: &[String]) -> Result<Option<Timestamp>, StoreError>;

    /// Returns when new work may have come, or after a while; never too late by more than the store's notification delay.
    async fn changed(&self);
}

/// The jobs of one tenant, for operators. The handle carries the tenant.
#[async_trait]
pub trait JobStore: Send + Sync {
    /// The job, if the tenant has it.
    async fn job(&self, job: JobId) -> Result<Option<Job>, StoreError>;

    /// Jobs older than `before`, newest first, at most `limit`; of one state if `state` is given.
    async fn jobs(
        &self,
        state: Option<JobState>,
        before: Option<JobId>,
        limit: NonZeroU32,
    ) -> Result<Vec<Job>, StoreError>;

    /// Puts a dead job back, due at `now` with its attempts forgotten. `false` if the tenant has no such dead job, or a
    /// job with the same key waits or runs already.
    async fn requeue(&self, job: JobId, now: Timestamp) -> Result<bool, StoreError>;
}
