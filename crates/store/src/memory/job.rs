//! Jobs: one list for all tenants.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use async_trait::async_trait;
use schema::{JobId, TenantId, Timestamp};

use super::{Queue, Tenant};
use crate::{Claimed, Held, Job, JobQueue, JobState, JobStore, LeaseToken, NewJob, Retry, StoreError};

/// How long [`JobQueue::changed`] waits at most.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub(super) struct Jobs {
    kept: BTreeMap<(TenantId, JobId), Kept>,
    /// Every claim gets the next number, so a token is never given twice, whatever the job.
    last_token: u64,
}

#[derive(Debug)]
struct Kept {
    job: Job,
    /// That of the newest claim; absent before the first.
    token: Option<LeaseToken>,
}

impl Jobs {
    /// Adds a job, unless its id is there already or another one with its key waits or runs.
    pub(super) fn add(&mut self, tenant: TenantId, new: NewJob) {
        let NewJob { id, kind, key, payload, priority, run_at, max_attempts } = new;
        let (attempts, state, lease_until, last_error) = (0, JobState::Waiting, None, None);
        let job = Job {
            id,
            tenant,
            kind,
            key,
            payload,
            priority,
            run_at,
            attempts,
            max_attempts,
            state,
            lease_until,
            last_error,
        };
        if !self.has_live_like(&job) {
            self.kept.entry((tenant, id)).or_insert(Kept { job, token: None });
        }
    }

    /// Whether a job with the same tenant, kind and key waits or runs.
    fn has_live_like(&self, job: &Job) -> bool {
        job.key.is_some()
            && self.kept.values().any(|Kept { job: other, .. }| {
                matches!(other.state, JobState::Waiting | JobState::Leased)
                    && (other.tenant, &other.kind, &other.key) == (job.tenant, &job.kind, &job.key)
            })
    }

    fn claim(
        &mut self,
        kinds: &[String],
        now: Timestamp,
        lease_until: Timestamp,
        limit: NonZeroU32,
    ) -> Vec<Claimed> {
        let is_due =
            |job: &Job| kinds.contains(&job.kind) && falls_due(job).is_some_and(|moment| moment <= now);
        let due = self.kept.values_mut().filter(|kept| is_due(&kept.job));
        let (spent, mut due): (Vec<_>, Vec<_>) = due.partition(|kept| is_on_last_attempt(&kept.job));
        for Kept { job, .. } in spent {
            (job.state, job.lease_until) = (JobState::Dead, None);
            job.last_error = Some("the lease ran out on the last attempt".to_owned());
        }
        due.sort_by_key(|Kept { job, .. }| (Reverse(job.priority), job.run_at, job.id));
        let claim = |Kept { job, token }: &mut Kept| {
            self.last_token += 1;
            let claim = LeaseToken(self.last_token);
            *token = Some(claim);
            (job.state, job.lease_until) = (JobState::Leased, Some(lease_until));
            job.attempts += 1;
            Claimed { job: job.clone(), token: claim }
        };
        due.into_iter().take(limit.get() as usize).map(claim).collect()
    }

    /// Changes the job if `token` is the newest and the job is still leased.
    fn if_held(&mut self, id: JobId, token: LeaseToken, change: impl FnOnce(&mut Job)) -> Held {
        let is_held = |kept: &&mut Kept| {
            (kept.job.id, kept.job.state, kept.token) == (id, JobState::Leased, Some(token))
        };
        match self.kept.values_mut().find(is_held) {
            Some(kept) => {
                change(&mut kept.job);
                Held::Yes
            }
            None => Held::No,
        }
    }

    /// Deletes what is done and was made before then, but for the newest of each tenant and kind.
    pub(super) fn forget(&mut self, before: Timestamp, limit: usize) -> u64 {
        let first = JobId::new(before.as_millis(), [0; 10]);
        let done = |kept: &&Kept| kept.job.state == JobState::Done;
        let mut newest: BTreeMap<(TenantId, &str), JobId> = BTreeMap::new();
        for Kept { job, .. } in self.kept.values().filter(done) {
            newest.insert((job.tenant, &job.kind), job.id);
        }
        let is_old = |job: &Job| job.id < first && newest.get(&(job.tenant, &job.kind)) != Some(&job.id);
        let old = self.kept.values().filter(done).map(|kept| &kept.job).filter(|job| is_old(job));
        let old: Vec<(TenantId, JobId)> = old.map(|job| (job.tenant, job.id)).take(limit).collect();
        for key in &old {
            self.kept.remove(key);
        }
        old.len() as u64
    }

    fn requeue(&mut self, tenant: TenantId, id: JobId, now: Timestamp) -> bool {
        let dead = self.kept.get(&(tenant, id)).filter(|kept| kept.job.state == JobState::Dead);
        if dead.is_none_or(|kept| self.has_live_like(&kept.job)) {
            return false;
        }
        let Some(Kept { job, .. }) = self.kept.get_mut(&(tenant, id)) else { return false };
        (job.state, job.run_at, job.attempts) = (JobState::Waiting, now, 0);
        true
    }
}

/// When the job can be claimed; `None` if never again.
fn falls_due(job: &Job) -> Option<Timestamp> {
    match job.state {
        JobState::Waiting => Some(job.run_at),
        JobState::Leased => job.lease_until,
        JobState::Done | JobState::Dead => None,
    }
}

fn is_on_last_attempt(job: &Job) -> bool {
    job.state == JobState::Leased && job.attempts >= job.max_attempts
}

#[async_trait]
impl JobQueue for Queue {
    async fn claim(
        &self,
        kinds: &[String],
        now: Timestamp,
        lease_until: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Vec<Claimed>, StoreError> {
        Ok(self.shared.lock().jobs.claim(kinds, now, lease_until, limit))
    }

    async fn extend(
        &self,
        job: JobId,
        token: LeaseToken,
        lease_until: Timestamp,
    ) -> Result<Held, StoreError> {
        let extend = |job: &mut Job| job.lease_until = job.lease_until.max(Some(lease_until));
        Ok(self.shared.lock().jobs.if_held(job, token, extend))
    }

    async fn complete(&self, job: JobId, token: LeaseToken) -> Result<Held, StoreError> {
        let done = |job: &mut Job| (job.state, job.lease_until) = (JobState::Done, None);
        Ok(self.shared.lock().jobs.if_held(job, token, done))
    }

    async fn fail(
        &self,
        job: JobId,
        token: LeaseToken,
        error: &str,
        retry: Retry,
    ) -> Result<Held, StoreError> {
        let held = self.shared.lock().jobs.if_held(job, token, |job| {
            (job.lease_until, job.last_error) = (None, Some(error.to_owned()));
            match retry {
                Retry::At(moment) => (job.state, job.run_at) = (JobState::Waiting, moment),
                Retry::Never => job.state = JobState::Dead,
            }
        });
        self.shared.announce_work();
        Ok(held)
    }

    async fn next_due(&self, kinds: &[String]) -> Result<Option<Timestamp>, StoreError> {
        let state = self.shared.lock();
        let of_kinds = state.jobs.kept.values().filter(|kept| kinds.contains(&kept.job.kind));
        Ok(of_kinds.filter_map(|kept| falls_due(&kept.job)).min())
    }

    async fn changed(&self) {
        // That nothing came is an answer too: the caller looks again.
        let _ = tokio::time::timeout(PATIENCE, self.shared.work.notified()).await;
    }
}

#[async_trait]
impl JobStore for Tenant {
    async fn job(&self, job: JobId) -> Result<Option<Job>, StoreError> {
        Ok(self.shared.lock().jobs.kept.get(&(self.id, job)).map(|kept| kept.job.clone()))
    }

    async fn jobs(
        &self,
        state: Option<JobState>,
        before: Option<JobId>,
        limit: NonZeroU32,
    ) -> Result<Vec<Job>, StoreError> {
        let is_wanted = |job: &&Job| {
            job.tenant == self.id
                && state.is_none_or(|state| job.state == state)
                && before.is_none_or(|before| job.id < before)
        };
        let held = self.shared.lock();
        let newest_first = held.jobs.kept.values().rev().map(|kept| &kept.job);
        Ok(newest_first.filter(is_wanted).take(limit.get() as usize).cloned().collect())
    }

    async fn requeue(&self, job: JobId, now: Timestamp) -> Result<bool, StoreError> {
        let back = self.shared.lock().jobs.requeue(self.id, job, now);
        self.shared.announce_work();
        Ok(back)
    }
}
