//! A queue in memory that keeps every promise of `store::JobQueue` and can be looked into.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schema::{JobId, TenantId, Timestamp};
use store::{Claimed, Held, Job, JobState, LeaseToken, NewJob, Retry};

#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) jobs: BTreeMap<JobId, Kept>,
    last_token: u64,
}

#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) job: Job,
    /// That of the newest claim.
    pub(crate) token: LeaseToken,
    /// How often a completion was accepted.
    pub(crate) completed: u32,
}

impl Queue {
    pub(crate) fn add(&mut self, new: NewJob) {
        let NewJob { id, kind, key, payload, priority, run_at, max_attempts } = new;
        let (tenant, attempts, state, lease_until, last_error) =
            (TenantId::NIL, 0, JobState::Waiting, None, None);
        #[rustfmt::skip]
        let job = Job { id, tenant, kind, key, payload, priority, run_at, attempts, max_attempts, state, lease_until, last_error };
        self.jobs.insert(id, Kept { job, token: LeaseToken(0), completed: 0 });
    }

    pub(crate) fn claim(
        &mut self,
        kinds: &[String],
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Vec<Claimed> {
        let due = |kept: &&mut Kept| {
            kinds.contains(&kept.job.kind) && falls_due(&kept.job).is_some_and(|at| at <= now)
        };
        let (spent, mut due): (Vec<_>, Vec<_>) =
            self.jobs.values_mut().filter(due).partition(|Kept { job, .. }| {
                job.state == JobState::Leased && job.attempts >= job.max_attempts
            });
        for Kept { job, .. } in spent {
            (job.state, job.lease_until) = (JobState::Dead, None);
        }
        due.sort_by_key(|Kept { job, .. }| (Reverse(job.priority), job.run_at, job.id));
        due.truncate(limit as usize);
        due.into_iter()
            .map(|Kept { job, token, .. }| {
                self.last_token += 1;
                *token = LeaseToken(self.last_token);
                (job.state, job.lease_until, job.attempts) =
                    (JobState::Leased, Some(lease_until), job.attempts + 1);
                Claimed { job: job.clone(), token: *token }
            })
            .collect()
    }

    fn if_held(&mut self, job: JobId, token: LeaseToken, change: impl FnOnce(&mut Kept)) -> Held {
        match self.jobs.get_mut(&job) {
            Some(kept) if kept.job.state == JobState::Leased && kept.token == token => {
                change(kept);
                Held::Yes
            }
            _ => Held::No,
        }
    }

    pub(crate) fn extend(&mut self, job: JobId, token: LeaseToken, lease_until: Timestamp) -> Held {
        self.if_held(job, token, |kept| kept.job.lease_until = kept.job.lease_until.max(Some(lease_until)))
    }

    pub(crate) fn complete(&mut self, job: JobId, token: LeaseToken) -> Held {
        self.if_held(job, token, |Kept { job, completed, .. }| {
            (job.state, job.lease_until) = (JobState::Done, None);
            *completed += 1;
        })
    }

    pub(crate) fn fail(&mut self, job: JobId, token: LeaseToken, error: &str, retry: &Retry) -> Held {
        self.if_held(job, token, |Kept { job, .. }| {
            (job.lease_until, job.last_error) = (None, Some(error.to_owned()));
            match retry {
                Retry::At(at) => (job.state, job.run_at) = (JobState::Waiting, *at),
                Retry::Never => job.state = JobState::Dead,
            }
        })
    }

    pub(crate) fn next_due(&self, kinds: &[String]) -> Option<Timestamp> {
        let jobs = self.jobs.values().map(|kept| &kept.job).filter(|job| kinds.contains(&job.kind));
        jobs.filter_map(falls_due).min()
    }
}

fn falls_due(job: &Job) -> Option<Timestamp> {
    match job.state {
        JobState::Waiting => Some(job.run_at),
        JobState::Leased => job.lease_until,
        JobState::Done | JobState::Dead => None,
    }
}
